// The encoder implements Figure 8 of the DE-ZFP paper: `codes` and `matches` are its entries, with
// the first bit of codes most significant.
module de_zfp_table (
    input  logic [63:0] plane,
    output logic        ok
);
    logic [65:0] word;
    logic [6:0]  length;
    de_zfp_encode encode (.plane, .word, .length);

    logic [6:0] bits;  // up to the highest set bit
    always_comb begin
        bits = 7'd0;
        for (int i = 0; i < 64; i++) if (plane[i]) bits = 7'(i + 1);
    end

    logic [13:0] entries;
    table_entry #(.MATCH(0), .BELOW(-1), .CODE("00"), .SIZE(2)) e0 (.plane, .bits, .word, .length, .ok(entries[0]));
    table_entry #(.MATCH(1), .BELOW(0), .CODE("01"), .SIZE(2)) e1 (.plane, .bits, .word, .length, .ok(entries[1]));
    table_entry #(.MATCH(4), .BELOW(1), .CODE("1000"), .SIZE(4)) e2 (.plane, .bits, .word, .length, .ok(entries[2]));
    table_entry #(.MATCH(10), .BELOW(4), .CODE("1001"), .SIZE(4)) e3 (.plane, .bits, .word, .length, .ok(entries[3]));
    table_entry #(.MATCH(12), .BELOW(10), .CODE("1011000"), .SIZE(7)) e4 (.plane, .bits, .word, .length, .ok(entries[4]));
    table_entry #(.MATCH(15), .BELOW(12), .CODE("1011001"), .SIZE(7)) e5 (.plane, .bits, .word, .length, .ok(entries[5]));
    table_entry #(.MATCH(20), .BELOW(15), .CODE("1010"), .SIZE(4)) e6 (.plane, .bits, .word, .length, .ok(entries[6]));
    table_entry #(.MATCH(26), .BELOW(20), .CODE("1011010"), .SIZE(7)) e7 (.plane, .bits, .word, .length, .ok(entries[7]));
    table_entry #(.MATCH(32), .BELOW(26), .CODE("1011011"), .SIZE(7)) e8 (.plane, .bits, .word, .length, .ok(entries[8]));
    table_entry #(.MATCH(39), .BELOW(32), .CODE("1011100"), .SIZE(7)) e9 (.plane, .bits, .word, .length, .ok(entries[9]));
    table_entry #(.MATCH(42), .BELOW(39), .CODE("1011101"), .SIZE(7)) e10 (.plane, .bits, .word, .length, .ok(entries[10]));
    table_entry #(.MATCH(49), .BELOW(42), .CODE("1011110"), .SIZE(7)) e11 (.plane, .bits, .word, .length, .ok(entries[11]));
    table_entry #(.MATCH(54), .BELOW(49), .CODE("1011111"), .SIZE(7)) e12 (.plane, .bits, .word, .length, .ok(entries[12]));
    table_entry #(.MATCH(64), .BELOW(54), .CODE("11"), .SIZE(2)) e13 (.plane, .bits, .word, .length, .ok(entries[13]));
    assign ok = &entries;
endmodule

// One entry: planes with more than BELOW and at most MATCH bits have this code, followed by MATCH
// bits.
module table_entry #(
    parameter int            MATCH = 0,
    parameter int            BELOW = -1,
    parameter int            SIZE  = 2,
    parameter [8*SIZE-1:0]   CODE  = "00"
) (
    input  logic [63:0] plane,
    input  logic [6:0]  bits,
    input  logic [65:0] word,
    input  logic [6:0]  length,
    output logic        ok
);
    logic [SIZE-1:0] begins;
    for (genvar i = 0; i < SIZE; i++) assign begins[i] = word[i] == CODE[8*(SIZE-1-i)];
    assign ok = $signed({1'b0, bits}) <= BELOW | bits > MATCH
              | &begins & length == SIZE + MATCH & word >> SIZE == {2'd0, plane};
endmodule
