//! The buffers of a batch by role.

/// Role of a buffer in a batch.
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

/// Buffers kept from batch to batch, each as large as the largest batch needed.
#[derive(Debug, Default)]
pub(crate) struct Buffers(pub [Option<wgpu::Buffer>; ROLES]);
