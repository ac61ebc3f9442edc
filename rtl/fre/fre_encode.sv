// Encodes one value: its left-aligned code, and the value that a decoder reconstructs.
//
// Table 1 of the paper. NaN and infinities, which the table does not cover, take two codes of 16
// and 27 bits that contain the exact value.
module fre_encode #(
    parameter int MANTISSA = 6,  // bits kept, 1 to 20
    parameter int WIDTH    = MANTISSA > 15 ? 12 + MANTISSA : 27
) (
    input  logic [31:0]      value,
    input  logic [31:0]      previous,  // reconstruction of the previous value
    input  logic             second,    // the second code of the value
    output logic [31:0]      rounded,
    output logic [WIDTH-1:0] code,
    output logic [5:0]       length,
    output logic             more       // a second code follows
);
    localparam int DROPPED = 23 - MANTISSA;

    logic                sign, down, subnormal, special, same, near;
    logic [7:0]          exponent;
    logic [MANTISSA-1:0] mantissa;
    logic [8:0]          difference, step;
    logic [3:0]          size, step_length;

    assign sign      = value[31];
    assign exponent  = value[30:23];
    assign mantissa  = value[22-:MANTISSA];
    assign subnormal = exponent == 8'd0;
    assign special   = exponent == 8'd255;
    assign rounded   = subnormal | special ? value : {sign, exponent, mantissa, {DROPPED{1'b0}}};
    assign same      = rounded == previous;
    assign more      = special & ~same & ~second;

    // |difference| <= 9, and its magnitude, from the sign extension and the low bits only.
    assign difference = {1'b0, exponent} - {1'b0, previous[30:23]};
    assign down       = difference[8];
    assign near       = difference[8:4] == 5'b00000 & difference[3:0] <= 4'd9
                      | difference[8:4] == 5'b11111 & difference[3:0] >= 4'd7;
    assign size       = down ? ~difference[3:0] + 4'd1 : difference[3:0];

    always_comb begin
        case (size)
            4'd0:    {step, step_length} = {9'b0, 4'd1};
            4'd1:    {step, step_length} = {2'b10, down, 6'b0, 4'd3};
            4'd2:    {step, step_length} = {3'b110, down, 5'b0, 4'd4};
            4'd3:    {step, step_length} = {4'b1110, down, 4'b0, 4'd5};
            4'd4:    {step, step_length} = {5'b11110, down, 3'b0, 4'd6};
            4'd5:    {step, step_length} = {6'b111110, down, 2'b0, 4'd7};
            4'd6:    {step, step_length} = {8'b11111100, down, 4'd9};
            4'd7:    {step, step_length} = {8'b11111101, down, 4'd9};
            4'd8:    {step, step_length} = {8'b11111110, down, 4'd9};
            default: {step, step_length} = {8'b11111111, down, 4'd9};
        endcase

        code   = '0;
        length = 6'd0;
        if (second | subnormal) begin
            code[WIDTH-1-:27] = {second ? 4'b1111 : {3'b010, sign}, value[22:0]};
            length            = 6'd27;
        end else if (same) begin
            length = 6'd2;
        end else if (special) begin
            code[WIDTH-1-:16] = {3'b011, sign, 12'hfff};
            length            = 6'd16;
        end else if (near) begin
            code[WIDTH-1-:11+MANTISSA] = {1'b1, sign, mantissa, step};
            length                     = 6'(2 + MANTISSA) + {2'b0, step_length};
        end else begin
            code[WIDTH-1-:12+MANTISSA] = {3'b011, sign, exponent, mantissa};
            length                     = 6'(12 + MANTISSA);
        end
    end
endmodule
