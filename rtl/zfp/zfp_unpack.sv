// The inverse of zfp_pack: decodes blocks of coefficients from the bits of a stream.
module zfp_unpack #(
    parameter int AXES  = 3,
    parameter int SIZE  = AXES == 3 ? 64 : 16,
    parameter int WIDTH = AXES == 3 ? 66 : 128
) (
    input  logic               clk,
    input  logic               rst,
    input  logic               enable,  // read a block
    input  logic [WIDTH-1:0]   window,
    output logic [7:0]         length,
    input  logic               ready,
    output logic               take,
    output logic               ends,    // with `take`: the block ends here
    output logic               b_valid,
    output logic [32*SIZE-1:0] b_values,
    output logic [7:0]         b_exponent,
    output logic               b_exact,
    input  logic               b_ready
);
    // Values per cycle of exact blocks.
    localparam int VALUES = AXES == 3 ? 2 : 4;

    logic [5:0] at, planes, next_planes, steps;
    logic       zero, exact;
    logic [7:0] header_length, body_length;
    assign zero        = ~window[0];
    assign exact       = window[13:6] == 8'd255;
    assign next_planes = window[5:1] == 5'd0 ? 6'd32 : {1'b0, window[5:1]};

    assign take = enable & ready & (~b_valid | b_ready);
    assign ends = at == 6'd0 ? zero : at == steps;
    always_comb begin
        if (at == 6'd0) length = zero ? 8'd1 : exact ? 8'd14 : header_length;
        else length = b_exact ? 8'(32 * VALUES) : body_length;
        if (b_exact) steps = 6'(SIZE / VALUES);
        else steps = AXES == 3 ? planes : 6'((planes + 6'd7) >> 3);
    end

    always_ff @(posedge clk) begin
        if (b_ready) b_valid <= 1'b0;
        if (take) begin
            b_valid <= ends;
            at      <= ends ? 6'd0 : at + 6'd1;
            if (at == 6'd0) begin
                planes     <= next_planes;
                b_exponent <= zero ? 8'd30 : window[13:6];
                b_exact    <= ~zero & exact;
            end
        end
        if (rst) begin
            b_valid <= 1'b0;
            at      <= 6'd0;
        end
    end

    // The bits of the block read per cycle: none, those of a plane, of eight planes, or of some
    // values.
    logic [5:0]         index;
    logic [32*SIZE-1:0] digits, in_place;
    assign index = at - 6'd1;
    zfp_order #(.AXES(AXES), .INVERSE(1)) order (.i_block(digits), .o_block(in_place));
    always_ff @(posedge clk) begin
        if (take) begin
            if (at == 6'd0) b_values <= '0;
            else if (~b_exact) b_values <= b_values | in_place;
            else b_values <= {window[32*VALUES-1:0], b_values[32*SIZE-1:32*VALUES]};
        end
    end

    if (AXES == 3) begin : dictionary
        logic [63:0] plane;
        de_zfp_decode decode (.window, .plane, .length(body_length[6:0]));
        assign body_length[7] = 1'b0;
        assign header_length  = 8'd14;
        for (genvar i = 0; i < 64; i++) assign digits[32*i+:32] = {plane[i], 31'd0} >> index;
    end else begin : headers
        logic [31:0]  level1, next_level1;
        logic [63:0]  level2, next_level2, code_lengths;
        logic [6:0]   codes_length;
        logic [159:0] widths;
        logic [127:0] planes_now;
        assign next_level1   = window[45:14] & ~(32'hffffffff << next_planes);
        assign header_length = 8'd14 + {2'b0, next_planes} + {1'b0, codes_length};
        bit_split #(.ITEMS(32), .WIDTH(2)) split_codes (
            .bits(64'(window[127:14] >> next_planes)), .lengths(code_lengths), .items(next_level2), .total(codes_length)
        );
        always_ff @(posedge clk) begin
            if (take & at == 6'd0) begin
                level1 <= next_level1;
                level2 <= next_level2;
            end
        end
        for (genvar p = 0; p < 32; p++) begin : planes_
            assign code_lengths[2*p+:2] = {next_level1[p], 1'b0};
            always_comb begin
                if (6'(p) >= planes) widths[5*p+:5] = 5'd0;
                else if (~level1[p]) widths[5*p+:5] = 5'd1;
                else widths[5*p+:5] = 5'd2 << level2[2*p+:2];
            end
        end
        logic [39:0] widths_now;
        assign widths_now = widths[40*32'(index[1:0])+:40];
        bit_split #(.ITEMS(8), .WIDTH(16)) split_planes (
            .bits(window), .lengths(widths_now), .items(planes_now), .total(body_length)
        );
        for (genvar i = 0; i < 16; i++) begin : coefficients
            logic [7:0] eight;
            for (genvar p = 0; p < 8; p++) begin : each
                assign eight[7-p] = planes_now[16*p+i] & 5'(i) < widths_now[5*p+:5];
            end
            assign digits[32*i+:32] = {eight, 24'd0} >> {index[1:0], 3'd0};
        end
    end
endmodule
