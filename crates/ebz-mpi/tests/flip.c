/* Damages messages: flips a bit in the middle of every long message that rank 1 sends. scripts/test_mpi
   preloads it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <string.h>

int PMPI_Isend(const void *bytes, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
               MPI_Request *request) {
    static int (*send)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
    int rank;
    if (!send)
        *(void **)&send = dlsym(RTLD_NEXT, "PMPI_Isend");
    PMPI_Comm_rank(comm, &rank);
    if (rank == 1 && count > 1000)
        ((unsigned char *)bytes)[count / 2] ^= 16;
    return send(bytes, count, type, to, tag, comm, request);
}
