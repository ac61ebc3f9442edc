//! The buffers of a batch, by what they are for.

/// What a buffer of a batch is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Table,
    Values,
    Marks,
    Slots,
    States,
    Offsets,
    Bodies,
    Tiles,
    Staging,
}

const ROLES: usize = Role::Staging as usize + 1;

/// Buffers that are kept from batch to batch, each as large as the largest batch needed.
#[derive(Debug, Default)]
pub(crate) struct Buffers(pub [Option<wgpu::Buffer>; ROLES]);
