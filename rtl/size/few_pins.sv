// A core behind six pins: both flit buses end in registers, so that routing measures all its paths.
module few_pins #(
    parameter bit ZFP        = 0,
    parameter bit DECOMPRESS = 0,
    parameter int VARIANT    = 6  // MANTISSA of FRE, AXES of the zfp family
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

    if (~ZFP & ~DECOMPRESS) begin : fre_compress_
        fre_compress #(.MANTISSA(VARIANT)) core (.*);
    end else if (~ZFP) begin : fre_decompress_
        fre_decompress #(.MANTISSA(VARIANT)) core (.*);
    end else if (~DECOMPRESS) begin : zfp_compress_
        zfp_compress #(.AXES(VARIANT)) core (.*);
    end else begin : zfp_decompress_
        zfp_decompress #(.AXES(VARIANT)) core (.*);
    end

    always_ff @(posedge clk) begin
        i_data  <= {i_data[126:0], pin_in};
        i_valid <= pin_valid;
        o_ready <= pin_ready;
        kept    <= o_valid & o_ready ? o_data : {kept[126:0], i_ready ^ o_last};
        pin_out <= kept[127];
    end
endmodule
