// Concatenates items of different lengths with a tree of pairs, the first item least significant.
// Items must be zero above their lengths.
module bit_join #(
    parameter int        ITEMS     = 8,  // a power of two
    parameter int        WIDTH     = 16,  // as well
    parameter int        LENGTH    = $clog2(WIDTH + 1),
    parameter int        LEVELS    = $clog2(ITEMS),
    parameter bit [31:0] REGISTERS = 0  // levels of the tree that end in registers, from bit 1 up
) (
    input  logic                     clk,
    input  logic                     move,
    input  logic [ITEMS*WIDTH-1:0]   items,
    input  logic [ITEMS*LENGTH-1:0]  lengths,
    output logic [ITEMS*WIDTH-1:0]   bits,
    output logic [LENGTH+LEVELS-1:0] total
);
    for (genvar level = 0; level <= LEVELS; level++) begin : levels
        localparam int NODES = ITEMS >> level;
        localparam int SPAN  = WIDTH << level;
        localparam int SUM   = LENGTH + level;
        logic [ITEMS*WIDTH-1:0] joined, next;
        logic [NODES*SUM-1:0]   sums, next_sums;
        if (level == 0) begin : leaves
            assign next      = items;
            assign next_sums = lengths;
        end else begin : pairs
            for (genvar node = 0; node < NODES; node++) begin : nodes
                bit_join_pair #(.WIDTH(SPAN / 2)) pair (
                    .items(levels[level-1].joined[SPAN*node+:SPAN]), .lengths(levels[level-1].sums[2*(SUM-1)*node+:2*(SUM-1)]),
                    .bits(next[SPAN*node+:SPAN]), .total(next_sums[SUM*node+:SUM])
                );
            end
        end
        if (REGISTERS[level]) begin : registers
            always_ff @(posedge clk) if (move) {joined, sums} <= {next, next_sums};
        end else begin : wires
            assign {joined, sums} = {next, next_sums};
        end
    end

    assign bits  = levels[LEVELS].joined;
    assign total = levels[LEVELS].sums;
endmodule
