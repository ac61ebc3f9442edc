//! A communicator: the MPI calls that this crate uses.
//!
//! All calls use the `PMPI_` names, so that a library that replaces the `MPI_` ones can use this crate.

use crate::error::{Error, Result};
use crate::speed::Speeds;
use mpi::ffi;
use mpi::traits::AsRaw;
use std::cell::RefCell;
use std::ffi::{CStr, c_int, c_void};
use std::ptr;

/// Maximum size of a single message or file access in bytes; MPI counts are 32-bit.
pub(crate) const MAX_MESSAGE_BYTES: usize = 1 << 28;

/// `MPI_IN_PLACE` of Open MPI.
pub const IN_PLACE: *const c_void = ptr::without_provenance(1);

/// Purpose of a message; messages of one purpose between two ranks stay in order.
#[derive(Debug, Clone, Copy)]
#[repr(i32)]
pub(crate) enum Tag {
    Slab = 71,
    Exact,
    Redistribute,
    Probe,
    Raw,
    Reduce,
    Share,
    Pair,
}

/// A duplicate of the communicator that it was created from.
#[derive(Debug)]
pub struct Comm {
    raw: ffi::MPI_Comm,
    rank: usize,
    size: usize,
    one_host: bool,
    /// Measurements so far.
    pub(crate) speeds: RefCell<Speeds>,
}

/// Converts an MPI error code to an error.
pub(crate) fn check(call: &'static str, code: c_int) -> Result<()> {
    if code == ffi::MPI_SUCCESS as c_int {
        return Ok(());
    }
    let mut text = [0; ffi::MPI_MAX_ERROR_STRING as usize + 1];
    let mut length = 0;
    // SAFETY: the buffer has room for the longest text, and stays null-terminated.
    let text = unsafe {
        ffi::PMPI_Error_string(code, text.as_mut_ptr(), &mut length);
        CStr::from_ptr(text.as_ptr()).to_string_lossy().into_owned()
    };
    Err(Error::Mpi { call, text })
}

fn count(bytes: usize) -> Result<c_int> {
    c_int::try_from(bytes).map_err(|_| ebz::Error::invalid("a message beyond 2^31 bytes").into())
}

/// Number of ranks that share memory with this one.
///
/// # Safety
/// A valid communicator.
unsafe fn ranks_on_host(comm: ffi::MPI_Comm) -> Result<c_int> {
    let mut size = 0;
    // SAFETY: guaranteed by the caller; constants of MPI.
    unsafe {
        let (mut host, info) = (ffi::RSMPI_COMM_NULL, ffi::RSMPI_INFO_NULL);
        let shared = ffi::RSMPI_COMM_TYPE_SHARED;
        let code = ffi::PMPI_Comm_split_type(comm, shared, 0, info, &mut host);
        check("MPI_Comm_split_type", code)?;
        check("MPI_Comm_size", ffi::PMPI_Comm_size(host, &mut size))?;
        check("MPI_Comm_free", ffi::PMPI_Comm_free(&mut host))?;
    }
    Ok(size)
}

impl Comm {
    /// A duplicate of a communicator. Collective.
    pub fn new(from: &impl AsRaw<Raw = ffi::MPI_Comm>) -> Result<Self> {
        // SAFETY: a communicator of the crate `mpi` is valid.
        unsafe { Self::from_raw(from.as_raw()) }
    }

    /// A duplicate of a communicator. Collective.
    ///
    /// # Safety
    /// MPI is initialized, and `from` is a valid intracommunicator.
    pub unsafe fn from_raw(from: ffi::MPI_Comm) -> Result<Self> {
        let (mut rank, mut size) = (0, 0);
        // SAFETY: the caller guarantees that `from` is valid.
        unsafe {
            let mut raw = ffi::RSMPI_COMM_NULL;
            check("MPI_Comm_dup", ffi::PMPI_Comm_dup(from, &mut raw))?;
            // We report errors ourselves, regardless of the program's error handler.
            ffi::PMPI_Comm_set_errhandler(raw, ffi::RSMPI_ERRORS_RETURN);
            check("MPI_Comm_rank", ffi::PMPI_Comm_rank(raw, &mut rank))?;
            check("MPI_Comm_size", ffi::PMPI_Comm_size(raw, &mut size))?;
            Ok(Self {
                raw,
                rank: rank as usize,
                size: size as usize,
                one_host: ranks_on_host(raw)? == size,
                speeds: RefCell::default(),
            })
        }
    }

    /// This rank.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Number of ranks.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Whether all ranks are on one host, where messages are copies in memory: adaptive operations send
    /// raw data.
    pub fn one_host(&self) -> bool {
        self.one_host
    }

    /// Sends bytes; returns once the buffer can be reused.
    pub(crate) fn send(&self, to: usize, tag: Tag, bytes: &[u8]) -> Result<()> {
        // SAFETY: the bytes outlive the call.
        let code = unsafe {
            ffi::PMPI_Send(
                bytes.as_ptr().cast(),
                count(bytes.len())?,
                ffi::RSMPI_UINT8_T,
                to as c_int,
                tag as c_int,
                self.raw,
            )
        };
        check("MPI_Send", code)
    }

    /// Sends bytes of any length, split into messages of at most [`MAX_MESSAGE_BYTES`].
    pub(crate) fn send_long(&self, to: usize, tag: Tag, bytes: &[u8]) -> Result<()> {
        let mut pieces = bytes.chunks(MAX_MESSAGE_BYTES);
        pieces.try_for_each(|piece| self.send(to, tag, piece))
    }

    /// Receives what [`Self::send_long`] sends, with exactly this length.
    pub(crate) fn receive_long(&self, from: usize, tag: Tag, into: &mut [u8]) -> Result<()> {
        let mut pieces = into.chunks_mut(MAX_MESSAGE_BYTES);
        pieces.try_for_each(|piece| self.ireceive(from, tag, piece)?.wait())
    }

    /// Starts to send bytes.
    pub(crate) fn isend(&self, to: usize, tag: Tag, bytes: Vec<u8>) -> Result<Sending> {
        // SAFETY: the request is set by the call.
        let mut request = unsafe { ffi::RSMPI_REQUEST_NULL };
        // SAFETY: the result owns the bytes, and waits before it frees them.
        let code = unsafe {
            ffi::PMPI_Isend(
                bytes.as_ptr().cast(),
                count(bytes.len())?,
                ffi::RSMPI_UINT8_T,
                to as c_int,
                tag as c_int,
                self.raw,
                &mut request,
            )
        };
        check("MPI_Isend", code)?;
        Ok(Sending { request, bytes })
    }

    /// Waits for a message, from a rank or from any, and returns its sender.
    pub(crate) fn receive(
        &self,
        from: Option<usize>,
        tag: Tag,
        into: &mut Vec<u8>,
    ) -> Result<usize> {
        // SAFETY: plain old data of MPI, set by the call.
        let (mut status, mut message) = unsafe {
            (
                std::mem::zeroed::<ffi::MPI_Status>(),
                ffi::RSMPI_MESSAGE_NULL,
            )
        };
        // SAFETY: constants of MPI.
        let source = from.map_or(unsafe { ffi::RSMPI_ANY_SOURCE }, |rank| rank as c_int);
        // SAFETY: all pointers are to live values.
        let code =
            unsafe { ffi::PMPI_Mprobe(source, tag as c_int, self.raw, &mut message, &mut status) };
        check("MPI_Mprobe", code)?;
        let mut length = 0;
        // SAFETY: the status was set above.
        let code = unsafe { ffi::PMPI_Get_count(&status, ffi::RSMPI_UINT8_T, &mut length) };
        check("MPI_Get_count", code)?;
        into.clear();
        into.resize(length as usize, 0);
        // SAFETY: there is room for this many bytes.
        let code = unsafe {
            ffi::PMPI_Mrecv(
                into.as_mut_ptr().cast(),
                length,
                ffi::RSMPI_UINT8_T,
                &mut message,
                ffi::RSMPI_STATUS_IGNORE,
            )
        };
        check("MPI_Mrecv", code)?;
        Ok(status.MPI_SOURCE as usize)
    }

    /// Starts to receive a message of exactly this length.
    pub(crate) fn ireceive(&self, from: usize, tag: Tag, into: &mut [u8]) -> Result<Receiving> {
        // SAFETY: a constant of MPI.
        let mut request = unsafe { ffi::RSMPI_REQUEST_NULL };
        // SAFETY: the caller waits before the memory is used or freed.
        let code = unsafe {
            ffi::PMPI_Irecv(
                into.as_mut_ptr().cast(),
                count(into.len())?,
                ffi::RSMPI_UINT8_T,
                from as c_int,
                tag as c_int,
                self.raw,
                &mut request,
            )
        };
        check("MPI_Irecv", code)?;
        Ok(Receiving(request))
    }

    /// The words of all ranks, in rank order.
    pub(crate) fn allgather(&self, words: &[u64]) -> Result<Vec<u64>> {
        let mut all = vec![0; words.len() * self.size];
        let length = count(words.len())?;
        // SAFETY: every rank sends the same number of words, and there is room for all.
        let code = unsafe {
            ffi::PMPI_Allgather(
                words.as_ptr().cast(),
                length,
                ffi::RSMPI_UINT64_T,
                all.as_mut_ptr().cast(),
                length,
                ffi::RSMPI_UINT64_T,
                self.raw,
            )
        };
        check("MPI_Allgather", code)?;
        Ok(all)
    }

    /// Two numbers of every rank. Collective.
    pub fn allgather_pair(&self, words: [u64; 2]) -> Result<Vec<[u64; 2]>> {
        let all = self.allgather(&words)?;
        Ok(all.as_chunks::<2>().0.to_vec())
    }

    /// Bytes of every rank, of any length.
    pub(crate) fn allgather_bytes(&self, bytes: &[u8]) -> Result<Vec<Vec<u8>>> {
        let lengths = self.allgather(&[bytes.len() as u64])?;
        let counts = lengths.iter().map(|&n| count(n as usize));
        let counts = counts.collect::<Result<Vec<c_int>>>()?;
        let mut total = 0usize;
        let mut starts = Vec::new();
        for &n in &lengths {
            starts.push(count(total)?);
            total += n as usize;
        }
        if total == 0 {
            // An empty buffer has no unique address, and MPI may report aliasing.
            return Ok(vec![Vec::new(); self.size]);
        }
        let mut all = vec![0u8; total];
        // SAFETY: counts and displacements partition `all`.
        let code = unsafe {
            ffi::PMPI_Allgatherv(
                bytes.as_ptr().cast(),
                counts[self.rank],
                ffi::RSMPI_UINT8_T,
                all.as_mut_ptr().cast(),
                counts.as_ptr(),
                starts.as_ptr(),
                ffi::RSMPI_UINT8_T,
                self.raw,
            )
        };
        check("MPI_Allgatherv", code)?;
        let mut rest = &all[..];
        let parts = lengths.iter().map(|&n| {
            let (part, after) = rest.split_at(n as usize);
            rest = after;
            part.to_vec()
        });
        Ok(parts.collect())
    }

    /// The element-wise maximum.
    pub(crate) fn max(&self, words: &mut [u64]) -> Result<()> {
        let mine = words.to_vec();
        // SAFETY: both hold the same number of words.
        let code = unsafe {
            ffi::PMPI_Allreduce(
                mine.as_ptr().cast(),
                words.as_mut_ptr().cast(),
                count(words.len())?,
                ffi::RSMPI_UINT64_T,
                ffi::RSMPI_MAX,
                self.raw,
            )
        };
        check("MPI_Allreduce", code)
    }

    /// Broadcasts bytes of any length below 2³¹.
    pub(crate) fn broadcast(&self, root: usize, bytes: &mut Vec<u8>) -> Result<()> {
        let mut length = bytes.len() as u64;
        let pointer: *mut c_void = ptr::from_mut(&mut length).cast();
        // SAFETY: one word.
        let code =
            unsafe { ffi::PMPI_Bcast(pointer, 1, ffi::RSMPI_UINT64_T, root as c_int, self.raw) };
        check("MPI_Bcast", code)?;
        bytes.resize(length as usize, 0);
        self.broadcast_in_place(root, bytes)
    }

    /// Broadcasts bytes; the others have room for exactly that many.
    pub(crate) fn broadcast_in_place(&self, root: usize, bytes: &mut [u8]) -> Result<()> {
        for piece in bytes.chunks_mut(MAX_MESSAGE_BYTES) {
            // SAFETY: every rank has room for this many bytes.
            let code = unsafe {
                ffi::PMPI_Bcast(
                    piece.as_mut_ptr().cast(),
                    count(piece.len())?,
                    ffi::RSMPI_UINT8_T,
                    root as c_int,
                    self.raw,
                )
            };
            check("MPI_Bcast", code)?;
        }
        Ok(())
    }

    /// Waits for all ranks.
    pub(crate) fn barrier(&self) -> Result<()> {
        // SAFETY: the communicator is valid.
        check("MPI_Barrier", unsafe { ffi::PMPI_Barrier(self.raw) })
    }

    /// Exchanges results: if one rank failed, all fail. Collective; ends a section in which single ranks
    /// may fail.
    pub fn settle<T>(&self, result: Result<T>) -> Result<T> {
        let size = self.size as u64;
        // The lowest rank that failed.
        let mut worst = [match &result {
            Ok(_) => 0,
            Err(_) => size - self.rank as u64,
        }];
        self.max(&mut worst)?;
        if worst[0] == 0 {
            return result;
        }
        let rank = (size - worst[0]) as usize;
        let mut text = match &result {
            Err(error) if rank == self.rank => error.to_string().into_bytes(),
            _ => Vec::new(),
        };
        self.broadcast(rank, &mut text)?;
        let text = String::from_utf8_lossy(&text).into_owned();
        Err(match result {
            Err(error) => error,
            Ok(_) => Error::Other { rank, text },
        })
    }
}

// SAFETY: a valid communicator, for as long as this one is.
unsafe impl AsRaw for Comm {
    type Raw = ffi::MPI_Comm;

    fn as_raw(&self) -> ffi::MPI_Comm {
        self.raw
    }
}

impl Drop for Comm {
    fn drop(&mut self) {
        let mut ended = 0;
        // SAFETY: the communicator is ours; none is freed after MPI is finalized.
        unsafe {
            ffi::PMPI_Finalized(&mut ended);
            if ended == 0 {
                ffi::PMPI_Comm_free(&mut self.raw);
            }
        }
    }
}

/// A send in flight.
#[derive(Debug)]
pub(crate) struct Sending {
    request: ffi::MPI_Request,
    bytes: Vec<u8>,
}

impl Sending {
    /// Lets MPI make progress, and returns whether the send is complete.
    pub fn is_done(&mut self) -> Result<bool> {
        let mut done = 0;
        // SAFETY: the request is ours; MPI makes it null once it is done.
        let code =
            unsafe { ffi::PMPI_Test(&mut self.request, &mut done, ffi::RSMPI_STATUS_IGNORE) };
        check("MPI_Test", code)?;
        Ok(done != 0)
    }

    /// Waits for completion, and returns the buffer.
    pub fn wait(mut self) -> Result<Vec<u8>> {
        // SAFETY: as above; waiting for the null request returns immediately.
        let code = unsafe { ffi::PMPI_Wait(&mut self.request, ffi::RSMPI_STATUS_IGNORE) };
        check("MPI_Wait", code)?;
        Ok(std::mem::take(&mut self.bytes))
    }
}

impl Drop for Sending {
    fn drop(&mut self) {
        // SAFETY: the memory may be freed only after this.
        unsafe { ffi::PMPI_Wait(&mut self.request, ffi::RSMPI_STATUS_IGNORE) };
    }
}

/// A receive in flight.
#[derive(Debug)]
pub(crate) struct Receiving(ffi::MPI_Request);

impl Receiving {
    /// Waits for the message.
    pub fn wait(mut self) -> Result<()> {
        // SAFETY: the request is ours.
        let code = unsafe { ffi::PMPI_Wait(&mut self.0, ffi::RSMPI_STATUS_IGNORE) };
        check("MPI_Wait", code)
    }
}
