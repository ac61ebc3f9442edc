// Converts a value to an integer in units of its block, rounding toward zero, in two steps; a value
// may bypass it.
module zfp_quantize (
    input  logic        clk,
    input  logic        step,
    input  logic        bypass,
    input  logic [31:0] value,
    input  logic [7:0]  exponent,  // at least that of the value
    output logic [31:0] integer_
);
    logic [7:0]  shift;
    logic [31:0] size, magnitude;
    logic        negative;

    assign shift = exponent - value[30:23];
    assign size  = shift > 8'd31 ? 32'd0 : {2'b00, 1'b1, value[22:0], 6'd0} >> shift[4:0];

    always_ff @(posedge clk) begin
        if (step) begin
            magnitude <= bypass ? value : size;
            negative  <= value[31] & ~bypass;
            integer_  <= negative ? -magnitude : magnitude;
        end
    end
endmodule
