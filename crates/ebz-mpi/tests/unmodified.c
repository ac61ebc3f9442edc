/* A program without any knowledge of compression: gathers, sums and writes. Checks the results against the bound
   in BOUND, and that some values changed if it is not 0. Argument: a file to write. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNT 200000

static float value(int rank, int i) { return sinf(i * 0.01f + rank) + 1e-3f * sinf(i * 17.0f); }

int main(int argc, char **argv) {
    int rank, size, i, r, *counts, *places, changed = 0;
    double bound = getenv("BOUND") ? atof(getenv("BOUND")) : 0.0;
    float *own = malloc(COUNT * sizeof *own), *all, *sum = malloc(COUNT * sizeof *sum);
    MPI_File file;
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    all = malloc((size_t)size * (COUNT + 10) * sizeof *all);
    for (i = 0; i < COUNT; i++)
        own[i] = value(rank, i);
    MPI_Gather(own, COUNT, MPI_FLOAT, all, COUNT, MPI_FLOAT, 0, MPI_COMM_WORLD);
    for (i = 0; rank == 0 && i < size * COUNT; i++) {
        float x = value(i / COUNT, i % COUNT);
        changed += all[i] != x;
        if (fabs((double)all[i] - x) > bound) {
            fprintf(stderr, "gather: value %d is %g instead of %g\n", i, all[i], x);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
    counts = malloc(size * sizeof *counts);
    places = malloc(size * sizeof *places);
    for (r = 0; r < size; r++) {
        counts[r] = COUNT - r;
        places[r] = (size - 1 - r) * (COUNT + 10);
    }
    MPI_Gatherv(own, COUNT - rank, MPI_FLOAT, all, counts, places, MPI_FLOAT, 0, MPI_COMM_WORLD);
    for (r = 0; rank == 0 && r < size; r++)
        for (i = 0; i < counts[r]; i++)
            if (fabs((double)all[places[r] + i] - value(r, i)) > bound) {
                fprintf(stderr, "gatherv: value %d of rank %d\n", i, r);
                MPI_Abort(MPI_COMM_WORLD, 1);
            }
    MPI_Allreduce(own, sum, COUNT, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    for (i = 0; i < COUNT; i++) {
        double exact = 0.0;
        for (r = 0; r < size; r++)
            exact += value(r, i);
        if (fabs(sum[i] - exact) > size * (bound + 1e-6)) {
            fprintf(stderr, "allreduce: value %d is %g instead of %g\n", i, sum[i], exact);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
    /* Integers, other operations and short messages pass through. */
    i = rank;
    MPI_Allreduce(MPI_IN_PLACE, &i, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (i != size - 1)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Allreduce(MPI_IN_PLACE, sum, COUNT, MPI_FLOAT, MPI_MAX, MPI_COMM_WORLD);
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    MPI_File_write_at_all(file, (MPI_Offset)rank * COUNT * sizeof *own, own, COUNT, MPI_FLOAT, &status);
    MPI_Get_count(&status, MPI_FLOAT, &i);
    if (i != COUNT)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_File_seek(file, (MPI_Offset)(size + rank) * COUNT * sizeof *own, MPI_SEEK_SET);
    MPI_File_write(file, own, COUNT, MPI_FLOAT, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    if (rank == 0 && (changed > 0) != (bound > 0.0)) {
        fprintf(stderr, "%d values changed with a bound of %g\n", changed, bound);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return 0;
}
