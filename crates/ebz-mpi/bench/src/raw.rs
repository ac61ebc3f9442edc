//! MPI's own operations, for comparison.

use ebz_mpi::Comm;
use ebz_mpi::mpi::ffi;
use std::ffi::{CString, c_int};

const TAG: c_int = 5;

fn check(code: c_int) {
    assert_eq!(code, ffi::MPI_SUCCESS as c_int, "MPI failed");
}

/// `MPI_Gather` to rank 0.
pub fn gather(values: &[f32], out: &mut [f32]) {
    let count = values.len() as c_int;
    // SAFETY: every rank sends the same number of values, and rank 0 has room for all.
    check(unsafe {
        ffi::MPI_Gather(
            values.as_ptr().cast(),
            count,
            ffi::RSMPI_FLOAT,
            out.as_mut_ptr().cast(),
            count,
            ffi::RSMPI_FLOAT,
            0,
            ffi::RSMPI_COMM_WORLD,
        )
    });
}

/// `MPI_Allgather`.
pub fn allgather(values: &[f32], out: &mut [f32]) {
    let count = values.len() as c_int;
    // SAFETY: every rank sends the same number of values, and has room for all.
    check(unsafe {
        ffi::MPI_Allgather(
            values.as_ptr().cast(),
            count,
            ffi::RSMPI_FLOAT,
            out.as_mut_ptr().cast(),
            count,
            ffi::RSMPI_FLOAT,
            ffi::RSMPI_COMM_WORLD,
        )
    });
}

/// `MPI_Scatter` from rank 0.
pub fn scatter(values: &[f32], out: &mut [f32]) {
    let count = out.len() as c_int;
    // SAFETY: every rank receives the same number of values, and rank 0 has all.
    check(unsafe {
        ffi::MPI_Scatter(
            values.as_ptr().cast(),
            count,
            ffi::RSMPI_FLOAT,
            out.as_mut_ptr().cast(),
            count,
            ffi::RSMPI_FLOAT,
            0,
            ffi::RSMPI_COMM_WORLD,
        )
    });
}

/// `MPI_Bcast` from rank 0.
pub fn bcast(values: &mut [f32]) {
    let (to, count) = (values.as_mut_ptr().cast(), values.len() as c_int);
    // SAFETY: every rank has the same number of values.
    check(unsafe { ffi::MPI_Bcast(to, count, ffi::RSMPI_FLOAT, 0, ffi::RSMPI_COMM_WORLD) });
}

/// Sums of `MPI_Allreduce`.
pub fn allreduce(values: &[f32], out: &mut [f32]) {
    // SAFETY: every rank has the same number of values, and room for the sums.
    check(unsafe {
        ffi::MPI_Allreduce(
            values.as_ptr().cast(),
            out.as_mut_ptr().cast(),
            values.len() as c_int,
            ffi::RSMPI_FLOAT,
            ffi::RSMPI_SUM,
            ffi::RSMPI_COMM_WORLD,
        )
    });
}

/// `MPI_Send` to rank 0.
pub fn send_values(values: &[f32]) {
    let (from, count) = (values.as_ptr().cast(), values.len() as c_int);
    // SAFETY: the values outlive the call.
    check(unsafe { ffi::MPI_Send(from, count, ffi::RSMPI_FLOAT, 0, TAG, ffi::RSMPI_COMM_WORLD) });
}

/// `MPI_Recv`.
pub fn receive_values(out: &mut [f32], from: usize) {
    // SAFETY: there is room for this many values.
    check(unsafe {
        ffi::MPI_Recv(
            out.as_mut_ptr().cast(),
            out.len() as c_int,
            ffi::RSMPI_FLOAT,
            from as c_int,
            TAG,
            ffi::RSMPI_COMM_WORLD,
            ffi::RSMPI_STATUS_IGNORE,
        )
    });
}

/// A send to rank 0 in flight.
pub struct Sending {
    request: ffi::MPI_Request,
    _bytes: Vec<u8>,
}

/// `MPI_Isend` to rank 0.
pub fn send(bytes: Vec<u8>) -> Sending {
    // SAFETY: the result owns the bytes, and waits before it frees them.
    unsafe {
        let mut request = ffi::RSMPI_REQUEST_NULL;
        check(ffi::MPI_Isend(
            bytes.as_ptr().cast(),
            bytes.len() as c_int,
            ffi::RSMPI_UINT8_T,
            0,
            TAG,
            ffi::RSMPI_COMM_WORLD,
            &mut request,
        ));
        Sending {
            request,
            _bytes: bytes,
        }
    }
}

impl Drop for Sending {
    fn drop(&mut self) {
        // SAFETY: the request is ours.
        check(unsafe { ffi::MPI_Wait(&mut self.request, ffi::RSMPI_STATUS_IGNORE) });
    }
}

/// Waits for bytes from any rank, and returns its number.
pub fn receive(bytes: &mut Vec<u8>) -> usize {
    // SAFETY: the buffer has the length of the message, which is queried first.
    unsafe {
        let mut status = std::mem::zeroed::<ffi::MPI_Status>();
        let mut count = 0;
        let (any, world) = (ffi::RSMPI_ANY_SOURCE, ffi::RSMPI_COMM_WORLD);
        check(ffi::MPI_Probe(any, TAG, world, &mut status));
        check(ffi::MPI_Get_count(&status, ffi::RSMPI_UINT8_T, &mut count));
        bytes.resize(count as usize, 0);
        check(ffi::MPI_Recv(
            bytes.as_mut_ptr().cast(),
            count,
            ffi::RSMPI_UINT8_T,
            status.MPI_SOURCE,
            TAG,
            world,
            ffi::RSMPI_STATUS_IGNORE,
        ));
        status.MPI_SOURCE as usize
    }
}

/// Writes the bytes of all ranks to one file, in the order of the ranks: `MPI_File_write_at_all`
/// and `MPI_File_sync`.
pub fn write(comm: &Comm, path: &str, bytes: &[u8]) {
    let lengths = comm
        .allgather_pair([bytes.len() as u64, 0])
        .expect("all ranks");
    let offset: u64 = lengths[..comm.rank()].iter().map(|pair| pair[0]).sum();
    let name = CString::new(path).expect("a path");
    // SAFETY: the name is null-terminated, and the bytes outlive the call.
    unsafe {
        let mode = (ffi::MPI_MODE_CREATE | ffi::MPI_MODE_WRONLY) as c_int;
        let mut file = ffi::RSMPI_FILE_NULL;
        let (world, info) = (ffi::RSMPI_COMM_WORLD, ffi::RSMPI_INFO_NULL);
        check(ffi::MPI_File_open(
            world,
            name.as_ptr(),
            mode,
            info,
            &mut file,
        ));
        check(ffi::MPI_File_set_size(file, 0));
        check(ffi::MPI_File_write_at_all(
            file,
            offset as ffi::MPI_Offset,
            bytes.as_ptr().cast(),
            bytes.len() as c_int,
            ffi::RSMPI_UINT8_T,
            ffi::RSMPI_STATUS_IGNORE,
        ));
        check(ffi::MPI_File_sync(file));
        check(ffi::MPI_File_close(&mut file));
    }
}
