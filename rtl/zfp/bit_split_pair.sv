// Separates two items of different lengths: the inverse of bit_join_pair. Above its length, an item
// contains bits of later items.
module bit_split_pair #(
    parameter int WIDTH  = 16,
    parameter int LENGTH = $clog2(WIDTH + 1)
) (
    input  logic [2*WIDTH-1:0] bits,
    input  logic [LENGTH-1:0]  low_length,
    output logic [2*WIDTH-1:0] items
);
    assign items = {WIDTH'(bits >> low_length), bits[WIDTH-1:0]};
endmodule
