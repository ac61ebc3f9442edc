// A register slice (skid buffer): no combinational path from one side to the other.
module register_slice #(
    parameter int WIDTH = 128
) (
    input  logic             clk,
    input  logic             rst,
    input  logic             i_valid,
    input  logic [WIDTH-1:0] i_data,
    output logic             i_ready,
    output logic             o_valid,
    output logic [WIDTH-1:0] o_data,
    input  logic             o_ready
);
    logic [WIDTH-1:0] spare;  // accepted while the output waited
    logic             have_spare;
    assign i_ready = ~have_spare;

    always_ff @(posedge clk) begin
        if (~o_valid | o_ready) begin
            o_valid    <= have_spare | i_valid;
            o_data     <= have_spare ? spare : i_data;
            have_spare <= 1'b0;
        end else if (i_ready) begin
            spare      <= i_data;
            have_spare <= i_valid;
        end
        if (rst) begin
            o_valid    <= 1'b0;
            have_spare <= 1'b0;
        end
    end
endmodule
