// The number of ones: four bits by a table, and a tree of adders, which is faster than what tools
// make of a sum of bits.
module count_ones #(
    parameter int WIDTH = 32,  // a power of two
    parameter int COUNT = $clog2(WIDTH + 1)
) (
    input  logic [WIDTH-1:0] bits,
    output logic [COUNT-1:0] count
);
    if (WIDTH <= 4) begin : lookup
        logic [2:0] entry;
        always_comb begin
            case (4'(bits))
                4'b0000: entry = 3'd0;
                4'b0001, 4'b0010, 4'b0100, 4'b1000: entry = 3'd1;
                4'b0111, 4'b1011, 4'b1101, 4'b1110: entry = 3'd3;
                4'b1111: entry = 3'd4;
                default: entry = 3'd2;
            endcase
        end
        assign count = entry[COUNT-1:0];
    end else begin : halves
        logic [COUNT-2:0] low, high;
        count_ones #(.WIDTH(WIDTH / 2)) count_low (.bits(bits[WIDTH/2-1:0]), .count(low));
        count_ones #(.WIDTH(WIDTH / 2)) count_high (.bits(bits[WIDTH-1:WIDTH/2]), .count(high));
        assign count = {1'b0, low} + {1'b0, high};
    end
endmodule
