/* Ranks write one array to one file, read it back cut in another way, and gather and sum compressed values.

   mpicc mpi.c -I crates/ebz-mpi/preload/include -L target/mpi/release -lebz_mpi_preload -lm -o mpi
   mpirun -n 4 ./mpi field.ebz */
#include "ebz_mpi.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS 64 /* of each rank */
#define COLUMNS 1000
#define BOUND 1e-3

static float field(size_t row, size_t column) { return sinf(row * 0.05f) * cosf(column * 0.01f); }

static void check(int failed) {
    if (failed) {
        fprintf(stderr, "%s\n", ebz_mpi_error());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static void near(double value, double exact, double bound) {
    if (!(fabs(value - exact) <= bound)) {
        fprintf(stderr, "%g instead of %g\n", value, exact);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

int main(int argc, char **argv) {
    int rank, ranks;
    size_t i, j;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 2) {
        fprintf(stderr, "usage: mpi FILE\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    size_t whole[2] = {(size_t)ranks * ROWS, COLUMNS}, own[2] = {ROWS, COLUMNS}, start[2] = {(size_t)rank * ROWS, 0};
    float *values = malloc(ROWS * COLUMNS * sizeof *values);
    for (i = 0; i < ROWS; i++)
        for (j = 0; j < COLUMNS; j++)
            values[i * COLUMNS + j] = field(start[0] + i, j);

    ebz_mpi_array array = {values, sizeof *values, 2, own};
    ebz_mpi_options options = {"abs", BOUND, "fz", NULL, 0};
    ebz_mpi_report report;
    check(ebz_mpi_write(MPI_COMM_WORLD, argv[1], whole, start, &array, &options, &report));
    if (rank == 0)
        printf("%llu bytes became %llu\n", (unsigned long long)report.raw_bytes,
               (unsigned long long)report.sent_bytes);

    /* One row out of the middle, on every rank. */
    size_t row[2] = {1, COLUMNS}, from[2] = {whole[0] / 2, 0};
    float *middle = malloc(COLUMNS * sizeof *middle);
    ebz_mpi_array block = {middle, sizeof *middle, 2, row};
    check(ebz_mpi_read(MPI_COMM_WORLD, argv[1], 0, from, &block));
    for (j = 0; j < COLUMNS; j++)
        near(middle[j], field(from[0], j), BOUND);

    size_t count = rank == 0 ? whole[0] * COLUMNS : 0;
    float *all = malloc((count + 1) * sizeof *all);
    check(ebz_mpi_gather(MPI_COMM_WORLD, &array, 0, all, count, &options, NULL));
    for (i = 0; i < count; i++)
        near(all[i], field(i / COLUMNS, i % COLUMNS), BOUND);

    check(ebz_mpi_allreduce(MPI_COMM_WORLD, &array, &options, NULL));
    double sum = 0;
    for (i = 0; i < (size_t)ranks; i++)
        sum += field(i * ROWS + 3, 5);
    near(values[3 * COLUMNS + 5], sum, ranks * (BOUND + 1e-6));

    free(all);
    free(middle);
    free(values);
    MPI_Finalize();
    return 0;
}
