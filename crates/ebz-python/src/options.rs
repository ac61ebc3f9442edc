//! The options of a compression, as keyword arguments.

use crate::error::Result;
use ebz::{Bound as ErrorBound, BoundKind, Error};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict};

/// How to compress, checked once: what the keyword arguments of `compress` and `save` say.
#[pyclass(frozen, module = "ebz._core")]
pub struct Options(pub ebz::Options);

#[pymethods]
impl Options {
    #[new]
    #[pyo3(signature = (*, abs=None, range=None, pointwise=None, psnr=None, ratio=None,
        precision=None, lossless=false, codec=ebz::codec::DEFAULT, threads=1, fill=None,
        chunk=None, params=None, metadata=None))]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn new(
        abs: Option<f64>,
        range: Option<f64>,
        pointwise: Option<f64>,
        psnr: Option<f64>,
        ratio: Option<f64>,
        precision: Option<f64>,
        lossless: bool,
        codec: &str,
        threads: usize,
        fill: Option<f64>,
        chunk: Option<Vec<usize>>,
        params: Option<&Bound<'_, PyDict>>,
        metadata: Option<&str>,
    ) -> Result<Self> {
        let bound = bound(&[
            (BoundKind::Abs, abs),
            (BoundKind::Range, range),
            (BoundKind::Pointwise, pointwise),
            (BoundKind::Psnr, psnr),
            (BoundKind::Ratio, ratio),
            (BoundKind::Precision, precision),
            (BoundKind::Lossless, lossless.then_some(0.0)),
        ])?;
        let mut options = ebz::Options::new(bound).codec(codec).threads(threads);
        options.fill = fill.map_or(ebz::Fill::Auto, ebz::Fill::from);
        options.chunk = chunk;
        for (key, value) in params.into_iter().flatten() {
            let value = match value.cast::<PyBool>() {
                Ok(flag) => flag.is_true().to_string(),
                Err(_) => value.str()?.to_string(),
            };
            options.params.set(key.extract::<String>()?, value);
        }
        if let Some(json) = metadata {
            let invalid = |e| Error::invalid(format!("metadata: {e}"));
            options.metadata = Some(serde_json::from_str(json).map_err(invalid)?);
        }
        options.check()?;
        Ok(Self(options))
    }
}

/// The one bound that was given.
fn bound(choices: &[(BoundKind, Option<f64>)]) -> ebz::Result<ErrorBound> {
    let given = |&(kind, value): &(BoundKind, Option<f64>)| Some((kind, value?));
    let mut given = choices.iter().filter_map(given);
    match (given.next(), given.next()) {
        (Some((kind, value)), None) => ErrorBound::new(kind, value),
        (None, _) => Err(Error::invalid(
            "no bound: give one of abs, range, pointwise, psnr, ratio or precision, or \
             lossless=True",
        )),
        (Some((first, _)), Some((second, _))) => Err(Error::invalid(format!(
            "{} and {}: give one bound only",
            first.name(),
            second.name()
        ))),
    }
}
