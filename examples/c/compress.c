/* Compresses a field under a bound, in memory and in a file of several frames, and reads parts back.
 *
 *     cc compress.c $(pkg-config --cflags --libs ebz) -lm -o compress && ./compress frames.ebz
 */
#include <ebz.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { NZ = 32, NY = 48, NX = 64, FRAMES = 3 };

/* Ends the program with the library's own words if a call failed. */
static void check(int status, char *message)
{
    if (status != EBZ_OK) {
        fprintf(stderr, "ebz, status %d: %s\n", status, message ? message : "no message");
        exit(1);
    }
}

static void fill(float *field, int frame)
{
    for (int z = 0; z < NZ; z++)
        for (int y = 0; y < NY; y++)
            for (int x = 0; x < NX; x++)
                field[(z * NY + y) * NX + x] =
                    (float)(sin(0.1 * (x + frame)) * cos(0.07 * y) + 0.01 * z);
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "frames.ebz";
    const double bound = 1e-3;
    const size_t shape[] = {NZ, NY, NX};
    const size_t count = (size_t)NZ * NY * NX;
    char *message = NULL;
    printf("ebz %s\n", ebz_version());

    ebz_options *options;
    check(ebz_options_new(EBZ_ABS, bound, &options, &message), message);
    check(ebz_options_set_codec(options, "fz", &message), message);
    check(ebz_options_set_threads(options, 2, &message), message);

    /* In memory: room for the worst case, then what was really needed. */
    float *field = malloc(count * sizeof *field);
    float *again = malloc(count * sizeof *again);
    size_t room, size;
    check(ebz_max_compressed_size(options, EBZ_F32, 3, shape, &room, &message), message);
    void *stream = malloc(room);
    if (!field || !again || !stream)
        return 1;
    fill(field, 0);
    check(ebz_compress(options, EBZ_F32, 3, shape, NULL, field, stream, room, &size, &message),
          message);
    check(ebz_decompress(stream, size, EBZ_F32, 3, shape, NULL, again, 0, &message), message);
    double largest = 0;
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, fabs((double)field[i] - again[i]));
    printf("%zu bytes to %zu, largest error %.2e\n", count * sizeof *field, size, largest);
    if (largest > bound)
        return 1;

    /* Which codec "auto" would choose, and why. */
    char *choice;
    check(ebz_choose(options, EBZ_F32, 3, shape, NULL, field, &choice, &message), message);
    printf("auto: %s\n", choice);
    ebz_message_free(choice);

    /* A file: one frame per time step. */
    ebz_writer *writer;
    check(ebz_writer_create(path, options, &writer, &message), message);
    for (int frame = 0; frame < FRAMES; frame++) {
        fill(field, frame);
        check(ebz_writer_frame(writer, EBZ_F32, 3, shape, NULL, field, &message), message);
    }
    check(ebz_writer_finish(writer, &message), message);

    /* A part of the last frame, every second value of a larger array. */
    ebz_reader *reader;
    ebz_info info;
    check(ebz_reader_open(path, 0, &reader, &message), message);
    check(ebz_reader_info(reader, FRAMES - 1, &info, &message), message);
    if (ebz_reader_frames(reader) != FRAMES || info.axes != 3 || info.shape[2] != NX)
        return 1;
    const size_t start[] = {4, 5, 6}, part[] = {2, 3, 4};
    const ptrdiff_t strides[] = {24, 8, 2};
    float values[48] = {0};
    check(ebz_reader_read(reader, FRAMES - 1, EBZ_F32, 3, start, part, strides, values, &message),
          message);
    for (size_t z = 0; z < part[0]; z++)
        for (size_t y = 0; y < part[1]; y++)
            for (size_t x = 0; x < part[2]; x++) {
                double right = field[((start[0] + z) * NY + start[1] + y) * NX + start[2] + x];
                if (fabs(values[z * 24 + y * 8 + x * 2] - right) > bound)
                    return 1;
            }
    printf("a region of frame %d of %d, bound %g\n", FRAMES - 1, FRAMES, info.value);

    /* What goes wrong is told, and stops nothing. */
    int status = ebz_decompress(stream, size / 2, EBZ_F32, 3, shape, NULL, again, 0, &message);
    printf("half a stream: status %d, \"%s\"\n", status, message);
    if (status == EBZ_OK || !message)
        return 1;
    ebz_message_free(message);
    status = ebz_compress(options, EBZ_F32, 3, shape, NULL, field, stream, 100, &size, &message);
    printf("too little room: status %d, \"%s\"\n", status, message);
    if (status != EBZ_TOO_SMALL)
        return 1;
    ebz_message_free(message);
    status = ebz_compress(NULL, EBZ_F32, 3, shape, NULL, field, stream, room, &size, NULL);
    if (status != EBZ_INVALID)
        return 1;

    ebz_reader_free(reader);
    ebz_options_free(options);
    free(stream);
    free(again);
    free(field);
    return 0;
}
