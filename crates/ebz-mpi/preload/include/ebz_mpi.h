/* Parallel I/O and collectives with error-bounded compression. All functions but ebz_mpi_send and ebz_mpi_recv
   are collective. They return 0, or 1 on every rank where one of them failed, and ebz_mpi_error() tells why.
   Where a report is not wanted, it may be NULL. */
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
    int mode; /* messages: 0 compress where that is faster, 1 always, 2 never */
} ebz_mpi_options;

typedef struct {
    int compressed;
    uint64_t raw_bytes;  /* of this rank; of a file, of all ranks */
    uint64_t sent_bytes; /* that this rank sent; of a file, its bytes */
    double largest_bound;
} ebz_mpi_report;

/* Writes an array of `shape`, of which this rank holds `block` from index `start` on, to one .ebz file. */
int ebz_mpi_write(MPI_Comm comm, const char *path, const size_t *shape, const size_t *start,
                  const ebz_mpi_array *block, const ebz_mpi_options *options, ebz_mpi_report *report);

/* Reads a block of a frame of an .ebz file; any number of ranks, any blocks. */
int ebz_mpi_read(MPI_Comm comm, const char *path, size_t frame, const size_t *start,
                 const ebz_mpi_array *block);

/* The values of all ranks, one behind the other, at one rank or at all. `count` is that of all values. */
int ebz_mpi_gather(MPI_Comm comm, const ebz_mpi_array *array, size_t root, void *out, size_t count,
                   const ebz_mpi_options *options, ebz_mpi_report *report);
int ebz_mpi_allgather(MPI_Comm comm, const ebz_mpi_array *array, void *out, size_t count,
                      const ebz_mpi_options *options, ebz_mpi_report *report);

/* The other way: `count` values of the root, one part behind the other, each to the array of its rank. */
int ebz_mpi_scatter(MPI_Comm comm, const ebz_mpi_array *array, size_t root, const void *all, size_t count,
                    const ebz_mpi_options *options, ebz_mpi_report *report);

/* The array of one rank to all. */
int ebz_mpi_bcast(MPI_Comm comm, const ebz_mpi_array *array, size_t root, const ebz_mpi_options *options,
                  ebz_mpi_report *report);

/* Sums over all ranks, in place: off by at most the number of ranks times the bound, and the same bits whoever
   gets them. All ranks get the sums; or one of them, and the others' values are undefined; or each rank
   `count` of them from index `start` on, and its other values are undefined. */
int ebz_mpi_allreduce(MPI_Comm comm, const ebz_mpi_array *array, const ebz_mpi_options *options,
                      ebz_mpi_report *report);
int ebz_mpi_reduce(MPI_Comm comm, const ebz_mpi_array *array, size_t root, const ebz_mpi_options *options,
                   ebz_mpi_report *report);
int ebz_mpi_reduce_scatter(MPI_Comm comm, const ebz_mpi_array *array, size_t *start, size_t *count,
                           const ebz_mpi_options *options, ebz_mpi_report *report);

/* An array from one rank to another; both give the same shape and options. Returns on both once it has arrived.
   All ranks of the communicator must have called ebz_mpi_prepare, or a function above, before. */
int ebz_mpi_prepare(MPI_Comm comm);
int ebz_mpi_send(MPI_Comm comm, const ebz_mpi_array *array, size_t to, const ebz_mpi_options *options,
                 ebz_mpi_report *report);
int ebz_mpi_recv(MPI_Comm comm, const ebz_mpi_array *array, size_t from, const ebz_mpi_options *options,
                 ebz_mpi_report *report);

/* What went wrong last, on this thread. */
const char *ebz_mpi_error(void);

#ifdef __cplusplus
}
#endif
#endif
