// The inverse of zfp_forward: transforms blocks of coefficients to rows of four values, one per
// cycle.
module zfp_inverse #(
    parameter int AXES = 3,
    parameter int SIZE = AXES == 3 ? 64 : 16
) (
    input  logic               clk,
    input  logic               rst,
    input  logic               flush,  // no more blocks of the chunk will come
    input  logic               b_valid,
    input  logic [32*SIZE-1:0] b_values,
    input  logic [7:0]         b_exponent,
    input  logic               b_exact,
    output logic               b_ready,
    output logic               o_valid,
    output logic [127:0]       o_row,
    input  logic               o_ready
);
    localparam int ROWS  = SIZE / 4;
    localparam int INDEX = $clog2(ROWS);
    // Number of steps from the block to the lifting along each axis, and to the end.
    localparam int TO_Z = 2;
    localparam int TO_Y = AXES == 3 ? TO_Z + 3 + 16 : 2;
    localparam int TO_X = TO_Y + 3 + 4;
    localparam int TO_VALUES = TO_X + 3;
    localparam int TO_END = TO_VALUES + 4;

    localparam logic [31:0] NEGABINARY = 32'haaaaaaaa;

    // A slot starts with a block, or empty if no more blocks come, to drain the pipeline.
    logic             step, room, real_, slot_real;
    logic [4:0]       beat;
    logic [INDEX-1:0] row;
    logic [5:0]       drain;
    assign row     = beat[INDEX-1:0];
    assign real_   = row == '0 ? b_valid : slot_real;
    assign room    = ~o_valid | o_ready;
    assign step    = (row != '0 | b_valid | flush & drain != 6'd0) & room;
    assign b_ready = row == '0 & room;
    always_ff @(posedge clk) begin
        if (step) begin
            beat      <= beat + 5'd1;
            slot_real <= real_;
            drain     <= real_ ? 6'(TO_END + 1) : drain == 6'd0 ? 6'd0 : drain - 6'd1;
        end
        if (rst) begin
            beat  <= 5'd0;
            drain <= 6'd0;
        end
    end

    // Data that accompanies the rows.
    logic                exact;
    logic [7:0]          exponent;
    logic [TO_END:1]     valids, exacts;
    logic [8*TO_END-1:0] exponents;
    assign exact    = row == '0 ? b_exact : exacts[1];
    assign exponent = row == '0 ? b_exponent : exponents[7:0];
    always_ff @(posedge clk) begin
        if (step) begin
            valids    <= {valids[TO_END-1:1], real_};
            exacts    <= {exacts[TO_END-1:1], exact};
            exponents <= {exponents[8*TO_END-9:0], exponent};
        end
        if (rst) valids <= '0;
    end

    // 1. The block as columns of its last axis, and integers from negabinary.
    logic [128*ROWS-1:0] lines, next_lines;
    logic [127:0]        line, by_z, y_lines, by_y, x_lines, by_x, values;
    for (genvar lane = 0; lane < 4; lane++) begin : digits
        for (genvar i = 0; i < ROWS; i++) begin : place
            assign next_lines[128*i+32*lane+:32] = b_values[32*(ROWS*lane+i)+:32];
        end
        always_ff @(posedge clk) begin
            if (step)
                line[32*lane+:32] <= exacts[1] ? lines[32*lane+:32] : (lines[32*lane+:32] ^ NEGABINARY) - NEGABINARY;
        end
    end
    always_ff @(posedge clk) if (step) lines <= row == '0 ? next_lines : {128'd0, lines[128*ROWS-1:128]};

    // 2. Lifting.
    if (AXES == 3) begin : third
        logic [4:0] phase;
        assign phase = beat - 5'(TO_Z + 3);
        zfp_lift #(.INVERSE(1)) lift_z (.clk, .step, .bypass(exacts[TO_Z]), .i_line(line), .o_line(by_z));
        zfp_transpose #(.DEPTH(4)) to_y (.clk, .step, .columns(phase[4]), .i_line(by_z), .o_line(y_lines));
    end else begin : second
        assign by_z    = line;
        assign y_lines = by_z;
    end
    logic [4:0] phase_x;
    assign phase_x = beat - 5'(TO_Y + 3);
    zfp_lift #(.INVERSE(1)) lift_y (.clk, .step, .bypass(exacts[TO_Y]), .i_line(y_lines), .o_line(by_y));
    zfp_transpose to_x (.clk, .step, .columns(phase_x[2]), .i_line(by_y), .o_line(x_lines));
    zfp_lift #(.INVERSE(1)) lift_x (.clk, .step, .bypass(exacts[TO_X]), .i_line(x_lines), .o_line(by_x));

    // 3. Values.
    for (genvar lane = 0; lane < 4; lane++) begin : lanes
        zfp_dequantize dequantize (
            .clk, .step, .bypass(exacts[TO_VALUES]), .integer_(by_x[32*lane+:32]),
            .exponent(exponents[8*TO_END-9-:8]), .value(values[32*lane+:32])
        );
    end
    always_ff @(posedge clk) begin
        if (o_ready) o_valid <= 1'b0;
        if (step) begin
            o_valid <= valids[TO_END];
            o_row   <= values;
        end
        if (rst) o_valid <= 1'b0;
    end
endmodule
