// Joiner: packs words of up to WIDTH bits into 128-bit flits, least significant bit first. The last
// flit of a chunk is padded with zeros.
module flit_join #(
    parameter int WIDTH = 128  // at most 128
) (
    input  logic             clk,
    input  logic             rst,
    input  logic             c_valid,
    input  logic             c_last,
    input  logic [WIDTH-1:0] c_word,  // zero above its length
    input  logic [7:0]       c_length,
    output logic             c_ready,
    output logic             o_valid,
    output logic             o_last,
    output logic [127:0]     o_data,
    input  logic             o_ready
);
    logic [127:0]       held;   // bits that do not yet fill a flit
    logic [6:0]         count;  // number of these bits
    logic               flush;  // these are the last bits of the chunk
    logic [7:0]         total;
    logic [WIDTH+126:0] shifted;
    logic               move, ends;
    logic [127:0]       flit;

    assign shifted = (WIDTH+127)'(c_word) << count;
    assign total   = {1'b0, count} + c_length;  // at most 255
    assign ends    = flush | c_last & total <= 8'd128;
    assign flit    = held | (flush ? 128'd0 : shifted[127:0]);
    assign move    = ~o_valid | o_ready;
    assign c_ready = move & ~flush;

    always_ff @(posedge clk) begin
        if (move) begin
            o_valid <= flush | c_valid & (total[7] | c_last);
            o_last  <= ends;
            o_data  <= flit;
            if (flush | c_valid) begin
                flush <= c_last & ~ends;
                count <= ends ? 7'd0 : total[6:0];
                held  <= ends ? 128'd0 : total[7] ? 128'(shifted[WIDTH+126:128]) : flit;
            end
        end
        if (rst) begin
            o_valid <= 1'b0;
            flush   <= 1'b0;
            count   <= 7'd0;
            held    <= 128'd0;
        end
    end
endmodule
