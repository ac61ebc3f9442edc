//! The steps that codecs are built from, in forward / inverse pairs.

pub(crate) mod block_transform;
