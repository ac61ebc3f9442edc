//! What every codec of ebz is held against.
//!
//! [`fields`] makes arrays, [`exact`] judges a single value, [`conformance`] judges a codec on an
//! array, [`corruption`] damages files, [`fuzz`] turns arbitrary bytes into calls, [`golden`] lists
//! the committed files. Everything iterates [`ebz::codec::TABLE`] and knows no codec by name.

pub mod conformance;
pub mod exact;
pub mod fields;
pub mod random;
