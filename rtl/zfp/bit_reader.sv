// A window onto the next bits of a stream of flits, least significant first, which the user
// advances.
module bit_reader #(
    parameter int WIDTH = 128  // at most 128
) (
    input  logic             clk,
    input  logic             rst,
    input  logic             i_valid,
    input  logic [127:0]     i_data,
    output logic             i_ready,
    output logic [WIDTH-1:0] window,
    input  logic [7:0]       length,  // bits that the user reads from the window, at most 128
    output logic             ready,   // the window has that many bits
    input  logic             take,    // advance past them
    input  logic             last     // and then to the next flit
);
    logic [127:0] flit, next_flit;
    logic         have, have_next, skip, advance;
    logic [6:0]   offset;
    logic [7:0]   total;

    assign window  = WIDTH'({next_flit, flit} >> offset);
    assign total   = {1'b0, offset} + length;
    // Bits within the first flit do not wait for the second, which may not exist.
    assign ready   = have & ~skip & (have_next | total <= 8'd128);
    assign advance = ~have | skip | take & (total[7] | last);
    assign i_ready = advance | ~have_next;

    always_ff @(posedge clk) begin
        if (advance) begin
            flit <= next_flit;
            have <= have_next;
        end
        if (i_ready) begin
            next_flit <= i_data;
            have_next <= i_valid;
        end
        if (have) skip <= 1'b0;
        if (take) begin
            offset <= last ? 7'd0 : total[6:0];
            skip   <= last & total > 8'd128;
        end
        if (rst) begin
            have      <= 1'b0;
            have_next <= 1'b0;
            skip      <= 1'b0;
            offset    <= 7'd0;
        end
    end
endmodule
