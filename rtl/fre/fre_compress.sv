// Compression channel of FRE, one value per cycle.
//
// Input: chunks of whole flits: a word with the number of values, the values, any padding to a
// whole flit. Output: the same word, the stream of the codec `fre` (precision=MANTISSA,
// rounding=truncate, zeros=word, lanes=1) with its first byte least significant, zeros to a whole
// flit.
module fre_compress #(
    parameter int MANTISSA = 6
) (
    input  logic         clk,
    input  logic         rst,
    input  logic         i_valid,
    input  logic [127:0] i_data,
    output logic         i_ready,
    output logic         o_valid,
    output logic         o_last,
    output logic [127:0] o_data,
    input  logic         o_ready
);
    localparam int WIDTH = MANTISSA > 15 ? 12 + MANTISSA : 27;

    // 1. Input words.
    logic        in_valid, in_first, in_ready;
    logic [31:0] in_word;
    flit_to_words input_words (
        .clk, .rst, .i_valid, .i_data, .i_ready,
        .w_valid(in_valid), .w_first(in_first), .w_data(in_word), .w_ready(in_ready)
    );

    // 2. Codes.
    logic             busy, second, more, start, skip, code_valid, code_last, code_ready, compact_ready;
    logic [31:0]      left, previous, rounded;
    logic [WIDTH-1:0] code, next_code;
    logic [5:0]       length, next_length;
    fre_encode #(.MANTISSA(MANTISSA)) encode (
        .value(in_word), .previous, .second, .rounded, .code(next_code), .length(next_length), .more
    );

    // 3. Output words.
    logic        word_valid, word_last, out_ready;
    logic [31:0] word;
    fre_compact #(.WIDTH(WIDTH)) compact (
        .clk, .rst, .c_valid(code_valid), .c_last(code_last), .c_code(code), .c_length(length),
        .c_ready(compact_ready), .w_valid(word_valid), .w_last(word_last), .w_data(word), .w_ready(out_ready)
    );

    // 4. Flits, with the number of values before the first code.
    words_to_flit flits (
        .clk, .rst, .w_valid(start | word_valid), .w_last(start ? in_word == 32'd0 : word_last),
        .w_data(start ? in_word : {word[7:0], word[15:8], word[23:16], word[31:24]}), .w_ready(out_ready),
        .o_valid, .o_last, .o_data, .o_ready
    );

    // The next chunk starts when the previous one has left the pipeline.
    assign start      = ~busy & in_valid & in_first & ~code_valid & compact_ready;
    assign skip       = ~busy & ~in_first;
    assign code_ready = ~code_valid | compact_ready;
    assign in_ready   = start | skip | busy & code_ready & ~more;

    always_ff @(posedge clk) begin
        if (start) begin
            busy     <= in_word != 32'd0;
            left     <= in_word;
            previous <= 32'd0;
            second   <= 1'b0;
        end
        if (code_ready) begin
            code_valid <= busy & in_valid;
            code_last  <= left == 32'd1 & ~more;
            code       <= next_code;
            length     <= next_length;
            if (busy & in_valid) begin
                second <= more;
                if (~more) begin
                    previous <= rounded;
                    left     <= left - 32'd1;
                    busy     <= left != 32'd1;
                end
            end
        end
        if (rst) begin
            busy       <= 1'b0;
            code_valid <= 1'b0;
        end
    end
endmodule
