//! Simulations whose data lives compressed.

pub mod picture;
pub mod rtm;
pub mod stencil;
pub mod team;
