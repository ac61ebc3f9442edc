// Words of ZFP-V2, in five stages: the headers of a block and of its planes, eight of its planes,
// or four exact values.
module zfp_v_word (
    input  logic         clk,
    input  logic         move,
    input  logic [511:0] values,
    input  logic [511:0] ordered,
    input  logic [13:0]  head,
    input  logic         exact,
    input  logic         zero,
    input  logic         first,  // the headers
    input  logic [1:0]   index,
    input  logic [5:0]   planes,
    output logic [127:0] word,
    output logic [7:0]   length
);
    // 1. Classes of all planes, and the items of this word. Exact values are eight items of 16 bits.
    logic [31:0]  level1, next_level1;
    logic [63:0]  level2, next_level2, code_lengths;  // two bits for each plane
    logic [511:0] masked;
    logic [255:0] all_widths;  // 64 bits for eight planes
    logic [127:0] items;
    logic [39:0]  widths;
    for (genvar p = 0; p < 32; p++) begin : classes
        logic [15:0] plane;
        logic [4:0]  width;
        logic [1:0]  code;
        logic        kept, above;
        for (genvar i = 0; i < 16; i++) assign plane[i] = ordered[32*i+31-p];
        zfp_v_class class_ (.plane, .level1(above), .level2(code), .width);
        assign kept                 = 6'(p) < planes & ~exact;
        assign next_level1[p]       = kept & above;
        assign next_level2[2*p+:2]  = next_level1[p] ? code : 2'd0;
        assign masked[16*p+:16]     = kept ? plane : 16'd0;
        assign all_widths[64*(p/8)+5*(p%8)+:5] = kept ? width : 5'd0;
        assign code_lengths[2*p+:2] = {level1[p], 1'b0};
    end
    for (genvar k = 0; k < 4; k++) assign all_widths[64*k+40+:24] = 24'd0;
    always_ff @(posedge clk) begin
        if (move) begin
            level1 <= next_level1;
            level2 <= next_level2;
            items  <= exact ? values[{index, 7'd0}+:128] : masked[{index, 7'd0}+:128];
            widths <= exact ? {8{5'd16}} : all_widths[{index, 6'd0}+:40];
        end
    end

    // 2. to 4. Codes of the second level, and the planes.
    logic [63:0]  codes;
    logic [6:0]   codes_length;
    logic [127:0] body;
    logic [7:0]   body_length;
    bit_join #(.ITEMS(32), .WIDTH(2), .REGISTERS('b111000)) join_codes (
        .clk, .move, .items(level2), .lengths(code_lengths), .bits(codes), .total(codes_length)
    );
    bit_join #(.ITEMS(8), .WIDTH(16), .REGISTERS('b1110)) join_planes (
        .clk, .move, .items, .lengths(widths), .bits(body), .total(body_length)
    );

    // 5. The word, with what accompanies it.
    localparam int BESIDE = 54;
    logic [31:0]         flags;
    logic [13:0]         head4;
    logic [5:0]          planes4;
    logic                zero4, first4;
    logic [BESIDE-1:0]   beside1;
    logic [3*BESIDE-1:0] beside;
    always_ff @(posedge clk) begin
        if (move) begin
            beside1 <= {32'd0, head, exact ? 6'd0 : planes, zero, first};
            beside  <= {beside[2*BESIDE-1:0], level1, beside1[BESIDE-33:0]};
        end
    end
    assign {flags, head4, planes4, zero4, first4} = beside[3*BESIDE-1-:BESIDE];
    always_ff @(posedge clk) begin
        if (move) begin
            if (~first4) {word, length} <= {body, body_length};
            else if (zero4) {word, length} <= {128'd0, 8'd1};
            else begin
                word   <= 128'(head4) | 128'(flags) << 14 | 128'(codes) << (7'd14 + {1'b0, planes4});
                length <= 8'd14 + {2'b0, planes4} + {1'b0, codes_length};
            end
        end
    end
endmodule
