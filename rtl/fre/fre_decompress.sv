// Decompression channel of FRE, one value per cycle: the inverse of `fre_compress`.
module fre_decompress #(
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

    // 1. Input words; the next three are in registers, so that a code may start in the second one:
    //    the words advance one cycle after the offset has passed the first.
    logic        in_valid, in_first, in_ready, load1;
    logic [31:0] in_word, word0, word1, word2;
    logic        have0, have1, have2, first0, first1, first2, advance;
    flit_to_words input_words (
        .clk, .rst, .i_valid, .i_data, .i_ready,
        .w_valid(in_valid), .w_first(in_first), .w_data(in_word), .w_ready(in_ready)
    );
    assign load1    = advance | ~have1;
    assign in_ready = load1 | ~have2;
    always_ff @(posedge clk) begin
        if (advance) begin
            word0  <= word1;
            first0 <= first1;
            have0  <= have1;
        end
        if (load1) begin
            word1  <= word2;
            first1 <= first2;
            have1  <= have2;
        end
        if (in_ready) begin
            word2  <= in_word;
            first2 <= in_first;
            have2  <= in_valid;
        end
        if (rst) begin
            have0 <= 1'b0;
            have1 <= 1'b0;
            have2 <= 1'b0;
        end
    end

    // 2. Lengths of codes: the loop from offset to length to next offset.
    logic             busy, second, more, start, skip, step, settled, fits, last_left, code_ready;
    logic [31:0]      left, swapped0, swapped1, swapped2;
    logic [5:0]       offset, length, total, end_;
    logic [WIDTH-1:0] window;
    logic [38:0]      coarse;
    logic [31:0]      unused_value;
    assign swapped0 = {word0[7:0], word0[15:8], word0[23:16], word0[31:24]};
    assign swapped1 = {word1[7:0], word1[15:8], word1[23:16], word1[31:24]};
    assign swapped2 = {word2[7:0], word2[15:8], word2[23:16], word2[31:24]};
    assign coarse   = 39'({swapped0, swapped1, swapped2} << {offset[5:3], 3'd0} >> 57);
    assign window   = WIDTH'(coarse << offset[2:0] >> (39 - WIDTH));
    fre_decode #(.MANTISSA(MANTISSA)) measure (
        .window, .previous(32'd0), .second, .value(unused_value), .length, .more
    );

    // A code that ends within its first word does not wait for the next one, which may not exist;
    // that is known a cycle later.
    assign total     = {1'b0, offset[4:0]} + length;
    assign fits      = settled & (~end_[5] | end_ == 6'd32);
    assign step      = busy & code_ready & (offset[5] ? have1 & have2 : have0 & (have1 | fits));
    assign start     = ~busy & have0 & offset == 6'd0 & first0 & code_ready;
    assign skip      = ~busy & have0 & ~offset[5] & (offset != 6'd0 | ~first0);
    assign advance   = ~have0 | offset[5] | start | skip;
    assign last_left = left == 32'd1;
    always_ff @(posedge clk) begin
        settled <= ~step & ~advance;
        end_    <= total;
        if (start) begin
            busy   <= word0 != 32'd0;
            left   <= word0;
            second <= 1'b0;
        end
        if (step) begin
            second <= more;
            if (~more) begin
                left <= left - 32'd1;
                if (last_left) busy <= 1'b0;
            end
        end
        if (step) offset <= total;
        else if (skip) offset <= 6'd0;
        else if (have0) offset[5] <= 1'b0;
        if (rst) begin
            busy   <= 1'b0;
            offset <= 6'd0;
        end
    end

    // 3. Values.
    logic             code_valid, code_first, code_second, code_last, value_more, out_ready;
    logic [31:0]      count, previous, value;
    logic [WIDTH-1:0] code;
    logic [5:0]       unused_length;
    assign code_ready = ~code_valid | out_ready;
    fre_decode #(.MANTISSA(MANTISSA)) decode (
        .window(code), .previous, .second(code_second), .value, .length(unused_length), .more(value_more)
    );
    always_ff @(posedge clk) begin
        if (code_ready) begin
            code_valid  <= start | step;
            code_first  <= start;
            code_second <= second;
            code_last   <= start ? word0 == 32'd0 : last_left;
            code        <= window;
            count       <= word0;
            if (code_valid) previous <= code_first ? 32'd0 : value;
        end
        if (rst) code_valid <= 1'b0;
    end

    // 4. Flits, with the number of values before the first one.
    words_to_flit flits (
        .clk, .rst, .w_valid(code_valid & (code_first | ~value_more)), .w_last(code_last),
        .w_data(code_first ? count : value), .w_ready(out_ready), .o_valid, .o_last, .o_data, .o_ready
    );
endmodule
