// Decodes blocks of coefficients from the flits of DE-ZFP chunks: the inverse of zfp_pack and
// flit_join, one plane per cycle. A loop finds the length of each code; the bits follow in a pipeline.
module de_zfp_read (
    input  logic          clk,
    input  logic          rst,
    input  logic          i_valid,
    input  logic [127:0]  i_data,
    output logic          i_ready,
    output logic          h_valid,  // a chunk starts with this header
    output logic [63:0]   h_data,
    input  logic          h_ready,
    output logic          flush,    // all blocks of the chunk have been output
    output logic          b_valid,
    output logic [2047:0] b_values,
    output logic [7:0]    b_exponent,
    output logic          b_exact,
    input  logic          b_ready
);
    // 1. The next three flits, so that a code may start in the second one: flits advance one cycle
    //    after the offset has passed the first.
    logic [127:0] flit0, flit1, flit2;
    logic         have0, have1, have2, advance, load1;
    assign load1   = advance | ~have1;
    assign i_ready = load1 | ~have2;
    always_ff @(posedge clk) begin
        if (advance) {have0, flit0} <= {have1, flit1};
        if (load1) {have1, flit1} <= {have2, flit2};
        if (i_ready) {have2, flit2} <= {i_valid, i_data};
        if (rst) begin
            have0 <= 1'b0;
            have1 <= 1'b0;
            have2 <= 1'b0;
        end
    end

    // 2. Lengths of codes: the loop from offset to length to next offset.
    logic        busy, first, exact, zero, ends, start, skip, take, move, settled, fits;
    logic [31:0] blocks_left;
    logic [7:0]  offset, length, total, end_;
    logic [6:0]  code_length;
    logic [5:0]  at, steps;
    logic [28:0] coarse;
    logic [13:0] head;
    logic [63:0] unused_plane;
    assign coarse = 29'({flit2, flit1, flit0} >> {offset[7:4], 4'd0});
    assign head   = 14'(coarse >> offset[3:0]);
    de_zfp_decode measure (.window(66'(head)), .plane(unused_plane), .length(code_length));

    assign zero   = ~head[0];
    assign ends   = first ? zero : at == steps;
    always_comb begin
        if (first) length = zero ? 8'd1 : 8'd14;
        else length = exact ? 8'd64 : {1'b0, code_length};
    end
    // Bits within the first flit do not wait for the next one, which may not exist; that is known a
    // cycle later.
    assign total   = {1'b0, offset[6:0]} + length;
    assign fits    = settled & (~end_[7] | end_ == 8'd128);
    assign take    = busy & move & (offset[7] ? have1 & have2 : have0 & (have1 | fits));
    assign h_valid = ~busy & have0 & offset == 8'd0;
    assign h_data  = flit0[63:0];
    assign start   = h_valid & h_ready;
    assign skip    = ~busy & have0 & ~offset[7] & offset != 8'd0;
    assign advance = ~have0 | offset[7] | start | skip;
    always_ff @(posedge clk) begin
        settled <= ~take & ~advance;
        end_    <= total;
        if (start) begin
            busy        <= h_data[31:0] != 32'd0;
            blocks_left <= h_data[31:0];
            first       <= 1'b1;
        end
        if (take) begin
            first <= ends;
            at    <= first ? 6'd1 : at + 6'd1;
            if (first) begin
                exact <= head[13:6] == 8'd255;
                steps <= head[13:6] == 8'd255 ? 6'd32 : {head[5:1] == 5'd0, head[5:1]};
            end
            if (ends) begin
                blocks_left <= blocks_left - 32'd1;
                if (blocks_left == 32'd1) busy <= 1'b0;
            end
        end
        if (take) offset <= total;
        else if (skip) offset <= 8'd0;
        else if (have0) offset[7] <= 1'b0;
        if (rst) begin
            busy   <= 1'b0;
            offset <= 8'd0;
        end
    end

    // 3. The bits, shifted in two stages.
    logic        valid1, first1, exact1, ends1, valid2, first2, exact2, ends2;
    logic [4:0]  index1, index2;
    logic [3:0]  fine;
    logic [80:0] wide;
    logic [65:0] window;
    assign move = ~b_valid | b_ready;
    always_ff @(posedge clk) begin
        if (move) begin
            {valid1, first1, exact1, ends1, index1} <= {take, first, exact, ends, 5'(at - 6'd1)};
            wide                                    <= 81'({flit2, flit1, flit0} >> {offset[7:4], 4'd0});
            fine                                    <= offset[3:0];
            {valid2, first2, exact2, ends2, index2} <= {valid1, first1, exact1, ends1, index1};
            window                                  <= 66'(wide >> fine);
        end
        if (rst) {valid1, valid2} <= 2'b00;
    end

    // 4. The plane, or two exact values.
    logic        valid3, first3, ends3, exact3;
    logic [63:0] plane, plane3;
    logic [31:0] hit3;  // the bit of all coefficients that the plane contains
    logic [7:0]  exponent3;
    logic [6:0]  unused_length;
    de_zfp_decode decode (.window, .plane, .length(unused_length));
    always_ff @(posedge clk) begin
        if (move) begin
            {valid3, first3, ends3} <= {valid2, first2, ends2};
            exact3                  <= first2 ? window[0] & window[13:6] == 8'd255 : exact2;
            exponent3               <= window[13:6];
            plane3                  <= exact2 ? window[63:0] : plane;
            hit3                    <= 32'h80000000 >> index2;
        end
        if (rst) valid3 <= 1'b0;
    end

    // 5. The block.
    logic [2047:0] digits, in_place;
    for (genvar i = 0; i < 64; i++) assign digits[32*i+:32] = hit3 & {32{plane3[i]}};
    zfp_order #(.AXES(3), .INVERSE(1)) order (.i_block(digits), .o_block(in_place));
    assign flush = ~(busy | valid1 | valid2 | valid3);
    always_ff @(posedge clk) begin
        if (move) b_valid <= valid3 & ends3;
        if (move & valid3) begin
            b_exact <= exact3;
            if (first3) b_exponent <= exponent3;
            if (first3) b_values <= '0;
            else if (exact3) b_values <= {plane3, b_values[2047:64]};
            else b_values <= b_values | in_place;
        end
        if (rst) b_valid <= 1'b0;
    end
endmodule
