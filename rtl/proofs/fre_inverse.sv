// For all values, previous values and following bits: decoding gives the value truncated to the
// kept mantissa bits, or the exact value if it is zero, subnormal, infinite or NaN; and the lengths
// agree.
module fre_inverse #(
    parameter int MANTISSA = 6,
    parameter int WIDTH    = MANTISSA > 15 ? 12 + MANTISSA : 27
) (
    input  logic [31:0]      value,
    input  logic [31:0]      previous,
    input  logic [WIDTH-1:0] behind,
    output logic             ok
);
    localparam logic [WIDTH-1:0] ONES = '1;

    logic [31:0]      kept, rounded, rounded2, decoded, decoded2;
    logic [WIDTH-1:0] code, code2;
    logic [5:0]       length, length2, decoded_length, decoded_length2;
    logic             more, more2, decoded_more, decoded_more2;

    fre_encode #(.MANTISSA(MANTISSA)) encode (.value, .previous, .second(1'b0), .rounded, .code, .length, .more);
    fre_decode #(.MANTISSA(MANTISSA)) decode (
        .window(code | behind & (ONES >> length)), .previous, .second(1'b0),
        .value(decoded), .length(decoded_length), .more(decoded_more)
    );
    fre_encode #(.MANTISSA(MANTISSA)) encode2 (
        .value, .previous, .second(1'b1), .rounded(rounded2), .code(code2), .length(length2), .more(more2)
    );
    fre_decode #(.MANTISSA(MANTISSA)) decode2 (
        .window(code2 | behind & (ONES >> length2)), .previous(decoded), .second(1'b1),
        .value(decoded2), .length(decoded_length2), .more(decoded_more2)
    );

    assign kept = value[30:23] == 8'd0 | value[30:23] == 8'd255 ? value : value & (32'hffffffff << (23 - MANTISSA));
    assign ok   = rounded == kept & decoded_length == length & decoded_more == more
                & (more ? rounded2 == kept & decoded2 == kept & decoded_length2 == length2 & ~more2 & ~decoded_more2
                        : decoded == kept);
endmodule
