// Converts an integer in units of its block to the nearest value, ties to even.
module zfp_dequantize (
    input  logic [31:0] integer_,
    input  logic [7:0]  exponent,
    output logic [31:0] value
);
    logic [31:0] size, aligned;
    logic [4:0]  zeros;
    logic [24:0] rounded;  // with a carry above the leading one
    logic [9:0]  field;
    logic        up;

    assign size = integer_[31] ? -integer_ : integer_;

    always_comb begin
        // Leading zeros, and the normalized number.
        aligned  = size;
        zeros[4] = aligned[31:16] == 16'd0;
        if (zeros[4]) aligned = aligned << 16;
        zeros[3] = aligned[31:24] == 8'd0;
        if (zeros[3]) aligned = aligned << 8;
        zeros[2] = aligned[31:28] == 4'd0;
        if (zeros[2]) aligned = aligned << 4;
        zeros[1] = aligned[31:30] == 2'd0;
        if (zeros[1]) aligned = aligned << 2;
        zeros[0] = ~aligned[31];
        if (zeros[0]) aligned = aligned << 1;
    end

    assign up      = aligned[7] & (aligned[8] | aligned[6:0] != 7'd0);
    assign rounded = {1'b0, aligned[31:8]} + {24'd0, up};
    // 2^30 times the unit has the block's exponent + 1.
    assign field   = {2'b00, exponent} + 10'd2 - {5'd0, zeros} + {9'd0, rounded[24]};

    always_comb begin
        if (size == 32'd0) value = 32'd0;
        else if (field >= 10'd255) value = {integer_[31], 8'd255, 23'd0};
        else value = {integer_[31], field[7:0], rounded[22:0]};
    end
endmodule
