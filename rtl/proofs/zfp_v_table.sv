// The classes are those of Table 2 of the BurstZ+ paper, for all planes; and no bit of a plane is
// lost.
module zfp_v_table (
    input  logic [15:0] plane,
    output logic        ok
);
    logic       level1;
    logic [1:0] level2;
    logic [4:0] width;
    zfp_v_class class_ (.plane, .level1, .level2, .width);

    logic [3:0] highest;  // index of the most significant set bit
    logic [2:0] header;   // as in the paper, first bit most significant
    always_comb begin
        highest = 4'd0;
        for (int i = 0; i < 16; i++) if (plane[i]) highest = 4'(i);
        if (highest == 4'd0) header = 3'b000;
        else if (highest == 4'd1) header = 3'b100;
        else if (highest <= 4'd3) header = 3'b101;
        else if (highest <= 4'd7) header = 3'b110;
        else header = 3'b111;
    end
    assign ok = level1 == header[2] & (~level1 | level2 == header[1:0]) & plane >> width == 16'd0
              & width == (header[2] ? 5'd2 << header[1:0] : 5'd1);
endmodule
