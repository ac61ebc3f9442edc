// For all items, lengths and following bits: bit_split restores the items that bit_join
// concatenated. Items have 0, 1, 2, 4, 8 or 16 bits, as the planes of ZFP-V2 do.
module bits_inverse #(
    parameter int ITEMS = 4,
    parameter int TOTAL = $clog2(ITEMS * 16 + 1)
) (
    input  logic [16*ITEMS-1:0] items,
    input  logic [3*ITEMS-1:0]  classes,
    input  logic [16*ITEMS-1:0] behind,
    output logic                ok
);
    logic [5*ITEMS-1:0]  lengths;
    logic [16*ITEMS-1:0] short_, joined, split, kept;
    logic [TOTAL-1:0]    total, split_total;
    for (genvar i = 0; i < ITEMS; i++) begin : each
        assign lengths[5*i+:5]  = classes[3*i+:3] >= 3'd5 ? 5'd0 : 5'd1 << classes[3*i+:3];
        assign short_[16*i+:16] = items[16*i+:16] & ~(16'hffff << lengths[5*i+:5]);
        assign kept[16*i+:16]   = split[16*i+:16] & ~(16'hffff << lengths[5*i+:5]);
    end
    bit_join #(.ITEMS(ITEMS), .WIDTH(16)) join_ (.items(short_), .lengths, .bits(joined), .total);
    bit_split #(.ITEMS(ITEMS), .WIDTH(16)) split_ (
        .bits(joined | behind << total), .lengths, .items(split), .total(split_total)
    );
    assign ok = kept == short_ & split_total == total;
endmodule
