//! CEAZ.
mod symbols;
