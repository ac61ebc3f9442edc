// Converts a value to an integer in units of its block, rounding toward zero.
module zfp_quantize (
    input  logic [31:0] value,
    input  logic [7:0]  exponent,  // at least that of the value
    output logic [31:0] integer_
);
    logic [7:0]  shift;
    logic [31:0] size;

    assign shift    = exponent - value[30:23];
    assign size     = shift > 8'd31 ? 32'd0 : {2'b00, 1'b1, value[22:0], 6'd0} >> shift[4:0];
    assign integer_ = value[31] ? -size : size;
endmodule
