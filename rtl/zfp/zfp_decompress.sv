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
    localparam int SIZE = AXES == 3 ? 64 : 16;
    localparam int ROWS = SIZE / 4;

    // 1. Headers of chunks, and blocks of coefficients.
    logic               header_valid, have_header, flush, block_valid, block_exact, block_ready;
    logic [63:0]        next_header;
    logic [32*SIZE-1:0] block;
    logic [7:0]         exponent;
    if (AXES == 3) begin : dictionary
        de_zfp_read read (
            .clk, .rst, .i_valid, .i_data, .i_ready, .h_valid(header_valid), .h_data(next_header),
            .h_ready(~have_header), .flush, .b_valid(block_valid), .b_values(block), .b_exponent(exponent),
            .b_exact(block_exact), .b_ready(block_ready)
        );
    end else begin : headers
        zfp_v_read read (
            .clk, .rst, .i_valid, .i_data, .i_ready, .h_valid(header_valid), .h_data(next_header),
            .h_ready(~have_header), .flush, .b_valid(block_valid), .b_values(block), .b_exponent(exponent),
            .b_exact(block_exact), .b_ready(block_ready)
        );
    end

    // 2. Rows of values.
    logic         row_valid, sent, out_ready;
    logic [127:0] row;
    zfp_inverse #(.AXES(AXES)) inverse (
        .clk, .rst, .flush, .b_valid(block_valid), .b_values(block), .b_exponent(exponent), .b_exact(block_exact),
        .b_ready(block_ready), .o_valid(row_valid), .o_row(row), .o_ready(out_ready & sent)
    );

    // 3. Flits, the header first.
    logic        out_valid, last;
    logic [63:0] header;
    logic [35:0] rows_left;  // flits after the next one
    assign out_valid = sent ? row_valid : have_header;
    register_slice #(.WIDTH(129)) output_ (
        .clk, .rst, .i_valid(out_valid), .i_data({last, sent ? row : {64'd0, header}}), .i_ready(out_ready),
        .o_valid, .o_data({o_last, o_data}), .o_ready
    );
    always_ff @(posedge clk) begin
        if (~have_header) begin
            header      <= next_header;
            have_header <= header_valid;
            rows_left   <= 36'(ROWS) * 36'(next_header[31:0]);
            last        <= next_header[31:0] == 32'd0;
        end
        if (have_header & out_ready) sent <= 1'b1;
        if (out_valid & out_ready) begin
            rows_left <= rows_left - 36'd1;
            last      <= rows_left == 36'd1;
        end
        if (rst | out_valid & out_ready & last) begin
            have_header <= 1'b0;
            sent        <= 1'b0;
        end
    end
endmodule
