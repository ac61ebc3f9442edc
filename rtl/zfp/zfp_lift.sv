// zfp's lifting of a line of four integers, forward or inverse, in three steps; a line may bypass
// it.
module zfp_lift #(
    parameter bit INVERSE = 0
) (
    input  logic         clk,
    input  logic         step,
    input  logic         bypass,
    input  logic [127:0] i_line,
    output logic [127:0] o_line
);
    logic [127:0] line1, line2;
    logic         bypass1, bypass2;

    function automatic logic signed [31:0] half(input logic signed [31:0] sum);
        half = sum >>> 1;
    endfunction

    function automatic logic [127:0] first(input logic [127:0] line);
        logic signed [31:0] x, y, z, w;
        {w, z, y, x} = line;
        if (INVERSE) begin
            y = y + half(w);
            w = w - half(y);
        end else begin
            x = half(x + w);
            w = w - x;
            z = half(z + y);
            y = y - z;
        end
        first = {w, z, y, x};
    endfunction

    function automatic logic [127:0] second(input logic [127:0] line);
        logic signed [31:0] x, y, z, w;
        {w, z, y, x} = line;
        if (INVERSE) begin
            y = y + w;
            w = w + w - y;
            z = z + x;
            x = x + x - z;
        end else begin
            x = half(x + z);
            z = z - x;
            w = half(w + y);
            y = y - w;
        end
        second = {w, z, y, x};
    endfunction

    function automatic logic [127:0] third(input logic [127:0] line);
        logic signed [31:0] x, y, z, w;
        {w, z, y, x} = line;
        if (INVERSE) begin
            y = y + z;
            z = z + z - y;
            w = w + x;
            x = x + x - w;
        end else begin
            w = w + half(y);
            y = y - half(w);
        end
        third = {w, z, y, x};
    endfunction

    always_ff @(posedge clk) begin
        if (step) begin
            line1   <= bypass ? i_line : first(i_line);
            bypass1 <= bypass;
            line2   <= bypass1 ? line1 : second(line1);
            bypass2 <= bypass1;
            o_line  <= bypass2 ? line2 : third(line2);
        end
    end
endmodule
