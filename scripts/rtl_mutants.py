#!/usr/bin/env python3
"""Puts faults into copies of the cores, each behind a number, so that one build simulates them all.

    rtl_mutants.py FOLDER      writes the sources to FOLDER and prints how many faults there are

A fault replaces an expression: `a` becomes `(mutant == 7 ? (b) : (a))`. `scripts/test_rtl` shows that the tests catch
every one.
"""

import pathlib
import re
import sys

# File, expression, and what to replace it by. The expression must be there once.
MUTANTS = [
    ("common/flit_to_words.sv", "~w_valid | (w_ready & index == 2'd3)", "~w_valid"),
    ("common/flit_to_words.sv", "index + 2'd1", "index + 2'd3"),
    ("common/words_to_flit.sv", "w_last | index == 2'd3", "index == 2'd3"),
    ("common/words_to_flit.sv", "{96'd0, w_data}", "{o_data[127:32], w_data}"),
    ("common/words_to_flit.sv", "~o_valid | o_ready", "1'b1"),
    ("fre/fre_encode.sv", "exponent == 8'd255", "1'b0"),
    ("fre/fre_encode.sv", "difference[3:0] <= 4'd9", "difference[3:0] <= 4'd8"),
    ("fre/fre_encode.sv", "difference[3:0] >= 4'd7", "difference[3:0] >= 4'd8"),
    ("fre/fre_encode.sv", "second | subnormal", "second | subnormal & ~same"),
    ("fre/fre_encode.sv", "special & ~same & ~second", "special & ~second"),
    ("fre/fre_encode.sv", "~difference[3:0] + 4'd1", "~difference[3:0]"),
    ("fre/fre_encode.sv", "{6'b111110, down, 2'b0, 4'd7}", "{6'b111110, down, 2'b0, 4'd8}"),
    ("fre/fre_encode.sv", "second ? 4'b1111 : {3'b010, sign}", "second ? 4'b1110 : {3'b010, sign}"),
    ("fre/fre_decode.sv", "4'd6 + {2'b0, step[2:1]}", "4'd5 + {2'b0, step[2:1]}"),
    ("fre/fre_decode.sv", "window[WIDTH-5-:8] == 8'd255", "1'b0"),
    ("fre/fre_decode.sv", "{previous[31:27], window[WIDTH-1-:27]}", "{1'b0, previous[30:27], window[WIDTH-1-:27]}"),
    ("fre/fre_decode.sv", "down ? -{5'd0, size} : {5'd0, size}", "down ? {5'd0, size} : {5'd0, size}"),
    ("fre/fre_compact.sv", "c_last & total <= 6'd32", "c_last & total < 6'd32"),
    ("fre/fre_compact.sv", "total[5] | c_last", "total[5]"),
    ("fre/fre_compact.sv", "flush ? 32'd0 : shifted[WIDTH+30-:32]", "shifted[WIDTH+30-:32]"),
    ("fre/fre_compact.sv", "w_ready & ~flush", "w_ready"),
    ("fre/fre_compact.sv", "w_last ? 5'd0 : total[4:0]", "total[4:0]"),
    ("fre/fre_compress.sv", "left == 32'd1 & ~more", "left == 32'd1"),
    ("fre/fre_compress.sv", "~busy & in_valid & in_first & ~code_valid & compact_ready",
     "~busy & in_valid & in_first & compact_ready"),
    ("fre/fre_compress.sv", "busy & code_ready & ~more", "busy & code_ready"),
    ("fre/fre_compress.sv", "start ? in_word == 32'd0 : word_last", "start ? 1'b0 : word_last"),
    ("fre/fre_decompress.sv", "have1 | fits", "have1"),
    ("fre/fre_decompress.sv", "have0 & (have1 | fits)", "have0"),
    ("fre/fre_decompress.sv", "have1 & have2", "have1"),
    ("fre/fre_decompress.sv", "~end_[5] | end_ == 6'd32", "~end_[5]"),
    ("fre/fre_decompress.sv", "offset != 6'd0 | ~first0", "~first0"),
    ("fre/fre_decompress.sv", "code_first | ~value_more", "1'b1"),
    ("fre/fre_decompress.sv", "code_first ? 32'd0 : value", "value"),
    ("common/register_slice.sv", "~have_spare", "1'b1"),
    ("common/register_slice.sv", "have_spare | i_valid", "i_valid"),
    ("common/register_slice.sv", "have_spare ? spare : i_data", "i_data"),
    ("zfp/flit_join.sv", "last & ~over", "last"),
    ("zfp/flit_join.sv", "full | last", "full"),
    ("zfp/flit_join.sv", "total > 8'd128", "total[7]"),
    ("zfp/flit_join.sv", "c_last ? 7'd0 : total[6:0]", "total[6:0]"),
    ("zfp/flit_join.sv", "turned & ~above", "turned"),
    ("zfp/bit_join_pair.sv", "{1'b0, lengths[LENGTH-1:0]} + {1'b0, lengths[2*LENGTH-1:LENGTH]}",
     "{1'b0, lengths[LENGTH-1:0]}"),
    ("zfp/bit_split_pair.sv", "bits >> low_length", "bits >> WIDTH"),
    ("zfp/zfp_lift.sv", "y - half(w)", "y - w"),
    ("zfp/zfp_lift.sv", "z + z - y", "z + z + y"),
    ("zfp/zfp_lift.sv", "bypass2 ? line2 : third(line2)", "third(line2)"),
    ("zfp/zfp_transpose.sv", "columns ? from_column : from_row", "from_row"),
    ("zfp/zfp_quantize.sv", "shift > 8'd31", "shift > 8'd28"),
    ("zfp/zfp_quantize.sv", "negative ? -magnitude : magnitude", "negative ? ~magnitude : magnitude"),
    ("zfp/zfp_quantize.sv", "value[31] & ~bypass", "value[31]"),
    ("zfp/zfp_dequantize.sv", "aligned3[8] | aligned3[6:0] != 7'd0", "1'b1"),
    ("zfp/zfp_dequantize.sv", "integer_[31] & ~bypass", "integer_[31]"),
    ("zfp/zfp_dequantize.sv", "{9'd0, rounded[24]}", "10'd0"),
    ("zfp/zfp_forward.sv", "larger(largest, 8'd30)", "largest"),
    ("zfp/zfp_forward.sv", "largest >= special", "largest > special"),
    ("zfp/zfp_forward.sv", "larger(largest_so_far, row_largest)", "row_largest"),
    ("zfp/zfp_forward.sv", "collected == '0 ? line_nonzero : b_nonzero | line_nonzero", "b_nonzero | line_nonzero"),
    ("zfp/zfp_forward.sv", "flush & ~row_valid & drain != 6'd0", "1'b0"),
    ("zfp/zfp_forward.sv", "~filled[INDEX] | take", "~filled[INDEX]"),
    ("zfp/zfp_forward.sv", "~full | b_ready", "1'b1"),
    ("zfp/zfp_pack.sv", "last & final_", "last"),
    ("zfp/zfp_pack.sv", "~b_exact & (b_nonzero & ~(32'hffffffff >> b_planes)) == 32'd0", "1'b0"),
    ("zfp/zfp_pack.sv", "~busy | c_ready & final_", "~busy"),
    ("zfp/zfp_pack.sv", "first ? 6'd1 : index + 6'd2", "index + 6'd2"),
    ("zfp/de_zfp_word.sv", "exact1 ? {66'(plane), 8'd64} : {code, 1'b0, code_length}", "{code, 1'b0, code_length}"),
    ("zfp/zfp_v_word.sv", "6'(p) < planes", "6'(p) <= planes"),
    ("zfp/zfp_v_word.sv", "exact ? {8{5'd16}} : all_widths[{index, 6'd0}+:40]", "all_widths[{index, 6'd0}+:40]"),
    ("zfp/zfp_v_word.sv", "exact ? 6'd0 : planes", "planes"),
    ("zfp/zfp_v_class.sv", "plane[15:4] == '0", "plane[15:5] == '0"),
    ("zfp/de_zfp_encode.sv", "plane[63:42] == '0", "plane[63:43] == '0"),
    ("zfp/de_zfp_decode.sv", "{3'd7, 7'd39, 7'd46}", "{3'd7, 7'd38, 7'd45}"),
    ("zfp/de_zfp_read.sv", "have1 | fits", "have1"),
    ("zfp/de_zfp_read.sv", "have0 & (have1 | fits)", "have0"),
    ("zfp/de_zfp_read.sv", "~end_[7] | end_ == 8'd128", "~end_[7]"),
    ("zfp/de_zfp_read.sv", "offset != 8'd0", "1'b0"),
    ("zfp/de_zfp_read.sv", "{head[5:1] == 5'd0, head[5:1]}", "{1'b0, head[5:1]}"),
    ("zfp/de_zfp_read.sv", "exact2 ? window[63:0] : plane", "plane"),
    ("zfp/de_zfp_read.sv", "~(busy | valid1 | valid2 | valid3)", "1'b0"),
    ("zfp/de_zfp_read.sv", "~b_valid | b_ready", "1'b1"),
    ("zfp/zfp_v_read.sv", "~used[3]", "1'b1"),
    ("zfp/zfp_v_read.sv", "ahead != 4'd0 & ahead <= 4'd8", "ahead != 4'd0"),
    ("zfp/zfp_v_read.sv", "have & ahead != 4'd1", "have"),
    ("zfp/zfp_v_read.sv", "~had_next & head_end > 8'd128", "1'b0"),
    ("zfp/zfp_v_read.sv", "head_at[6:0] != 7'd0", "1'b1"),
    ("zfp/zfp_v_read.sv", "6'(8 * k + i) < count", "6'(8 * k + i) <= count"),
    ("zfp/zfp_v_read.sv", "{window[5:1] == 5'd0, window[5:1]}", "{1'b0, window[5:1]}"),
    ("zfp/zfp_v_read.sv", "move | ~valids[0]", "1'b1"),
    ("zfp/zfp_v_read.sv", "have_next | fits", "1'b1"),
    ("zfp/zfp_v_read.sv", "lengths[7:0] == 8'd0", "1'b0"),
    ("zfp/zfp_v_read.sv", "5'(i) < widths4[5*p+:5]", "5'(i) <= widths4[5*p+:5]"),
    ("zfp/zfp_v_read.sv", "group4 == 2'd0 ? 512'd0 : b_values", "b_values"),
    ("zfp/zfp_inverse.sv", "~o_valid | o_ready", "1'b1"),
    ("zfp/zfp_inverse.sv", "flush & drain != 6'd0", "1'b0"),
    ("zfp/zfp_compress.sv", "wanted > 10'sd32", "1'b0"),
    ("zfp/zfp_compress.sv", "wanted < 10'sd0", "1'b0"),
    ("zfp/zfp_compress.sv", "rows_left == 36'd1", "rows_left == 36'd2"),
    ("zfp/zfp_decompress.sv", "rows_left == 36'd1", "1'b0"),
]

DECLARATIONS = """
    import "DPI-C" function int mutant_number();
    int mutant;
    initial mutant = mutant_number();
"""


def main(folder):
    rtl = pathlib.Path(__file__).parent.parent / "rtl"
    sources = {str(path.relative_to(rtl)): path.read_text() for part in ("common", "fre", "zfp")
               for path in sorted((rtl / part).glob("*.sv"))}
    for name in sorted({mutant[0] for mutant in MUTANTS}):
        text = sources[name]
        here = [(number, *mutant[1:]) for number, mutant in enumerate(MUTANTS, 1) if mutant[0] == name]
        for _, expression, _ in here:
            if text.count(expression) != 1:
                sys.exit(f"{name}: '{expression}' is there {text.count(expression)} times")
        # Longer expressions first: a shorter one may be part of them.
        for number, expression, fault in sorted(here, key=lambda mutant: -len(mutant[1])):
            text = replace(text, number, expression, fault)
        sources[name] = re.sub(r"\n\);\n", "\n);" + DECLARATIONS, text, count=1)
    for name, text in sources.items():
        path = folder / name
        # Files that stay as they are need no new build.
        if not path.exists() or path.read_text() != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    print(len(MUTANTS))


def replace(text, number, expression, fault):
    """Replaces the original of an expression, also where it is part of one that has been replaced."""
    at = text.rindex(expression)
    return f"{text[:at]}(mutant == {number} ? ({fault}) : ({expression})){text[at + len(expression):]}"


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
