// An FRE channel behind six pins, for placement on devices with too few pins for two flit buses.
module few_pins #(
    parameter int MANTISSA   = 6,
    parameter bit DECOMPRESS = 0
) (
    input  logic clk,
    input  logic rst,
    input  logic pin_in,
    input  logic pin_valid,
    input  logic pin_ready,
    output logic pin_out
);
    logic [127:0] i_data, o_data, kept;
    logic         i_valid, i_ready, o_valid, o_last, o_ready;

    if (DECOMPRESS) begin : decompress
        fre_decompress #(.MANTISSA(MANTISSA)) core (.*);
    end else begin : compress
        fre_compress #(.MANTISSA(MANTISSA)) core (.*);
    end

    always_ff @(posedge clk) begin
        i_data  <= {i_data[126:0], pin_in};
        i_valid <= pin_valid;
        o_ready <= pin_ready;
        kept    <= o_valid & o_ready ? o_data : {kept[126:0], i_ready ^ o_last};
        pin_out <= kept[127];
    end
endmodule
