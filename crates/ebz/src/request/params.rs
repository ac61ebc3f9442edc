//! Codec parameters, given by the user as `key=value`.

use crate::error::{Error, Result};
use std::collections::BTreeMap;

/// A parameter of a codec.
#[derive(Debug, Clone, Copy, serde::Serialize)]
pub struct Param {
    /// Its key.
    pub name: &'static str,
    /// Its default value.
    pub default: &'static str,
    /// What it does and which values it accepts.
    pub help: &'static str,
}

/// Parameters given by the user, sorted by key.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Params(BTreeMap<String, String>);

impl Params {
    /// Sets a parameter.
    pub fn set(&mut self, key: impl Into<String>, value: impl Into<String>) {
        self.0.insert(key.into(), value.into());
    }

    /// The value of a parameter, if given.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    /// All parameters, sorted by key.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (&key[..], &value[..]))
    }

    /// Whether no parameters were given.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Parses a parameter; `default` if it was not given.
    pub fn parse<V: std::str::FromStr>(&self, key: &str, default: V) -> Result<V> {
        let Some(text) = self.get(key) else {
            return Ok(default);
        };
        text.parse()
            .map_err(|_| Error::invalid(format!("parameter {key}={text}: invalid value")))
    }

    /// A parameter with one of the values `choices`, of which the first is the default.
    pub fn choice<'a>(&self, key: &str, choices: &[&'a str]) -> Result<&'a str> {
        let text = self.get(key).unwrap_or(choices[0]);
        choices
            .iter()
            .find(|c| **c == text)
            .copied()
            .ok_or_else(|| {
                Error::invalid(format!(
                    "parameter {key}={text}: use one of {}",
                    choices.join(", ")
                ))
            })
    }

    /// An error if a key is not a parameter of the codec.
    pub(crate) fn check_names(&self, codec: &str, params: &[Param]) -> Result<()> {
        let unknown = |k: &&String| !params.iter().any(|p| p.name == k.as_str());
        let Some(key) = self.0.keys().find(unknown) else {
            return Ok(());
        };
        let known: Vec<_> = params.iter().map(|p| p.name).collect();
        Err(Error::invalid(if known.is_empty() {
            format!("codec {codec} has no parameters, but '{key}' is set")
        } else {
            format!(
                "codec {codec} has no parameter '{key}': it takes {}",
                known.join(", ")
            )
        }))
    }
}
