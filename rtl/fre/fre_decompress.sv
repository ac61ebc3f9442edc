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

    // 1. Input words; the next two are in registers.
    logic        in_valid, in_first, in_ready;
    logic [31:0] in_word, word, next_word;
    logic        have, have_next, first, next_first;
    flit_to_words input_words (
        .clk, .rst, .i_valid, .i_data, .i_ready,
        .w_valid(in_valid), .w_first(in_first), .w_data(in_word), .w_ready(in_ready)
    );

    // 2. Values.
    logic             busy, skip_word, second, more, start, skip, step, advance, out_ready;
    logic [31:0]      left, previous, value;
    logic [4:0]       offset;
    logic [5:0]       length, total;
    logic [63:0]      both;
    logic [WIDTH-1:0] window;
    assign both   = {word[7:0], word[15:8], word[23:16], word[31:24],
                     next_word[7:0], next_word[15:8], next_word[23:16], next_word[31:24]};
    assign window = both[6'd63 - {1'b0, offset} -: WIDTH];
    fre_decode #(.MANTISSA(MANTISSA)) decode (.window, .previous, .second, .value, .length, .more);

    // 3. Flits, with the number of values before the first one.
    words_to_flit flits (
        .clk, .rst, .w_valid(start | step & ~more), .w_last(start ? word == 32'd0 : left == 32'd1),
        .w_data(start ? word : value), .w_ready(out_ready), .o_valid, .o_last, .o_data, .o_ready
    );

    // A code that ends within the first word does not wait for the second, which may not exist.
    assign total    = {1'b0, offset} + length;
    assign step     = busy & have & (have_next | total <= 6'd32) & out_ready;
    assign start    = ~busy & have & first & ~skip_word & out_ready;
    assign skip     = ~busy & have & (~first | skip_word);
    assign advance  = start | skip | step & total[5] | ~have;
    assign in_ready = advance | ~have_next;

    always_ff @(posedge clk) begin
        if (advance) begin
            word  <= next_word;
            first <= next_first;
            have  <= have_next;
        end
        if (in_ready) begin
            next_word  <= in_word;
            next_first <= in_first;
            have_next  <= in_valid;
        end
        if (skip) skip_word <= 1'b0;
        if (start) begin
            busy     <= word != 32'd0;
            left     <= word;
            previous <= 32'd0;
            offset   <= 5'd0;
            second   <= 1'b0;
        end
        if (step) begin
            offset   <= total[4:0];
            previous <= value;
            second   <= more;
            if (~more) begin
                left <= left - 32'd1;
                if (left == 32'd1) begin
                    busy      <= 1'b0;
                    skip_word <= total[4:0] != 5'd0;  // the rest of a partly read word
                end
            end
        end
        if (rst) begin
            have      <= 1'b0;
            have_next <= 1'b0;
            busy      <= 1'b0;
            skip_word <= 1'b0;
        end
    end
endmodule
