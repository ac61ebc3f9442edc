// Decompression channel of the zfp family: the inverse of `zfp_compress`.
module zfp_decompress #(
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

    // 1. The stream; its first flit is the header.
    logic             have_header, sent, done;
    logic [63:0]      header;
    logic [31:0]      blocks_left;
    logic [35:0]      rows_left;  // flits after the next output flit
    logic             ready, take, ends;
    logic [WIDTH-1:0] window;
    logic [7:0]       length;
    bit_reader #(.WIDTH(WIDTH)) reader (
        .clk, .rst, .i_valid, .i_data, .i_ready, .window, .length(have_header ? length : 8'd128), .ready,
        .take(have_header ? take : ready), .last(have_header & ends & blocks_left == 32'd1)
    );

    // 2. Blocks of coefficients.
    logic               block_valid, block_exact, block_ready;
    logic [32*SIZE-1:0] block;
    logic [7:0]         exponent;
    zfp_unpack #(.AXES(AXES)) unpack (
        .clk, .rst, .enable(have_header & blocks_left != 32'd0), .window, .length, .ready, .take, .ends,
        .b_valid(block_valid), .b_values(block), .b_exponent(exponent), .b_exact(block_exact), .b_ready(block_ready)
    );

    // 3. Rows of values.
    logic         row_valid;
    logic [127:0] row;
    zfp_inverse #(.AXES(AXES)) inverse (
        .clk, .rst, .flush(blocks_left == 32'd0),
        .b_valid(block_valid), .b_values(block), .b_exponent(exponent), .b_exact(block_exact), .b_ready(block_ready),
        .o_valid(row_valid), .o_row(row), .o_ready(o_ready & sent)
    );

    assign o_valid = sent ? row_valid : have_header;
    assign o_last  = rows_left == 36'd0;
    assign o_data  = sent ? row : {64'd0, header};
    assign done    = o_valid & o_ready & o_last;

    always_ff @(posedge clk) begin
        if (~have_header) begin
            header      <= window[63:0];
            have_header <= ready;
            blocks_left <= window[31:0];
            rows_left   <= 36'(ROWS) * 36'(window[31:0]);
        end
        if (have_header & o_ready) sent <= 1'b1;
        if (take & ends) blocks_left <= blocks_left - 32'd1;
        if (o_valid & o_ready) rows_left <= rows_left - 36'd1;
        if (rst | done) begin
            have_header <= 1'b0;
            sent        <= 1'b0;
        end
    end
endmodule
