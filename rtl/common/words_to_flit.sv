// Packs 32-bit words into 128-bit flits, least significant first: one word per cycle. The last flit
// of a chunk is padded with zeros.
module words_to_flit (
    input  logic         clk,
    input  logic         rst,
    input  logic         w_valid,
    input  logic         w_last,
    input  logic [31:0]  w_data,
    output logic         w_ready,
    output logic         o_valid,
    output logic         o_last,
    output logic [127:0] o_data,
    input  logic         o_ready
);
    logic [1:0] index;

    assign w_ready = ~o_valid | o_ready;

    always_ff @(posedge clk) begin
        if (w_ready) begin
            o_valid <= w_valid & (w_last | index == 2'd3);
            o_last  <= w_last;
            if (w_valid) begin
                index <= w_last ? 2'd0 : index + 2'd1;
                case (index)
                    2'd0: o_data         <= {96'd0, w_data};
                    2'd1: o_data[63:32]  <= w_data;
                    2'd2: o_data[95:64]  <= w_data;
                    2'd3: o_data[127:96] <= w_data;
                endcase
            end
        end
        if (rst) begin
            o_valid <= 1'b0;
            index   <= 2'd0;
        end
    end
endmodule
