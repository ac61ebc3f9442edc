// Decodes the bit plane at the low end of a window.
module de_zfp_decode (
    input  logic [65:0] window,
    output logic [63:0] plane,
    output logic [6:0]  length
);
    logic [2:0] code_length;
    logic [6:0] match;

    always_comb begin
        casez ({window[0], window[1], window[2], window[3], window[4], window[5], window[6]})
            7'b00?????: {code_length, match, length} = {3'd2, 7'd0, 7'd2};
            7'b01?????: {code_length, match, length} = {3'd2, 7'd1, 7'd3};
            7'b1000???: {code_length, match, length} = {3'd4, 7'd4, 7'd8};
            7'b1001???: {code_length, match, length} = {3'd4, 7'd10, 7'd14};
            7'b1011000: {code_length, match, length} = {3'd7, 7'd12, 7'd19};
            7'b1011001: {code_length, match, length} = {3'd7, 7'd15, 7'd22};
            7'b1010???: {code_length, match, length} = {3'd4, 7'd20, 7'd24};
            7'b1011010: {code_length, match, length} = {3'd7, 7'd26, 7'd33};
            7'b1011011: {code_length, match, length} = {3'd7, 7'd32, 7'd39};
            7'b1011100: {code_length, match, length} = {3'd7, 7'd39, 7'd46};
            7'b1011101: {code_length, match, length} = {3'd7, 7'd42, 7'd49};
            7'b1011110: {code_length, match, length} = {3'd7, 7'd49, 7'd56};
            7'b1011111: {code_length, match, length} = {3'd7, 7'd54, 7'd61};
            default:    {code_length, match, length} = {3'd2, 7'd64, 7'd66};
        endcase
    end

    assign plane = 64'(window >> code_length) & ~(64'hffffffffffffffff << match);
endmodule
