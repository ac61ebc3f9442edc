// For all pairs of items, lengths and following bits: bit_split_pair restores the items that
// bit_join_pair concatenated, and there is nothing above these. bit_split and bit_join are trees of
// such pairs, so this step at each width proves any number of items.
module bits_pair #(
    parameter int WIDTH = 16
) (
    input  logic [2*WIDTH-1:0]           items,
    input  logic [2*$clog2(WIDTH+1)-1:0] lengths,
    input  logic [2*WIDTH-1:0]           behind,
    output logic                         ok
);
    localparam int LENGTH = $clog2(WIDTH + 1);
    logic [2*WIDTH-1:0] short_, joined, split, kept;
    logic [LENGTH:0]    total;
    logic [1:0]         fits;
    for (genvar i = 0; i < 2; i++) begin : each
        logic [WIDTH-1:0] above;
        assign above = {WIDTH{1'b1}} << lengths[LENGTH*i+:LENGTH];
        assign fits[i] = lengths[LENGTH*i+:LENGTH] <= LENGTH'(WIDTH);
        assign short_[WIDTH*i+:WIDTH] = items[WIDTH*i+:WIDTH] & ~above;
        assign kept[WIDTH*i+:WIDTH]   = split[WIDTH*i+:WIDTH] & ~above;
    end
    bit_join_pair #(.WIDTH(WIDTH)) join_ (.items(short_), .lengths, .bits(joined), .total);
    bit_split_pair #(.WIDTH(WIDTH)) split_ (
        .bits(joined | behind << total), .low_length(lengths[LENGTH-1:0]), .items(split)
    );
    assign ok = ~&fits | (kept == short_ & joined >> total == '0
              & total == {1'b0, lengths[LENGTH-1:0]} + {1'b0, lengths[2*LENGTH-1:LENGTH]});
endmodule
