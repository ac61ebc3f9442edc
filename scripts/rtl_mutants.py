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
    ("fre/fre_decompress.sv", "have_next | total <= 6'd32", "have_next"),
    ("fre/fre_decompress.sv", "have & (have_next | total <= 6'd32)", "have"),
    ("fre/fre_decompress.sv", "total[4:0] != 5'd0", "1'b0"),
    ("fre/fre_decompress.sv", "step & ~more", "step"),
    ("fre/fre_decompress.sv", "~first | skip_word", "~first"),
    ("zfp/flit_join.sv", "c_last & total <= 8'd128", "c_last & total < 8'd128"),
    ("zfp/flit_join.sv", "total[7] | c_last", "total[7]"),
    ("zfp/flit_join.sv", "ends ? 7'd0 : total[6:0]", "total[6:0]"),
    ("zfp/bit_reader.sv", "have_next | total <= 8'd128", "have_next"),
    ("zfp/bit_reader.sv", "have & ~skip & (have_next | total <= 8'd128)", "have & ~skip"),
    ("zfp/bit_reader.sv", "last & total > 8'd128", "1'b0"),
    ("zfp/bit_reader.sv", "total[7] | last", "total[7]"),
    ("zfp/bit_join.sv", "low + high", "low"),
    ("zfp/zfp_lift.sv", "y - half(w)", "y - w"),
    ("zfp/zfp_lift.sv", "z + z - y", "z + z + y"),
    ("zfp/zfp_lift.sv", "bypass2 ? line2 : third(line2)", "third(line2)"),
    ("zfp/zfp_transpose.sv", "columns ? from_column : from_row", "from_row"),
    ("zfp/zfp_quantize.sv", "shift > 8'd31", "shift > 8'd28"),
    ("zfp/zfp_quantize.sv", "value[31] ? -size : size", "value[31] ? ~size : size"),
    ("zfp/zfp_dequantize.sv", "aligned[8] | aligned[6:0] != 7'd0", "1'b1"),
    ("zfp/zfp_dequantize.sv", "{9'd0, rounded[24]}", "10'd0"),
    ("zfp/zfp_forward.sv", "larger(largest, 8'd30)", "largest"),
    ("zfp/zfp_forward.sv", "largest >= special", "largest > special"),
    ("zfp/zfp_forward.sv", "larger(largest_so_far, row_largest)", "row_largest"),
    ("zfp/zfp_forward.sv", "collected == '0 ? line_nonzero : b_nonzero | line_nonzero", "b_nonzero | line_nonzero"),
    ("zfp/zfp_forward.sv", "flush & drain != 6'd0", "1'b0"),
    ("zfp/zfp_forward.sv", "~filled[INDEX] | take", "~filled[INDEX]"),
    ("zfp/zfp_forward.sv", "~full | b_ready", "1'b1"),
    ("zfp/zfp_pack.sv", "6'(p) < planes", "6'(p) <= planes"),
    ("zfp/zfp_pack.sv", "last & final_", "last"),
    ("zfp/zfp_pack.sv", "~b_exact & (b_nonzero & ~(32'hffffffff >> b_planes)) == 32'd0", "1'b0"),
    ("zfp/zfp_pack.sv", "~busy | move & final_", "~busy"),
    ("zfp/zfp_v_class.sv", "plane[15:4] == '0", "plane[15:5] == '0"),
    ("zfp/de_zfp_encode.sv", "plane[63:42] == '0", "plane[63:43] == '0"),
    ("zfp/de_zfp_decode.sv", "{3'd7, 7'd39}", "{3'd7, 7'd38}"),
    ("zfp/zfp_unpack.sv", "window[5:1] == 5'd0 ? 6'd32 : {1'b0, window[5:1]}", "{1'b0, window[5:1]}"),
    ("zfp/zfp_unpack.sv", "enable & ready & (~b_valid | b_ready)", "enable & ready"),
    ("zfp/zfp_unpack.sv", "5'(i) < widths_now[5*p+:5]", "5'(i) <= widths_now[5*p+:5]"),
    ("zfp/zfp_inverse.sv", "~o_valid | o_ready", "1'b1"),
    ("zfp/zfp_inverse.sv", "flush & drain != 6'd0", "1'b0"),
    ("zfp/zfp_compress.sv", "wanted > 10'sd32", "1'b0"),
    ("zfp/zfp_compress.sv", "wanted < 10'sd0", "1'b0"),
    ("zfp/zfp_decompress.sv", "have_header & ends & blocks_left == 32'd1", "1'b0"),
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
