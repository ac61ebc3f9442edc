//! What every codec of ebz is held against.
//!
//! [`fields`] makes arrays, [`exact`] judges a single value, [`conformance`] judges a codec on an
//! array, [`corruption`] damages files, [`fuzz`] turns arbitrary bytes into calls, [`golden`] lists
//! the committed files, [`arrows`] reads who imports whom. Everything iterates [`ebz::codec::TABLE`] and knows no codec by name.

pub mod arrows;
pub mod conformance;
pub mod corruption;
pub mod exact;
pub mod fields;
pub mod fre_words;
pub mod fuzz;
pub mod golden;
pub mod layout;
pub mod random;
