//! CEAZ: dual quantization, then Huffman coding with adaptive codebooks.
//!
//! ```text
//! values ─► dualquant ─► residual units ─► occupancy ─┬► labels of units ─► runs or Huffman
//!               └► exceptions                         ├► masks ───────────► Huffman
//!                                                     └► residuals ─► symbols ─► Huffman
//!                                                                └► low bits, exceptions
//! ```
//!
//! For fields that are smooth on the scale of the bound, `halving` replaces `dualquant`: every
//! second value along each axis forms a nested chunk, from which the others are predicted.
//!
//! With `symbols=centre`, the paper's coder (`centred`) replaces everything after `dualquant`.
//!
//! A chunk refers to offline codebooks by index and contains new ones, so that it can be decoded
//! independently. See `docs/codecs/ceaz.md` for the format and the differences from the paper.

mod books;
mod centred;
mod codebooks;
mod decode;
mod encode;
mod estimate;
mod halved;
mod head;
mod labels;
mod masks;
mod offline;
mod symbols;

pub use centred::centred_frequencies;
pub use encode::{Frequencies, frequencies};
pub use offline::books as offline_books;

use super::{Codec, Context, Dims, Info, Param, Params, Task};
use crate::bits::BitWriter;
use crate::bound::BoundKind;
use crate::element::Float;
use crate::error::{Error, Result};
use crate::stage::exceptions::Exceptions;
use crate::stage::huffman::{Sort, Table};
use crate::stage::occupancy::{GROUPS, Occupancy};
use books::Rule;

/// The codec `ceaz`.
pub(super) struct Ceaz;

impl Codec for Ceaz {
    const INFO: Info = Info {
        id: 5,
        name: "ceaz",
        summary: "dual quantization and Huffman coding with adaptive codebooks: high ratios, fast",
        tolerances: &[BoundKind::Abs, BoundKind::Pointwise, BoundKind::Lossless],
        params: &[
            Param {
                name: "books",
                default: "cost",
                help: "how codebooks are chosen: cost (by exact size), offline (built-in ones only), or \
                       chi (the paper's rule, with symbols=centre)",
            },
            Param {
                name: "sort",
                default: "exact",
                help: "how symbols are sorted for a new book: exact, or centre (the paper's \
                       Algorithm 1)",
            },
            Param {
                name: "symbols",
                default: SYMBOLS[0],
                help: "bytes, or centre: the paper's coder of 1,024 symbols around a centre, larger and \
                       slower",
            },
            Param {
                name: "unit",
                default: "262144",
                help: "bytes of values in an update unit of symbols=centre, within a chunk; 1024 to 2^30",
            },
            Param {
                name: "rewrite",
                default: REWRITE[0],
                help: "drifts, or exact: values that were decompressed stay as they are when they \
                       are compressed again with the same abs bound; larger where fields are smooth",
            },
        ],
        rewrites_exactly: Some(&[("rewrite", REWRITE[1])]),
    };

    const QUARTERS: Option<u32> = Some(6);

    fn validate(params: &Params) -> Result<()> {
        if rule(params)? == Rule::Chi && !is_centred(params)? {
            return Err(Error::invalid(
                "books=chi requires symbols=centre, which has update units to compare",
            ));
        }
        sort(params)?;
        update_unit(params)?;
        rewrite(params)?;
        Ok(())
    }

    fn encode<T: Float>(
        values: &[T],
        task: &Task<'_>,
        context: &mut Context,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        encode_chunk(values, task, context, out)
    }

    fn decode<T: Float>(
        bytes: &[u8],
        dims: Dims,
        context: &mut Context,
        out: &mut [T],
    ) -> Result<()> {
        decode_chunk(bytes, dims, context, out)
    }
}

fn rule(params: &Params) -> Result<Rule> {
    Ok(match params.choice("books", &["cost", "chi", "offline"])? {
        "chi" => Rule::Chi,
        "offline" => Rule::Offline,
        _ => Rule::Cost,
    })
}

fn sort(params: &Params) -> Result<Sort> {
    Ok(match params.choice("sort", &["exact", "centre"])? {
        "centre" => Sort::Centre,
        _ => Sort::Exact,
    })
}

/// Alphabets, the default first.
const SYMBOLS: [&str; 2] = ["bytes", "centre"];

/// Whether the paper's coder is selected.
fn is_centred(params: &Params) -> Result<bool> {
    Ok(params.choice("symbols", &SYMBOLS)? == SYMBOLS[1])
}

/// Bytes of values in an update unit.
fn update_unit(params: &Params) -> Result<usize> {
    match params.parse("unit", 1 << 18)? {
        unit if (1 << 10..=1 << 30).contains(&unit) => Ok(unit),
        unit => Err(Error::invalid(format!(
            "unit={unit}: use 1024 to 1073741824 bytes"
        ))),
    }
}

/// How to treat values that have been decompressed before; the default first.
const REWRITE: [&str; 2] = ["drifts", "exact"];

/// Whether values may move off the lattice of the bound.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rewrite {
    Drifts,
    Exact,
}

fn rewrite(params: &Params) -> Result<Rewrite> {
    Ok(match params.choice("rewrite", &REWRITE)? {
        "exact" => Rewrite::Exact,
        _ => Rewrite::Drifts,
    })
}

/// Scratch buffers, reused between chunks.
#[derive(Default)]
struct Scratch {
    residuals: Residuals,
    exceptions: Exceptions,
    symbols: [Vec<u8>; GROUPS],
    /// Bits of residuals without a symbol of their own.
    extra: BitWriter,
    streams: Vec<u8>,
    sparse: [masks::SparseGroup; GROUPS],
    tables: Tables,
}

/// The decoding tables of new codebooks.
#[derive(Default)]
struct Tables {
    masks: Table,
    symbols: Table,
}

/// Nonzero residuals, of the width that the chunk requires.
#[derive(Default)]
struct Residuals {
    narrow: Occupancy<u16>,
    wide: Occupancy<u32>,
    widest: Occupancy<u64>,
}

/// Appends a chunk, halved if that is likely to be smaller.
fn encode_chunk<T: Float>(
    values: &[T],
    task: &Task<'_>,
    context: &mut Context,
    out: &mut Vec<u8>,
) -> Result<()> {
    if is_centred(task.params)? {
        return centred::encode(values, task, context, out);
    }
    if let Some((halving, promising)) = halved::candidate(task) {
        match encode::encode_by_lags(values, task, promising, context, out)? {
            None => return Ok(()),
            Some(cost) if halved::encode(values, task, halving, cost, context, out)? => {
                return Ok(());
            }
            Some(_) => {}
        }
    }
    encode::encode_by_lags(values, task, 0, context, out)?;
    Ok(())
}

/// Decodes the output of [`encode_chunk`].
fn decode_chunk<T: Float>(
    bytes: &[u8],
    dims: Dims,
    context: &mut Context,
    out: &mut [T],
) -> Result<()> {
    match bytes {
        [centred::CENTRED_MARK, rest @ ..] => centred::decode(rest, dims, context, out),
        _ if halved::is_halved(bytes) => halved::decode(bytes, dims, context, out),
        _ => decode::decode_by_lags(bytes, dims, context, out),
    }
}
