//! Simulations on compressed data.

pub mod picture;
pub mod rtm;
pub mod stencil;
pub mod team;
