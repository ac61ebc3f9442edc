// Encodes blocks of coefficients to words: the block header, then for three axes (DE-ZFP) one plane
// of 64 bits per cycle; for two (ZFP-V2), both levels of plane headers together with the block
// header, then eight planes of 16 bits per cycle. Exact blocks are their header and the raw values.
module zfp_pack #(
    parameter int AXES  = 3,
    parameter int SIZE  = AXES == 3 ? 64 : 16,
    parameter int WIDTH = AXES == 3 ? 66 : 128
) (
    input  logic               clk,
    input  logic               rst,
    input  logic               b_valid,
    input  logic [32*SIZE-1:0] b_values,
    input  logic [31:0]        b_nonzero,
    input  logic [7:0]         b_exponent,
    input  logic               b_exact,
    input  logic [5:0]         b_planes,  // planes to keep, 0 to 32
    input  logic               b_last,
    output logic               b_ready,
    output logic               c_valid,
    output logic               c_last,
    output logic [WIDTH-1:0]   c_word,
    output logic [7:0]         c_length,
    input  logic               c_ready    // all stages advance
);
    // Words of an exact block after its header, and stages from the block to a word.
    localparam int EXACT_WORDS = AXES == 3 ? SIZE / 2 : SIZE / 4;
    localparam int STAGES      = AXES == 3 ? 2 : 5;

    logic               busy, last, exact, zero, first, ending, final_;
    logic [32*SIZE-1:0] values, ordered;
    logic [13:0]        head;
    logic [5:0]         planes, index, words;
    logic [STAGES-1:0]  valids, lasts;
    zfp_order #(.AXES(AXES)) order (.i_block(values), .o_block(ordered));

    assign final_  = first ? zero : ending;
    assign b_ready = ~busy | c_ready & final_;
    assign c_valid = valids[STAGES-1];
    assign c_last  = lasts[STAGES-1];

    always_ff @(posedge clk) begin
        if (c_ready) begin
            valids <= {valids[STAGES-2:0], busy};
            lasts  <= {lasts[STAGES-2:0], last & final_};
            first  <= 1'b0;
            ending <= (first ? 6'd1 : index + 6'd2) == words;
            if (~first) index <= index + 6'd1;
            if (final_) busy <= 1'b0;
        end
        if (b_valid & b_ready) begin
            busy   <= 1'b1;
            first  <= 1'b1;
            index  <= 6'd0;
            values <= b_values;
            head   <= b_exact ? {8'd255, 5'd0, 1'b1} : {b_exponent, b_planes[4:0], 1'b1};
            exact  <= b_exact;
            planes <= b_planes;
            words  <= b_exact ? 6'(EXACT_WORDS) : AXES == 3 ? b_planes : 6'((b_planes + 6'd7) >> 3);
            zero   <= ~b_exact & (b_nonzero & ~(32'hffffffff >> b_planes)) == 32'd0;
            last   <= b_last;
        end
        if (rst) begin
            busy   <= 1'b0;
            valids <= '0;
        end
    end

    if (AXES == 3) begin : dictionary
        de_zfp_word words_ (
            .clk, .move(c_ready), .values, .ordered, .head, .exact, .zero, .first, .index(index[4:0]),
            .word(c_word), .length(c_length)
        );
    end else begin : headers
        zfp_v_word words_ (
            .clk, .move(c_ready), .values, .ordered, .head, .exact, .zero, .first, .index(index[1:0]), .planes,
            .word(c_word), .length(c_length)
        );
    end
endmodule
