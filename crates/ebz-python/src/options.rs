//! Compression options as keyword arguments.

use crate::error::Result;
use ebz::{Bound as ErrorBound, BoundKind, Error};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict};
use serde_json::Value;

/// Validated options: the keyword arguments of `compress` and `save`.
#[pyclass(frozen, module = "ebz._core")]
pub struct Options(pub ebz::Options);

#[pymethods]
impl Options {
    #[new]
    #[pyo3(signature = (*, abs=None, range=None, pointwise=None, psnr=None, ratio=None,
        precision=None, lossless=false, codec=ebz::codec::DEFAULT, favor="balanced", threads=1, fill="auto",
        clip="auto", keep_zeros=false, one_pass=false, chunk=None, params=None, metadata=None, for_rewriting=false))]
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
        favor: &str,
        threads: usize,
        fill: &str,
        clip: &str,
        keep_zeros: bool,
        one_pass: bool,
        chunk: Option<Vec<usize>>,
        params: Option<&Bound<'_, PyDict>>,
        metadata: Option<&str>,
        for_rewriting: bool,
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
        options.favor = favor.parse()?;
        options.fill = fill.parse()?;
        options.clip = clip.parse()?;
        options.keep_zeros = keep_zeros;
        options.one_pass = one_pass;
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
        if for_rewriting {
            options = options.for_rewriting();
        }
        options.check()?;
        Ok(Self(options))
    }
}

/// Keyword arguments, as JSON, from the parameters of an HDF5 filter.
#[pyfunction]
pub fn hdf5_settings(words: Vec<u32>) -> Result<String> {
    let (options, _) = ebz::hdf5::from_words(&words)?;
    let mut settings = serde_json::Map::new();
    let bound = match options.bound {
        ErrorBound::Lossless => true.into(),
        bound => bound.value().into(),
    };
    settings.insert(options.bound.kind().name().into(), bound);
    if options.is_auto() && options.favor != ebz::Favor::default() {
        settings.insert("favor".into(), options.favor.name().into());
    }
    settings.insert("codec".into(), options.codec.into());
    let values = options.fill.values();
    if !values.is_empty() || !options.fill.is_auto() {
        let auto = options.fill.is_auto().then(|| Value::from("auto"));
        let values = values.as_slice().iter().map(|&value| Value::from(value));
        let all: Vec<Value> = auto.into_iter().chain(values).collect();
        settings.insert("fill".into(), all.into());
    }
    if options.clip != ebz::Clip::Auto {
        settings.insert("clip".into(), options.clip.to_string().into());
    }
    if options.keep_zeros {
        settings.insert("keep_zeros".into(), true.into());
    }
    if !options.params.is_empty() {
        let params = serde_json::to_value(&options.params)
            .map_err(|error| Error::invalid(format!("codec parameters: {error}")))?;
        settings.insert("params".into(), params);
    }
    Ok(Value::Object(settings).to_string())
}

/// The only bound given.
fn bound(choices: &[(BoundKind, Option<f64>)]) -> ebz::Result<ErrorBound> {
    let given = |&(kind, value): &(BoundKind, Option<f64>)| Some((kind, value?));
    let mut given = choices.iter().filter_map(given);
    match (given.next(), given.next()) {
        (Some((kind, value)), None) => ErrorBound::new(kind, value),
        (None, _) => Err(Error::invalid(
            "no bound: pass one of abs, range, pointwise, psnr, ratio or precision, or \
             lossless=True",
        )),
        (Some((first, _)), Some((second, _))) => Err(Error::invalid(format!(
            "{} and {}: pass only one bound",
            first.name(),
            second.name()
        ))),
    }
}
