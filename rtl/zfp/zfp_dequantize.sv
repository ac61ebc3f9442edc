// Converts an integer in units of its block to the nearest value, ties to even, in four steps; an
// integer may bypass it.
module zfp_dequantize (
    input  logic        clk,
    input  logic        step,
    input  logic        bypass,
    input  logic [31:0] integer_,
    input  logic [7:0]  exponent,  // three steps after the integer
    output logic [31:0] value
);
    // 1. Sign and magnitude.
    logic        bypass1, negative1;
    logic [31:0] size1;
    always_ff @(posedge clk) begin
        if (step) begin
            bypass1   <= bypass;
            negative1 <= integer_[31];
            size1     <= integer_[31] & ~bypass ? -integer_ : integer_;
        end
    end

    // 2. and 3. Leading zeros, and the normalized number.
    logic        bypass2, negative2, bypass3, negative3;
    logic [4:0]  zeros, zeros3;
    logic [1:0]  zeros2;
    logic [31:0] half, half2, aligned, aligned3;
    always_comb begin
        half     = size1;
        zeros[4] = half[31:16] == 16'd0 & ~bypass1;
        if (zeros[4]) half = half << 16;
        zeros[3] = half[31:24] == 8'd0 & ~bypass1;
        if (zeros[3]) half = half << 8;
        aligned  = half2;
        zeros[2] = aligned[31:28] == 4'd0 & ~bypass2;
        if (zeros[2]) aligned = aligned << 4;
        zeros[1] = aligned[31:30] == 2'd0 & ~bypass2;
        if (zeros[1]) aligned = aligned << 2;
        zeros[0] = ~aligned[31] & ~bypass2;
        if (zeros[0]) aligned = aligned << 1;
    end
    always_ff @(posedge clk) begin
        if (step) begin
            {bypass2, negative2, zeros2, half2}    <= {bypass1, negative1, zeros[4:3], half};
            {bypass3, negative3, zeros3, aligned3} <= {bypass2, negative2, zeros2, zeros[2:0], aligned};
        end
    end

    // 4. Rounding.
    logic        up, bypass4, negative4, zero4;
    logic [24:0] rounded;  // with a carry above the leading one
    logic [31:0] raw4;
    logic [9:0]  field4, field;
    assign up = aligned3[7] & (aligned3[8] | aligned3[6:0] != 7'd0);
    always_ff @(posedge clk) begin
        if (step) begin
            bypass4   <= bypass3;
            negative4 <= negative3;
            zero4     <= ~aligned3[31];
            raw4      <= aligned3;
            rounded   <= {1'b0, aligned3[31:8]} + {24'd0, up};
            // 2^30 times the unit has the block's exponent + 1.
            field4    <= {2'b00, exponent} + 10'd2 - {5'd0, zeros3};
        end
    end

    assign field = field4 + {9'd0, rounded[24]};
    always_comb begin
        if (bypass4) value = raw4;
        else if (zero4) value = 32'd0;
        else if (field >= 10'd255) value = {negative4, 8'd255, 23'd0};
        else value = {negative4, field[7:0], rounded[22:0]};
    end
endmodule
