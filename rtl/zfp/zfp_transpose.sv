// Transposes four lines of four lanes at a time; with DEPTH > 1, four times DEPTH lines, of which
// every DEPTHth belong together. Lines leave 4 DEPTH steps after they entered; `columns` toggles at
// the same interval. Lines that entered as rows leave as columns, while the next lines enter as
// columns.
module zfp_transpose #(
    parameter int DEPTH = 1
) (
    input  logic         clk,
    input  logic         step,
    input  logic         columns,
    input  logic [127:0] i_line,
    output logic [127:0] o_line
);
    localparam int CELL = 32 * DEPTH;

    logic [16*CELL-1:0] cells;  // cell (row, column) at 4 row + column, oldest entry least significant

    for (genvar row = 0; row < 4; row++) begin : rows
        assign o_line[32*row+:32] = columns ? cells[4*row*CELL+:32] : cells[row*CELL+:32];
        for (genvar column = 0; column < 4; column++) begin : line
            logic [31:0] from_row, from_column;
            if (row == 3) assign from_row = i_line[32*column+:32];
            else assign from_row = cells[(4*row+4+column)*CELL+:32];
            if (column == 3) assign from_column = i_line[32*row+:32];
            else assign from_column = cells[(4*row+column+1)*CELL+:32];

            logic [CELL+31:0] shifted;
            assign shifted = {columns ? from_column : from_row, cells[(4*row+column)*CELL+:CELL]};
            always_ff @(posedge clk) if (step) cells[(4*row+column)*CELL+:CELL] <= shifted[CELL+31:32];
        end
    end
endmodule
