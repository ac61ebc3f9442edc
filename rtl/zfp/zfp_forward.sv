// Transforms blocks of values to negabinary coefficients: one line of four values per cycle, for
// any block size.
//
//   rows -> buffer, largest exponent -> quantize -> lift x -> transpose -> lift y [-> transpose -> lift z]
//        -> negabinary -> block
//
// A block with a value too large for the transform (exponent of at least `special`) bypasses it.
// All stages advance together, in steps. A slot is as many steps as a block has rows; it carries a
// block or nothing.
module zfp_forward #(
    parameter int AXES = 3,               // 2 or 3
    parameter int SIZE = AXES == 3 ? 64 : 16
) (
    input  logic               clk,
    input  logic               rst,
    input  logic [7:0]         special,
    input  logic               flush,      // no more blocks of the chunk will come
    input  logic               i_valid,
    input  logic [127:0]       i_row,
    output logic               i_ready,
    output logic               b_valid,
    output logic [32*SIZE-1:0] b_values,   // in raster order
    output logic [31:0]        b_nonzero,  // nonzero bit planes
    output logic [7:0]         b_exponent,
    output logic               b_exact,    // the block bypassed the transform
    input  logic               b_ready
);
    localparam int ROWS  = SIZE / 4;
    localparam int INDEX = $clog2(ROWS);
    // Number of steps from the buffer to the lifting along each axis, and to the end.
    localparam int TO_X = 3;
    localparam int TO_Y = TO_X + 3 + 4;
    localparam int TO_Z = TO_Y + 3 + 16;
    localparam int TO_END = AXES == 3 ? TO_Z + 3 : TO_Y + 3;

    localparam logic [31:0] NEGABINARY = 32'haaaaaaaa;

    logic             step, real_, slot_real, take, put;
    logic [4:0]       beat;
    logic [INDEX-1:0] row, write;
    logic [INDEX:0]   filled;
    assign row = beat[INDEX-1:0];

    function automatic logic [7:0] larger(input logic [7:0] a, input logic [7:0] b);
        larger = a > b ? a : b;
    endfunction

    // 1. The next row and its largest exponent, and the buffer: a row can be replaced when it is read.
    logic [127:0] next_row;
    logic [127:0] rows[ROWS];
    logic         row_valid;
    logic [7:0]   row_largest, gathered, largest_so_far, largest, exponent;
    assign i_ready  = ~row_valid | put;
    assign put      = row_valid & (~filled[INDEX] | take);
    assign gathered = write == '0 ? row_largest : larger(largest_so_far, row_largest);

    always_ff @(posedge clk) begin
        if (i_ready) begin
            row_valid   <= i_valid;
            next_row    <= i_row;
            row_largest <= larger(larger(i_row[30:23], i_row[62:55]), larger(i_row[94:87], i_row[126:119]));
        end
        if (rst) row_valid <= 1'b0;
    end
    always_ff @(posedge clk) begin
        if (put) begin
            rows[write]    <= next_row;
            write          <= write + 1'b1;
            largest_so_far <= gathered;
            if (write == INDEX'(ROWS - 1)) largest <= gathered;
        end
        filled <= filled + (INDEX+1)'(put) - (INDEX+1)'(take);
        if (rst) begin
            write  <= '0;
            filled <= '0;
        end
    end

    // A slot starts with a whole block, or empty if no more blocks come, to drain the pipeline.
    logic [5:0] drain;
    logic       full;
    assign real_ = row == '0 ? filled[INDEX] : slot_real;
    assign step  = (row != '0 | filled[INDEX] | flush & ~row_valid & drain != 6'd0) & (~full | b_ready);
    assign take  = step & real_;
    always_ff @(posedge clk) begin
        if (step) begin
            beat      <= beat + 5'd1;
            slot_real <= real_;
            drain     <= real_ ? 6'(TO_END) : drain == 6'd0 ? 6'd0 : drain - 6'd1;
        end
        if (rst) begin
            beat  <= 5'd0;
            drain <= 6'd0;
        end
    end

    // Data that accompanies the rows.
    logic                exact;
    logic [TO_END:1]     valids, exacts;
    logic [8*TO_END-1:0] exponents;
    assign exponent = larger(largest, 8'd30);  // with less, units would be subnormal
    assign exact    = largest >= special;
    always_ff @(posedge clk) begin
        if (step) begin
            valids    <= {valids[TO_END-1:1], real_};
            exacts    <= {exacts[TO_END-1:1], exact};
            exponents <= {exponents[8*TO_END-9:0], exponent};
        end
        if (rst) valids <= '0;
    end

    // 2. Block floating point.
    logic [127:0] values, quantized, by_x, y_lines, by_y, lifted;
    always_ff @(posedge clk) if (step) values <= rows[row];
    for (genvar lane = 0; lane < 4; lane++) begin : lanes
        zfp_quantize quantize (
            .clk, .step, .bypass(exacts[1]), .value(values[32*lane+:32]), .exponent(exponents[7:0]),
            .integer_(quantized[32*lane+:32])
        );
    end

    // 3. Lifting.
    logic [4:0] phase_y;
    assign phase_y = beat - 5'(TO_X + 3);
    zfp_lift lift_x (.clk, .step, .bypass(exacts[TO_X]), .i_line(quantized), .o_line(by_x));
    zfp_transpose to_y (.clk, .step, .columns(phase_y[2]), .i_line(by_x), .o_line(y_lines));
    zfp_lift lift_y (.clk, .step, .bypass(exacts[TO_Y]), .i_line(y_lines), .o_line(by_y));
    if (AXES == 3) begin : third
        logic [127:0] z_lines;
        logic [4:0]   phase_z;
        assign phase_z = beat - 5'(TO_Y + 3);
        zfp_transpose #(.DEPTH(4)) to_z (.clk, .step, .columns(phase_z[4]), .i_line(by_y), .o_line(z_lines));
        zfp_lift lift_z (.clk, .step, .bypass(exacts[TO_Z]), .i_line(z_lines), .o_line(lifted));
    end else begin : second
        assign lifted = by_y;
    end

    // 4. Negabinary, and the block: lanes are along the last axis, so incoming lines are its
    //    columns.
    logic [127:0]        line;
    logic [128*ROWS-1:0] lines;
    logic [INDEX-1:0]    collected;
    logic [31:0]         line_nonzero;
    for (genvar lane = 0; lane < 4; lane++) begin : digits
        assign line[32*lane+:32] = exacts[TO_END] ? lifted[32*lane+:32]
                                                  : (lifted[32*lane+:32] + NEGABINARY) ^ NEGABINARY;
        for (genvar i = 0; i < ROWS; i++) begin : place
            assign b_values[32*(ROWS*lane+i)+:32] = lines[128*i+32*lane+:32];
        end
    end
    assign line_nonzero = line[31:0] | line[63:32] | line[95:64] | line[127:96];
    assign b_valid      = full;
    always_ff @(posedge clk) begin
        if (b_ready) full <= 1'b0;
        if (step & valids[TO_END]) begin
            lines      <= {line, lines[128*ROWS-1:128]};
            b_nonzero  <= collected == '0 ? line_nonzero : b_nonzero | line_nonzero;
            b_exponent <= exponents[8*TO_END-1-:8];
            b_exact    <= exacts[TO_END];
            collected  <= collected + 1'b1;
            full       <= collected == INDEX'(ROWS - 1);
        end
        if (rst) begin
            full      <= 1'b0;
            collected <= '0;
        end
    end
endmodule
