// The dictionary code of a bit plane: the code of the smallest match that covers its highest set
// bit, then that many low bits (Figure 8 of the DE-ZFP paper). The first bit of the code is least
// significant.
module de_zfp_encode (
    input  logic [63:0] plane,
    output logic [65:0] word,  // zero above its length
    output logic [6:0]  length
);
    logic [6:0] code;  // first bit most significant
    logic [2:0] code_length;

    always_comb begin
        if (plane == 64'd0) {code, code_length, length} = {7'b00_00000, 3'd2, 7'd2};
        else if (plane[63:1] == '0) {code, code_length, length} = {7'b01_00000, 3'd2, 7'd3};
        else if (plane[63:4] == '0) {code, code_length, length} = {7'b1000_000, 3'd4, 7'd8};
        else if (plane[63:10] == '0) {code, code_length, length} = {7'b1001_000, 3'd4, 7'd14};
        else if (plane[63:12] == '0) {code, code_length, length} = {7'b1011000, 3'd7, 7'd19};
        else if (plane[63:15] == '0) {code, code_length, length} = {7'b1011001, 3'd7, 7'd22};
        else if (plane[63:20] == '0) {code, code_length, length} = {7'b1010_000, 3'd4, 7'd24};
        else if (plane[63:26] == '0) {code, code_length, length} = {7'b1011010, 3'd7, 7'd33};
        else if (plane[63:32] == '0) {code, code_length, length} = {7'b1011011, 3'd7, 7'd39};
        else if (plane[63:39] == '0) {code, code_length, length} = {7'b1011100, 3'd7, 7'd46};
        else if (plane[63:42] == '0) {code, code_length, length} = {7'b1011101, 3'd7, 7'd49};
        else if (plane[63:49] == '0) {code, code_length, length} = {7'b1011110, 3'd7, 7'd56};
        else if (plane[63:54] == '0) {code, code_length, length} = {7'b1011111, 3'd7, 7'd61};
        else {code, code_length, length} = {7'b11_00000, 3'd2, 7'd66};
    end

    logic [6:0] reversed;
    for (genvar i = 0; i < 7; i++) assign reversed[i] = code[6-i];
    assign word = {2'd0, plane} << code_length | {59'd0, reversed};
endmodule
