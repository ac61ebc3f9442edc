// The inverse of bit_join. Above its length, an item contains bits of later items.
module bit_split #(
    parameter int ITEMS  = 8,  // a power of two
    parameter int WIDTH  = 16,
    parameter int LENGTH = $clog2(WIDTH + 1),
    parameter int TOTAL  = $clog2(ITEMS * WIDTH + 1)
) (
    input  logic [ITEMS*WIDTH-1:0]  bits,
    input  logic [ITEMS*LENGTH-1:0] lengths,
    output logic [ITEMS*WIDTH-1:0]  items,
    output logic [TOTAL-1:0]        total
);
    localparam int LEVELS = $clog2(ITEMS);

    // Lengths are summed bottom-up, bits are split top-down.
    for (genvar level = 0; level <= LEVELS; level++) begin : levels
        localparam int NODES = ITEMS >> level;
        localparam int SPAN  = WIDTH << level;
        logic [ITEMS*WIDTH-1:0] parts;
        logic [NODES*TOTAL-1:0] sums;
        for (genvar node = 0; node < NODES; node++) begin : nodes
            if (level == 0) begin : leaf
                assign sums[TOTAL*node+:TOTAL] = TOTAL'(lengths[LENGTH*node+:LENGTH]);
            end else begin : pair
                assign sums[TOTAL*node+:TOTAL] = levels[level-1].sums[2*TOTAL*node+:TOTAL]
                                               + levels[level-1].sums[2*TOTAL*node+TOTAL+:TOTAL];
            end
            if (level == LEVELS) begin : top
                assign parts = bits;
            end else if (node % 2 == 0) begin : low
                assign parts[SPAN*node+:SPAN] = levels[level+1].parts[SPAN*node+:SPAN];
            end else begin : high
                assign parts[SPAN*node+:SPAN] =
                    SPAN'(levels[level+1].parts[SPAN*(node-1)+:2*SPAN] >> sums[TOTAL*(node-1)+:TOTAL]);
            end
        end
    end

    assign items = levels[0].parts;
    assign total = levels[LEVELS].sums;
endmodule
