//! The stages that codecs are made of: forward and inverse pairs.

pub mod rans;
