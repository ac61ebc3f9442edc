/* Parallel I/O and collectives with error-bounded compression. All functions but ebz_mpi_send and ebz_mpi_recv
   are collective. They return 0 on success; if any rank fails, all return 1, and ebz_mpi_error() gives the reason.
   Reports may be NULL. */
#ifndef EBZ_MPI_H
#define EBZ_MPI_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Values of 4 (float) or 8 (double) bytes in C order. */
typedef struct {
    void *values;
    int size;
    int axes;
    const size_t *shape;
} ebz_mpi_array;

typedef struct {
    const char *bound; /* "abs", "range", "ratio", "lossless", ... */
    double value;
    const char *codec; /* "fz", "ceaz", "interp", ... */
    const size_t *chunk; /* extents of a chunk in a file, or NULL */
    int mode; /* messages: 0 compress if faster, 1 always, 2 never */
} ebz_mpi_options;

typedef struct {
    int compressed;
    uint64_t raw_bytes;  /* of this rank; for files, of all ranks */
    uint64_t sent_bytes; /* sent by this rank; for files, the stored bytes */
    double largest_bound;
} ebz_mpi_report;

/* Writes an array of `shape`, of which this rank holds `block` at index `start`, to one .ebz file. */
int ebz_mpi_write(MPI_Comm comm, const char *path, const size_t *shape, const size_t *start,
                  const ebz_mpi_array *block, const ebz_mpi_options *options, ebz_mpi_report *report);

/* Reads a block of a frame of an .ebz file; any number of ranks, any blocks. */
int ebz_mpi_read(MPI_Comm comm, const char *path, size_t frame, const size_t *start,
                 const ebz_mpi_array *block);

/* Gathers the values of all ranks, in rank order, at one rank or at all. `count` is the total number of values. */
int ebz_mpi_gather(MPI_Comm comm, const ebz_mpi_array *array, size_t root, void *out, size_t count,
                   const ebz_mpi_options *options, ebz_mpi_report *report);
int ebz_mpi_allgather(MPI_Comm comm, const ebz_mpi_array *array, void *out, size_t count,
                      const ebz_mpi_options *options, ebz_mpi_report *report);

/* Scatters `count` values of the root, in rank order, to the arrays of the ranks. */
int ebz_mpi_scatter(MPI_Comm comm, const ebz_mpi_array *array, size_t root, const void *all, size_t count,
                    const ebz_mpi_options *options, ebz_mpi_report *report);

/* Broadcasts the array of one rank. */
int ebz_mpi_bcast(MPI_Comm comm, const ebz_mpi_array *array, size_t root, const ebz_mpi_options *options,
                  ebz_mpi_report *report);

/* Sums over all ranks, in place: the error is at most the number of ranks times the bound, and the bits are the same
   on every rank. allreduce: all ranks get the sums; reduce: the root gets them; reduce_scatter: each rank gets
   `count` of them from index `start` on. Other values are undefined afterwards. */
int ebz_mpi_allreduce(MPI_Comm comm, const ebz_mpi_array *array, const ebz_mpi_options *options,
                      ebz_mpi_report *report);
int ebz_mpi_reduce(MPI_Comm comm, const ebz_mpi_array *array, size_t root, const ebz_mpi_options *options,
                   ebz_mpi_report *report);
int ebz_mpi_reduce_scatter(MPI_Comm comm, const ebz_mpi_array *array, size_t *start, size_t *count,
                           const ebz_mpi_options *options, ebz_mpi_report *report);

/* Sends an array from one rank to another; both give the same shape and options, and return once it has arrived.
   All ranks of the communicator must have called ebz_mpi_prepare, or a function above, before. */
int ebz_mpi_prepare(MPI_Comm comm);
int ebz_mpi_send(MPI_Comm comm, const ebz_mpi_array *array, size_t to, const ebz_mpi_options *options,
                 ebz_mpi_report *report);
int ebz_mpi_recv(MPI_Comm comm, const ebz_mpi_array *array, size_t from, const ebz_mpi_options *options,
                 ebz_mpi_report *report);

/* The last error on this thread. */
const char *ebz_mpi_error(void);

#ifdef __cplusplus
}
#endif
#endif
