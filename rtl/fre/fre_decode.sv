// Decodes the code at the front of a window. Every bit pattern is a valid code.
module fre_decode #(
    parameter int MANTISSA = 6,
    parameter int WIDTH    = MANTISSA > 15 ? 12 + MANTISSA : 27
) (
    input  logic [WIDTH-1:0] window,
    input  logic [31:0]      previous,
    input  logic             second,  // `previous` is the first part of a value, the rest is in the window
    output logic [31:0]      value,   // the value, or its first part
    output logic [5:0]       length,
    output logic             more     // the rest of the value is in the next code
);
    localparam int DROPPED = 23 - MANTISSA;

    logic [8:0] step, exponent;
    logic [3:0] size;
    logic [5:0] step_end;  // length of a code with a step
    logic       down;

    assign step = window[WIDTH-3-MANTISSA-:9];

    always_comb begin
        casez (step[8:1])
            8'b0???????: {size, step_end, down} = {4'd0, 6'(3 + MANTISSA), 1'b0};
            8'b10??????: {size, step_end, down} = {4'd1, 6'(5 + MANTISSA), step[6]};
            8'b110?????: {size, step_end, down} = {4'd2, 6'(6 + MANTISSA), step[5]};
            8'b1110????: {size, step_end, down} = {4'd3, 6'(7 + MANTISSA), step[4]};
            8'b11110???: {size, step_end, down} = {4'd4, 6'(8 + MANTISSA), step[3]};
            8'b111110??: {size, step_end, down} = {4'd5, 6'(9 + MANTISSA), step[2]};
            default:     {size, step_end, down} = {4'd6 + {2'b0, step[2:1]}, 6'(11 + MANTISSA), step[0]};
        endcase
        exponent = {1'b0, previous[30:23]} + (down ? -{5'd0, size} : {5'd0, size});

        more = 1'b0;
        if (second) begin
            value  = {previous[31:27], window[WIDTH-1-:27]};
            length = 6'd27;
        end else if (window[WIDTH-1]) begin
            // A carry, which no encoder produces, propagates as in the codec.
            value  = {window[WIDTH-2] | exponent[8], exponent[7:0], window[WIDTH-3-:MANTISSA], {DROPPED{1'b0}}};
            length = step_end;
        end else if (~window[WIDTH-2]) begin
            value  = previous;
            length = 6'd2;
        end else if (~window[WIDTH-3]) begin
            value  = {window[WIDTH-4], 8'd0, window[WIDTH-5-:23]};
            length = 6'd27;
        end else if (window[WIDTH-5-:8] == 8'd255) begin
            more   = 1'b1;
            value  = {window[WIDTH-4], window[WIDTH-13-:4], 27'd0};
            length = 6'd16;
        end else begin
            value  = {window[WIDTH-4-:9+MANTISSA], {DROPPED{1'b0}}};
            length = 6'(12 + MANTISSA);
        end
    end
endmodule
