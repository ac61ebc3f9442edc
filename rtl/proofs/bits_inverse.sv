// For all items, lengths and bits that may follow: what is joined is split into the same items. Eight items of 0, 1,
// 2, 4, 8 or 16 bits, as ZFP-V2 has them.
module bits_inverse (
    input  logic [127:0] items,
    input  logic [23:0]  classes,
    input  logic [127:0] behind,
    output logic         ok
);
    logic [39:0]  lengths;
    logic [127:0] short, joined, split, kept;
    logic [7:0]   total, split_total;
    for (genvar i = 0; i < 8; i++) begin : each
        logic [2:0] class_;
        assign class_              = classes[3*i+:3];
        assign lengths[5*i+:5]     = class_ >= 3'd5 ? 5'd0 : 5'd1 << class_;
        assign short[16*i+:16]     = items[16*i+:16] & ~(16'hffff << lengths[5*i+:5]);
        assign kept[16*i+:16]      = split[16*i+:16] & ~(16'hffff << lengths[5*i+:5]);
    end
    bit_join #(.ITEMS(8), .WIDTH(16)) join_ (.items(short), .lengths, .bits(joined), .total);
    bit_split #(.ITEMS(8), .WIDTH(16)) split_ (
        .bits(joined | behind << total), .lengths, .items(split), .total(split_total)
    );
    assign ok = kept == short & split_total == total;
endmodule
