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
    input  logic               c_ready
);
    // Values per cycle of exact blocks.
    localparam int VALUES = AXES == 3 ? 2 : 4;

    logic               busy, last, exact, zero, final_, move;
    logic [32*SIZE-1:0] values, ordered;
    logic [7:0]         exponent;
    logic [5:0]         planes, at, steps;
    zfp_order #(.AXES(AXES)) order (.i_block(values), .o_block(ordered));

    assign move    = ~c_valid | c_ready;
    assign final_  = at == steps;
    assign b_ready = ~busy | move & final_;

    always_comb begin
        if (zero) steps = 6'd0;
        else if (exact) steps = 6'(SIZE / VALUES);
        else steps = AXES == 3 ? planes : 6'((planes + 6'd7) >> 3);
    end

    logic [WIDTH-1:0] word, header, body;
    logic [7:0]       length, header_length, body_length;
    always_ff @(posedge clk) begin
        if (move) begin
            c_valid  <= busy;
            c_last   <= last & final_;
            c_word   <= word;
            c_length <= length;
            if (busy) at <= at + 6'd1;
            if (final_) busy <= 1'b0;
        end
        if (b_valid & b_ready) begin
            busy     <= 1'b1;
            at       <= 6'd0;
            values   <= b_values;
            exponent <= b_exponent;
            exact    <= b_exact;
            planes   <= b_planes;
            zero     <= ~b_exact & (b_nonzero & ~(32'hffffffff >> b_planes)) == 32'd0;
            last     <= b_last;
        end
        if (rst) begin
            busy    <= 1'b0;
            c_valid <= 1'b0;
        end
    end

    // The words.
    logic [13:0] head;
    logic [5:0]  index;
    assign head  = exact ? {8'd255, 5'd0, 1'b1} : {exponent, planes[4:0], 1'b1};
    assign index = at - 6'd1;
    always_comb begin
        if (at != 6'd0 & exact) begin
            word   = WIDTH'(values[32*VALUES*32'(index)+:32*VALUES]);
            length = 8'(32 * VALUES);
        end else if (at != 6'd0) begin
            word   = body;
            length = body_length;
        end else if (zero) begin
            word   = '0;
            length = 8'd1;
        end else begin
            word   = header;
            length = header_length;
        end
    end

    if (AXES == 3) begin : dictionary
        logic [63:0] plane;
        for (genvar i = 0; i < 64; i++) begin : bits
            // From a word of its own: tools build a shifter of all 2,048 bits otherwise.
            logic [31:0] value;
            assign value    = ordered[32*i+:32];
            assign plane[i] = value[5'd31-index[4:0]];
        end
        de_zfp_encode encode (.plane, .word(body), .length(body_length[6:0]));
        assign body_length[7] = 1'b0;
        assign header         = WIDTH'(head);
        assign header_length  = 8'd14;
    end else begin : headers
        logic [31:0]  level1;
        logic [63:0]  level2, codes, code_lengths;  // two bits for each plane
        logic [511:0] masked;
        logic [159:0] widths;
        logic [6:0]   codes_length;
        for (genvar p = 0; p < 32; p++) begin : classes
            logic [15:0] plane;
            logic [4:0]  width;
            logic [1:0]  code;
            logic        kept, above;
            for (genvar i = 0; i < 16; i++) assign plane[i] = ordered[32*i+31-p];
            zfp_v_class class_ (.plane, .level1(above), .level2(code), .width);
            assign kept                 = 6'(p) < planes;
            assign level1[p]            = kept & above;
            assign level2[2*p+:2]       = level1[p] ? code : 2'd0;
            assign masked[16*p+:16]     = kept ? plane : 16'd0;
            assign widths[5*p+:5]       = kept ? width : 5'd0;
            assign code_lengths[2*p+:2] = {level1[p], 1'b0};
        end
        bit_join #(.ITEMS(32), .WIDTH(2)) join_codes (
            .items(level2), .lengths(code_lengths), .bits(codes), .total(codes_length)
        );
        assign header        = WIDTH'(head)
                             | (exact ? '0 : WIDTH'(level1) << 14 | WIDTH'(codes) << (7'd14 + {1'b0, planes}));
        assign header_length = exact ? 8'd14 : 8'd14 + {2'b0, planes} + {1'b0, codes_length};
        bit_join #(.ITEMS(8), .WIDTH(16)) join_planes (
            .items(masked[128*32'(index[1:0])+:128]), .lengths(widths[40*32'(index[1:0])+:40]),
            .bits(body), .total(body_length)
        );
    end
endmodule
