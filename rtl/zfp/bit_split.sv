// Separates items of different lengths with a tree of pairs: the inverse of bit_join.
module bit_split #(
    parameter int        ITEMS     = 8,   // a power of two
    parameter int        WIDTH     = 16,  // as well
    parameter bit        FLAGS     = 0,   // items have WIDTH bits or none; their lengths are flags
    parameter int        LENGTH    = FLAGS ? 1 : $clog2(WIDTH + 1),
    parameter bit [31:0] REGISTERS = 0    // levels of the tree that end in registers, items are level 0
) (
    input  logic                    clk,
    input  logic                    move,
    input  logic [ITEMS*WIDTH-1:0]  bits,
    input  logic [ITEMS*LENGTH-1:0] lengths,
    output logic [ITEMS*WIDTH-1:0]  items
);
    localparam int LEVELS = $clog2(ITEMS);

    for (genvar level = LEVELS; level >= 0; level--) begin : levels
        localparam int SPAN = WIDTH << level;
        localparam int SUM  = $clog2(SPAN + 1);
        logic [ITEMS*WIDTH-1:0]  parts, next;
        logic [ITEMS*LENGTH-1:0] sizes, next_sizes;
        if (level == LEVELS) begin : top
            assign next       = bits;
            assign next_sizes = lengths;
        end else begin : pairs
            assign next_sizes = levels[level+1].sizes;
            for (genvar node = 0; node < ITEMS >> (level + 1); node++) begin : nodes
                logic [SUM-1:0] low;
                if (FLAGS) begin : flags
                    logic [level:0] count;
                    count_ones #(.WIDTH(1 << level)) ones (.bits(next_sizes[(2*node<<level)+:1<<level]), .count);
                    assign low = SUM'(count) * SUM'(WIDTH);
                end else begin : sums
                    always_comb begin
                        low = '0;
                        for (int i = 0; i < 1 << level; i++)
                            low = low + SUM'(next_sizes[LENGTH*((2*node<<level)+i)+:LENGTH]);
                    end
                end
                bit_split_pair #(.WIDTH(SPAN)) pair (
                    .bits(levels[level+1].parts[2*SPAN*node+:2*SPAN]), .low_length(low), .items(next[2*SPAN*node+:2*SPAN])
                );
            end
        end
        if (REGISTERS[level]) begin : registers
            always_ff @(posedge clk) if (move) {parts, sizes} <= {next, next_sizes};
        end else begin : wires
            assign {parts, sizes} = {next, next_sizes};
        end
    end

    assign items = levels[0].parts;
endmodule
