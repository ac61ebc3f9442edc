// For all pairs of planes: if the code of one is a prefix of the other's, they are the same plane.
module de_zfp_prefix_free (
    input  logic [63:0] plane,
    input  logic [63:0] other,
    output logic        ok
);
    logic [65:0] word, other_word;
    logic [6:0]  length, other_length;
    de_zfp_encode encode (.plane, .word, .length);
    de_zfp_encode encode_other (.plane(other), .word(other_word), .length(other_length));
    assign ok = plane == other | length > other_length | ((word ^ other_word) & ~(66'h3ffffffffffffffff << length)) != '0;
endmodule
