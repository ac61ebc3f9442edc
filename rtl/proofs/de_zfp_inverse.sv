// For all planes and following bits: decoding restores the plane, and the lengths agree.
module de_zfp_inverse (
    input  logic [63:0] plane,
    input  logic [65:0] behind,
    output logic        ok
);
    logic [65:0] word;
    logic [63:0] decoded;
    logic [6:0]  length, decoded_length;
    de_zfp_encode encode (.plane, .word, .length);
    de_zfp_decode decode (.window(word | behind << length), .plane(decoded), .length(decoded_length));
    assign ok = decoded == plane & decoded_length == length;
endmodule
