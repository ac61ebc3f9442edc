// Concatenates two items of different lengths, the first one least significant. Items must be zero
// above their lengths.
module bit_join_pair #(
    parameter int WIDTH  = 16,
    parameter int LENGTH = $clog2(WIDTH + 1)
) (
    input  logic [2*WIDTH-1:0]  items,
    input  logic [2*LENGTH-1:0] lengths,
    output logic [2*WIDTH-1:0]  bits,
    output logic [LENGTH:0]     total
);
    assign bits  = (2*WIDTH)'(items[WIDTH-1:0]) | (2*WIDTH)'(items[2*WIDTH-1:WIDTH]) << lengths[LENGTH-1:0];
    assign total = {1'b0, lengths[LENGTH-1:0]} + {1'b0, lengths[2*LENGTH-1:LENGTH]};
endmodule
