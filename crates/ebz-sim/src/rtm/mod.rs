//! Reverse time migration.
