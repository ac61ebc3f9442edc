// Decodes blocks of coefficients from the flits of ZFP-V2 chunks: the inverse of zfp_pack and
// flit_join. The headers of a block give its length, so that those of the next block are read in a
// loop of four cycles, while the planes of this block follow in a pipeline, eight per cycle.
module zfp_v_read (
    input  logic         clk,
    input  logic         rst,
    input  logic         i_valid,
    input  logic [127:0] i_data,
    output logic         i_ready,
    output logic         h_valid,  // a chunk starts with this header
    output logic [63:0]  h_data,
    input  logic         h_ready,
    output logic         flush,    // all blocks of the chunk have been output
    output logic         b_valid,
    output logic [511:0] b_values,
    output logic [7:0]   b_exponent,
    output logic         b_exact,
    input  logic         b_ready
);
    // 1. A buffer of eight flits. Positions in the stream are a flit, modulo 16, and a bit.
    logic [127:0] even[4];
    logic [127:0] odd[4];
    logic [3:0]   written, freed, used;
    assign used    = written - freed;
    assign i_ready = ~used[3];
    always_ff @(posedge clk) begin
        if (i_valid & i_ready) begin
            if (written[0]) odd[written[2:1]] <= i_data;
            else even[written[2:1]] <= i_data;
            written <= written + 4'd1;
        end
        if (rst) written <= 4'd0;
    end

    // 2. The window at the planes of a block, or at the headers of the next one.
    logic         prepare, reading, take;
    logic [10:0]  head_at, body_at, at;
    logic [3:0]   ahead;
    logic [1:0]   even_index;
    logic [142:0] coarse;
    logic [127:0] window;
    logic         have, have_next, free;
    assign at         = reading ? body_at : head_at;
    assign even_index = at[9:8] + {1'b0, at[7]};
    assign coarse     = 143'({even[even_index], odd[at[9:8]], even[even_index]} >> {at[7:4], 4'd0});
    // The next headers may be flits that are still to come.
    assign ahead      = written - at[10:7];
    assign have       = ahead != 4'd0 & ahead <= 4'd8;
    assign have_next  = have & ahead != 4'd1;
    always_ff @(posedge clk) begin
        if (reading ? take : free) window <= 128'(coarse >> at[3:0]);
        freed <= prepare | reading ? body_at[10:7] : head_at[10:7];
        if (rst) freed <= 4'd0;
    end

    // 3. Headers.
    typedef enum logic [2:0] {OPEN, CHUNK, SHIFT, SPLIT, SUM, NEXT, ALIGN} state_t;
    state_t      state;
    logic        had_next, short_, body_ready;
    logic [31:0] blocks_left;

    logic [5:0]  next_planes, next_count;
    logic [31:0] next_level1;
    assign next_planes = {window[5:1] == 5'd0, window[5:1]};
    assign next_level1 = window[45:14] & ~(32'hffffffff << next_planes);
    count_ones #(.WIDTH(32)) ones (.bits(next_level1), .count(next_count));

    logic        zero, exact;
    logic [5:0]  planes, count;  // and how many of them have a second header
    logic [7:0]  exponent;
    logic [31:0] level1;
    logic [63:0] codes, level2;
    bit_split #(.ITEMS(32), .WIDTH(2), .FLAGS(1), .REGISTERS('b10010)) split_codes (
        .clk, .move(1'b1), .bits(codes), .lengths(level1), .items(level2)
    );

    // Half the bits of the planes with a second header, as four sums.
    logic [27:0] next_sums, sums;
    for (genvar k = 0; k < 4; k++) begin : quarters
        always_comb begin
            next_sums[7*k+:7] = 7'd0;
            for (int i = 0; i < 8; i++)
                next_sums[7*k+:7] = next_sums[7*k+:7] + {3'd0, 4'(6'(8 * k + i) < count) << codes[2*(8*k+i)+:2]};
        end
    end

    logic [7:0] head_length, head_end;
    logic [9:0] body_length;
    assign head_end    = {1'b0, head_at[6:0]} + head_length;
    assign short_      = ~had_next & head_end > 8'd128;
    always_comb begin
        if (exact) body_length = 10'd512;
        else if (zero) body_length = 10'd0;
        else body_length = {4'd0, planes - count} + {{2'd0, sums[6:0]} + {2'd0, sums[13:7]}
                                                     + {2'd0, sums[20:14]} + {2'd0, sums[27:21]}, 1'b0};
    end
    assign h_valid = state == CHUNK;
    assign h_data  = window[63:0];
    always_ff @(posedge clk) begin
        case (state)
            OPEN: if (~prepare & ~reading & free & have) state <= CHUNK;
            CHUNK:
                if (h_ready) begin
                    state         <= h_data[31:0] == 32'd0 ? OPEN : SHIFT;
                    blocks_left   <= h_data[31:0];
                    head_at[10:7] <= head_at[10:7] + 4'd1;
                end
            SHIFT: begin
                had_next <= have_next;
                if (~reading & free & have) state <= SPLIT;
            end
            SPLIT: state <= SUM;
            SUM:   state <= NEXT;
            NEXT:
                if (short_) state <= SHIFT;  // again, with the next flit
                else if (body_ready) begin
                    state       <= blocks_left == 32'd1 ? ALIGN : SHIFT;
                    blocks_left <= blocks_left - 32'd1;
                    head_at     <= head_at + {3'd0, head_length} + {1'b0, body_length};
                end
            default: begin
                state <= OPEN;
                if (head_at[6:0] != 7'd0) head_at <= {head_at[10:7] + 4'd1, 7'd0};
            end
        endcase
        if (state == SPLIT) begin
            zero     <= ~window[0];
            exact    <= window[0] & window[13:6] == 8'd255;
            exponent <= window[13:6];
            planes   <= next_planes;
            level1   <= next_level1;
            count    <= next_count;
            codes    <= 64'(window[109:14] >> next_planes);
        end
        if (state == SUM) begin
            sums        <= next_sums;
            head_length <= zero ? 8'd1 : exact ? 8'd14 : 8'd14 + {2'd0, planes} + {1'b0, count, 1'b0};
        end
        if (rst) begin
            state   <= OPEN;
            head_at <= 11'd0;
        end
    end

    // 4. Planes: widths and their sums in the first cycle, then eight planes per cycle.
    logic         move, ends, body_exact;
    logic [7:0]   body_exponent;
    logic [5:0]   body_planes;
    logic [31:0]  body_level1;
    logic [159:0] widths, next_widths;  // of groups from the next one on
    logic [31:0]  lengths, next_lengths;
    logic [1:0]   group, last_group;
    logic         fits;
    for (genvar p = 0; p < 32; p++) begin : planes_
        always_comb begin
            if (body_exact) next_widths[5*p+:5] = 5'd16;
            else if (6'(p) >= body_planes) next_widths[5*p+:5] = 5'd0;
            else if (~body_level1[p]) next_widths[5*p+:5] = 5'd1;
            else next_widths[5*p+:5] = 5'd2 << level2[2*p+:2];
        end
    end
    for (genvar k = 0; k < 4; k++) begin : groups
        always_comb begin
            next_lengths[8*k+:8] = 8'd0;
            for (int i = 0; i < 8; i++)
                next_lengths[8*k+:8] = next_lengths[8*k+:8] + {3'd0, next_widths[5*(8*k+i)+:5]};
        end
    end
    // Bits within the first flit do not wait for the next one, which may not exist.
    assign fits       = {1'b0, body_at[6:0]} + lengths[7:0] <= 8'd128;
    assign take       = reading & move & (have & (have_next | fits) | lengths[7:0] == 8'd0);
    assign ends       = group == last_group;
    assign body_ready = ~prepare & (~reading | take & ends);
    always_ff @(posedge clk) begin
        if (prepare) begin
            prepare <= 1'b0;
            reading <= 1'b1;
            widths  <= next_widths;
            lengths <= next_lengths;
            group   <= 2'd0;
        end
        if (take) begin
            reading <= ~ends;
            widths  <= {40'd0, widths[159:40]};
            lengths <= {8'd0, lengths[31:8]};
            group   <= group + 2'd1;
            body_at <= body_at + {3'd0, lengths[7:0]};
        end
        if (state == NEXT & ~short_ & body_ready) begin
            prepare       <= 1'b1;
            body_at       <= head_at + {3'd0, head_length};
            body_exact    <= exact;
            body_exponent <= exponent;
            body_planes   <= zero ? 6'd0 : planes;
            body_level1   <= level1;
            last_group    <= exact ? 2'd3 : zero ? 2'd0 : 2'((planes - 6'd1) >> 3);
        end
        if (rst) begin
            prepare <= 1'b0;
            reading <= 1'b0;
        end
    end

    // 5. The window is split in three stages.
    localparam int BESIDE = 52;
    logic [3:0]          valids;
    logic [39:0]         widths1, widths4;
    logic [127:0]        items;
    logic [1:0]          group4;
    logic                exact4, ends4;
    logic [7:0]          exponent4;
    logic [4*BESIDE-1:0] beside;
    assign move    = ~b_valid | b_ready;
    assign free    = move | ~valids[0];  // the window may be replaced
    assign widths1 = beside[39:0];
    bit_split #(.ITEMS(8), .WIDTH(16), .REGISTERS('b111)) split_planes (
        .clk, .move, .bits(window), .lengths(widths1), .items
    );
    always_ff @(posedge clk) begin
        if (move) begin
            valids <= {valids[2:0], take};
            beside <= {beside[3*BESIDE-1:0], body_exponent, body_exact, ends, group, widths[39:0]};
        end
        if (rst) valids <= 4'd0;
    end
    assign {exponent4, exact4, ends4, group4, widths4} = beside[4*BESIDE-1-:BESIDE];

    // 6. The block.
    logic [511:0] digits, in_place;
    for (genvar i = 0; i < 16; i++) begin : coefficients
        logic [7:0] eight;
        for (genvar p = 0; p < 8; p++) begin : each
            assign eight[7-p] = items[16*p+i] & 5'(i) < widths4[5*p+:5];
        end
        assign digits[32*i+:32] = {eight, 24'd0} >> {group4, 3'd0};
    end
    zfp_order #(.AXES(2), .INVERSE(1)) order (.i_block(digits), .o_block(in_place));
    assign flush = (state == OPEN | state == CHUNK | state == ALIGN) & ~prepare & ~reading & valids == 4'd0;
    always_ff @(posedge clk) begin
        if (move) b_valid <= valids[3] & ends4;
        if (move & valids[3]) begin
            b_exponent <= exponent4;
            b_exact    <= exact4;
            if (exact4) b_values <= {items, b_values[511:128]};
            else b_values <= (group4 == 2'd0 ? 512'd0 : b_values) | in_place;
        end
        if (rst) b_valid <= 1'b0;
    end
endmodule
