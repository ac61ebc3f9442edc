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
    // 1. A word is rotated to its place in the flit.
    logic [6:0]   count;   // bits before it
    logic [7:0]   total;   // bits up to its end, at most 255
    logic [127:0] rotated, turned, above;
    logic         valid, last, full, over;
    assign total = {1'b0, count} + c_length;
    always_comb begin
        rotated = 128'(c_word);
        for (int i = 0; i < 7; i++)
            if (count[i]) rotated = rotated << (1 << i) | rotated >> (128 - (1 << i));
    end
    always_ff @(posedge clk) begin
        if (c_ready) begin
            valid  <= c_valid;
            last   <= c_last;
            full   <= total[7];
            over   <= total > 8'd128;
            turned <= rotated;
            above  <= {128{1'b1}} << count;
            if (c_valid) count <= c_last ? 7'd0 : total[6:0];
        end
        if (rst) begin
            valid <= 1'b0;
            count <= 7'd0;
        end
    end

    // 2. Its bits from there on belong to this flit, those below to the next one.
    logic [127:0] held, flit;
    logic         move, ends, flush;  // the held bits are the last ones of the chunk
    assign move    = ~o_valid | o_ready;
    assign c_ready = move & ~flush;
    assign ends    = flush | last & ~over;
    assign flit    = held | (flush ? 128'd0 : turned & above);
    always_ff @(posedge clk) begin
        if (move) begin
            o_valid <= flush | valid & (full | last);
            o_last  <= ends;
            o_data  <= flit;
            if (flush | valid) begin
                flush <= last & ~ends;
                held  <= ends ? 128'd0 : full ? turned & ~above : flit;
            end
        end
        if (rst) begin
            o_valid <= 1'b0;
            flush   <= 1'b0;
            held    <= 128'd0;
        end
    end
endmodule
