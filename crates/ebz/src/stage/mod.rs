//! The stages that codecs are made of, as pairs: forward and inverse, encode and decode.

pub mod bits;
pub mod huffman;
pub mod varint;
