// Words of DE-ZFP, in two stages: a block's header, one of its planes, or two exact values.
module de_zfp_word (
    input  logic          clk,
    input  logic          move,
    input  logic [2047:0] values,
    input  logic [2047:0] ordered,
    input  logic [13:0]   head,
    input  logic          exact,
    input  logic          zero,
    input  logic          first,  // the header
    input  logic [4:0]    index,
    output logic [65:0]   word,
    output logic [7:0]    length
);
    // 1. The plane, or the values.
    logic [63:0] plane, next_plane;
    logic [13:0] head1;
    logic        exact1, zero1, first1;
    for (genvar i = 0; i < 64; i++) begin : bits
        // From words of their own: tools build a shifter of all 2,048 bits otherwise.
        logic [31:0] value, raw;
        assign value = ordered[32*i+:32];
        for (genvar k = 0; k < 32; k++) assign raw[k] = values[64*k+i];
        assign next_plane[i] = exact ? raw[index] : value[5'd31-index];
    end
    always_ff @(posedge clk) if (move) {plane, head1, exact1, zero1, first1} <= {next_plane, head, exact, zero, first};

    // 2. Its code.
    logic [65:0] code;
    logic [6:0]  code_length;
    de_zfp_encode encode (.plane, .word(code), .length(code_length));
    always_ff @(posedge clk) begin
        if (move) begin
            if (first1) {word, length} <= zero1 ? {66'd0, 8'd1} : {66'(head1), 8'd14};
            else {word, length} <= exact1 ? {66'(plane), 8'd64} : {code, 1'b0, code_length};
        end
    end
endmodule
