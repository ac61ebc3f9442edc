// Splits 128-bit flits into 32-bit words, least significant first: one word per cycle.
module flit_to_words (
    input  logic         clk,
    input  logic         rst,
    input  logic         i_valid,
    input  logic [127:0] i_data,
    output logic         i_ready,
    output logic         w_valid,
    output logic         w_first,  // the first word of a flit
    output logic [31:0]  w_data,
    input  logic         w_ready
);
    logic [127:0] flit;
    logic [1:0]   index;

    assign w_data  = flit[31:0];
    assign w_first = index == 2'd0;
    assign i_ready = ~w_valid | (w_ready & index == 2'd3);

    always_ff @(posedge clk) begin
        if (i_ready) begin
            flit    <= i_data;
            index   <= 2'd0;
            w_valid <= i_valid;
        end else if (w_ready) begin
            flit  <= {32'd0, flit[127:32]};
            index <= index + 2'd1;
        end
        if (rst) w_valid <= 1'b0;
    end
endmodule
