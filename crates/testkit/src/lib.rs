//! Checks that every codec of ebz must pass.
//!
//! [`fields`] makes arrays, [`exact`] checks single values, [`conformance`] checks a codec on an
//! array, [`torture`] checks bounds on many values, [`corruption`] damages files, [`golden`] lists the
//! committed files, [`arrows`] finds import cycles. Everything iterates over [`ebz::codec::TABLE`]
//! and knows no codec by name.

pub mod arrows;
pub mod conformance;
pub mod corruption;
pub mod exact;
pub mod fields;
pub mod fre_words;
pub mod golden;
pub mod layout;
pub mod random;
pub mod torture;
