// Bit compactor: packs left-aligned codes of 1 to WIDTH bits into 32-bit words, most significant
// bit first. The last word of a chunk is padded with zeros.
module fre_compact #(
    parameter int WIDTH = 27  // at most 32
) (
    input  logic             clk,
    input  logic             rst,
    input  logic             c_valid,
    input  logic             c_last,
    input  logic [WIDTH-1:0] c_code,
    input  logic [5:0]       c_length,
    output logic             c_ready,
    output logic             w_valid,
    output logic             w_last,
    output logic [31:0]      w_data,
    input  logic             w_ready
);
    logic [31:0]       held;   // bits that do not yet fill a word
    logic [4:0]        count;  // number of these bits
    logic              flush;  // these are the last bits of the chunk
    logic [5:0]        total;
    logic [WIDTH+30:0] shifted;

    assign shifted = {c_code, 31'd0} >> count;
    assign total   = {1'b0, count} + c_length;

    assign c_ready = w_ready & ~flush;
    assign w_valid = flush | c_valid & (total[5] | c_last);
    assign w_last  = flush | c_last & total <= 6'd32;
    assign w_data  = held | (flush ? 32'd0 : shifted[WIDTH+30-:32]);

    always_ff @(posedge clk) begin
        if (w_ready & (flush | c_valid)) begin
            flush <= c_last & ~w_last;
            count <= w_last ? 5'd0 : total[4:0];
            held  <= w_last ? 32'd0 : total[5] ? {shifted[WIDTH-2:0], {(33 - WIDTH) {1'b0}}} : w_data;
        end
        if (rst) begin
            flush <= 1'b0;
            count <= 5'd0;
            held  <= 32'd0;
        end
    end
endmodule
