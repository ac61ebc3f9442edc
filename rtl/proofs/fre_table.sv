// The encoder implements Table 1 of the paper, for all finite values after any value.
module fre_table #(
    parameter int MANTISSA = 6,
    parameter int WIDTH    = MANTISSA > 15 ? 12 + MANTISSA : 27
) (
    input  logic [31:0] value,
    input  logic [31:0] previous,
    output logic        ok
);
    logic [31:0]      rounded;
    logic [WIDTH-1:0] code;
    logic [5:0]       length;
    logic             more;
    fre_encode #(.MANTISSA(MANTISSA)) encode (.value, .previous, .second(1'b0), .rounded, .code, .length, .more);

    // The table; `bits` ends with the last bit of the code.
    logic signed [9:0] apart;
    logic [9:0]        size;
    logic [63:0]       bits, sure;
    logic [5:0]        count;
    assign apart = $signed({2'b00, value[30:23]}) - $signed({2'b00, previous[30:23]});
    assign size  = apart < 0 ? -apart : apart;
    assign sure  = {41'd0, value[22:0]} >> (23 - MANTISSA);

    always_comb begin
        if (value[30:23] == 8'd0) begin
            bits  = {37'd0, 3'b010, value[31], value[22:0]};
            count = 6'd27;
        end else if (value[31:23-MANTISSA] == previous[31:23-MANTISSA]) begin
            bits  = 64'd0;
            count = 6'd2;
        end else if (size > 10'd9) begin
            bits  = {52'd0, 3'b011, value[31:23]} << MANTISSA | sure;
            count = 6'(12 + MANTISSA);
        end else begin
            bits = {62'd0, 1'b1, value[31]} << MANTISSA | sure;
            case (size)
                10'd0:   {bits, count} = {bits << 1, 6'(3 + MANTISSA)};
                10'd1:   {bits, count} = {bits << 3 | 64'b100, 6'(5 + MANTISSA)};
                10'd2:   {bits, count} = {bits << 4 | 64'b1100, 6'(6 + MANTISSA)};
                10'd3:   {bits, count} = {bits << 5 | 64'b11100, 6'(7 + MANTISSA)};
                10'd4:   {bits, count} = {bits << 6 | 64'b111100, 6'(8 + MANTISSA)};
                10'd5:   {bits, count} = {bits << 7 | 64'b1111100, 6'(9 + MANTISSA)};
                10'd6:   {bits, count} = {bits << 9 | 64'b111111000, 6'(11 + MANTISSA)};
                10'd7:   {bits, count} = {bits << 9 | 64'b111111010, 6'(11 + MANTISSA)};
                10'd8:   {bits, count} = {bits << 9 | 64'b111111100, 6'(11 + MANTISSA)};
                default: {bits, count} = {bits << 9 | 64'b111111110, 6'(11 + MANTISSA)};
            endcase
            if (apart < 0) bits[0] = 1'b1;
        end
    end

    // The table does not cover NaN. Reconstructions of other values end with zeros.
    logic outside;
    assign outside = value[30:23] == 8'd255
                   | previous[30:23] != 8'd0 & (previous & ~(32'hffffffff << (23 - MANTISSA))) != 32'd0;
    assign ok      = outside | ~more & length == count & ({64'd0, code} << length >> WIDTH) == bits
                   & WIDTH'(code << length) == '0;
endmodule
