// Concatenates items of different lengths, the first one least significant, with a tree of
// shifters. Items must be zero above their lengths.
module bit_join #(
    parameter int ITEMS  = 8,  // a power of two
    parameter int WIDTH  = 16,
    parameter int LENGTH = $clog2(WIDTH + 1),
    parameter int TOTAL  = $clog2(ITEMS * WIDTH + 1)
) (
    input  logic [ITEMS*WIDTH-1:0]  items,
    input  logic [ITEMS*LENGTH-1:0] lengths,
    output logic [ITEMS*WIDTH-1:0]  bits,
    output logic [TOTAL-1:0]        total
);
    localparam int LEVELS = $clog2(ITEMS);

    for (genvar level = 0; level <= LEVELS; level++) begin : levels
        localparam int NODES = ITEMS >> level;
        localparam int SPAN  = WIDTH << level;
        logic [ITEMS*WIDTH-1:0] joined;
        logic [NODES*TOTAL-1:0] sums;
        for (genvar node = 0; node < NODES; node++) begin : nodes
            if (level == 0) begin : leaf
                assign joined[SPAN*node+:SPAN] = items[SPAN*node+:SPAN];
                assign sums[TOTAL*node+:TOTAL] = TOTAL'(lengths[LENGTH*node+:LENGTH]);
            end else begin : pair
                logic [TOTAL-1:0] low, high;
                assign low  = levels[level-1].sums[2*TOTAL*node+:TOTAL];
                assign high = levels[level-1].sums[2*TOTAL*node+TOTAL+:TOTAL];
                assign joined[SPAN*node+:SPAN] = SPAN'(levels[level-1].joined[SPAN*node+:SPAN/2])
                                               | SPAN'(levels[level-1].joined[SPAN*node+SPAN/2+:SPAN/2]) << low;
                assign sums[TOTAL*node+:TOTAL] = low + high;
            end
        end
    end

    assign bits  = levels[LEVELS].joined;
    assign total = levels[LEVELS].sums;
endmodule
