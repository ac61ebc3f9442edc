// The class of a 16-bit plane, and the number of its bits that are stored (Table 2 of the BurstZ+
// paper).
module zfp_v_class (
    input  logic [15:0] plane,
    output logic        level1,  // bits above the lowest may be set
    output logic [1:0]  level2,  // then 2, 4, 8 or 16 bits
    output logic [4:0]  width
);
    always_comb begin
        if (plane[15:1] == '0) {level1, level2, width} = {1'b0, 2'd0, 5'd1};
        else if (plane[15:2] == '0) {level1, level2, width} = {1'b1, 2'd0, 5'd2};
        else if (plane[15:4] == '0) {level1, level2, width} = {1'b1, 2'd1, 5'd4};
        else if (plane[15:8] == '0) {level1, level2, width} = {1'b1, 2'd2, 5'd8};
        else {level1, level2, width} = {1'b1, 2'd3, 5'd16};
    end
endmodule
