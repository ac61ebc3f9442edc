//! Simulations whose data lives compressed.
