// Compression channel of the zfp family: with three axes DE-ZFP, with two ZFP-V2.
//
// Input: chunks of a header flit and whole blocks, each in raster order with four values per flit.
// Output: the same header flit, then one stream of the codec `de-zfp` or `zfp-v`, zeros to a whole
// flit.
//
// | bits of the header flit | |
// |---|---|
// | 31:0 | number of blocks |
// | 37:32 | planes to keep, 0 to 32, if bit 38 is 0 |
// | 38 | planes by zfp's formula: the exponent field of the block, at least 30, minus the offset, clamped to 0 to 32 |
// | 47:40 | smallest exponent field of special values: a block with such a value is stored exactly |
// | 56:48 | the offset, signed |
// | 127:57 | 0 |
module zfp_compress #(
    parameter int AXES = 3
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
    localparam int SIZE  = AXES == 3 ? 64 : 16;
    localparam int WIDTH = AXES == 3 ? 66 : 128;
    localparam int ROWS  = SIZE / 4;

    // 1. The header flit, which is output before the first block is accepted.
    logic         have_header, sent, empty, more_rows, out_ready;
    logic [127:0] header;
    logic [31:0]  blocks_left;
    logic [35:0]  rows_left;
    assign empty = header[31:0] == 32'd0;

    // 2. Blocks of coefficients.
    logic               rows_valid, rows_ready, block_valid, block_exact, block_ready;
    logic [32*SIZE-1:0] block;
    logic [31:0]        nonzero;
    logic [7:0]         exponent;
    assign rows_valid = i_valid & sent & more_rows;
    zfp_forward #(.AXES(AXES)) forward (
        .clk, .rst, .special(header[47:40]), .flush(~more_rows),
        .i_valid(rows_valid), .i_row(i_data), .i_ready(rows_ready),
        .b_valid(block_valid), .b_values(block), .b_nonzero(nonzero), .b_exponent(exponent), .b_exact(block_exact),
        .b_ready(block_ready)
    );

    // 3. Words. The exponent of a block is there some cycles before the block is.
    logic signed [9:0] wanted;
    logic [5:0]        planes;
    assign wanted = $signed({2'b00, exponent}) - $signed({header[56], header[56:48]});
    always_ff @(posedge clk) begin
        if (~header[38]) planes <= header[37:32];
        else if (wanted < 10'sd0) planes <= 6'd0;
        else if (wanted > 10'sd32) planes <= 6'd32;
        else planes <= wanted[5:0];
    end

    logic             word_valid, word_last, word_ready;
    logic [WIDTH-1:0] word;
    logic [7:0]       length;
    zfp_pack #(.AXES(AXES)) pack (
        .clk, .rst, .b_valid(block_valid), .b_values(block), .b_nonzero(nonzero), .b_exponent(exponent),
        .b_exact(block_exact), .b_planes(planes), .b_last(blocks_left == 32'd1), .b_ready(block_ready),
        .c_valid(word_valid), .c_last(word_last), .c_word(word), .c_length(length), .c_ready(word_ready)
    );

    // 4. Flits.
    logic         flit_valid, flit_last, done;
    logic [127:0] flit;
    flit_join #(.WIDTH(WIDTH)) flits (
        .clk, .rst, .c_valid(word_valid), .c_last(word_last), .c_word(word), .c_length(length), .c_ready(word_ready),
        .o_valid(flit_valid), .o_last(flit_last), .o_data(flit), .o_ready(out_ready & sent)
    );

    logic out_valid, out_last;
    assign i_ready   = ~have_header | sent & more_rows & rows_ready;
    assign out_valid = sent ? flit_valid : have_header;
    assign out_last  = sent ? flit_last : empty;
    assign done      = out_valid & out_ready & out_last;
    register_slice #(.WIDTH(129)) output_ (
        .clk, .rst, .i_valid(out_valid), .i_data({out_last, sent ? flit : header}), .i_ready(out_ready),
        .o_valid, .o_data({o_last, o_data}), .o_ready
    );

    always_ff @(posedge clk) begin
        if (~have_header) begin
            header      <= i_data;
            have_header <= i_valid;
            blocks_left <= i_data[31:0];
            rows_left   <= 36'(ROWS) * 36'(i_data[31:0]);
            more_rows   <= i_data[31:0] != 32'd0;
        end
        if (have_header & out_ready) sent <= 1'b1;
        if (rows_valid & rows_ready) begin
            rows_left <= rows_left - 36'd1;
            if (rows_left == 36'd1) more_rows <= 1'b0;
        end
        if (block_valid & block_ready) blocks_left <= blocks_left - 32'd1;
        if (rst | done) begin
            have_header <= 1'b0;
            sent        <= 1'b0;
        end
    end
endmodule
