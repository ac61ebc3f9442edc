// ebz: error-bounded compression of floating-point arrays. Generated; see docs/guide/c.md.
//
// Every function that can fail returns a status (EBZ_OK or one of EBZ_…) and takes `message` as its
// last argument: null, or where to put a text that says what to do, to be freed with
// ebz_message_free; it becomes null if all is well. There is no global state. Different handles may
// be used by different threads at once; options and readers also by several threads together, as
// long as nobody changes or frees them; a writer by one thread at a time.
//
// Shapes are given slowest axis first, as in C. `strides` is null for contiguous arrays in C order;
// else it holds the distance of neighbours along every axis, in elements, and may be negative, and
// the pointer to the values points to the first element.

#ifndef EBZ_H
#define EBZ_H



#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Values of 4 bytes: IEEE 754 binary32 (float).
#define EBZ_F32 1

// Values of 8 bytes: IEEE 754 binary64 (double).
#define EBZ_F64 2

// Values of 2 bytes: IEEE 754 binary16 (_Float16).
#define EBZ_F16 3

// Values of 2 bytes: the upper half of a binary32 (__bf16).
#define EBZ_BF16 4

// The most axes of an array.
#define EBZ_MAX_AXES 16

// |x - x'| <= e.
#define EBZ_ABS 1

// |x - x'| <= e (max - min) of the finite values of the array.
#define EBZ_RANGE 2

// |x - x'| <= e |x|.
#define EBZ_POINTWISE 3

// PSNR of the array of at least e dB.
#define EBZ_PSNR 4

// Raw size / compressed size of at least e.
#define EBZ_RATIO 5

// Keep e bits.
#define EBZ_PRECISION 6

// Bit-exact; the number does not matter.
#define EBZ_LOSSLESS 7

// All is well.
#define EBZ_OK 0

// The operating system refused a read or a write.
#define EBZ_IO 1

// The bytes are not what a writer of this format produces.
#define EBZ_CORRUPT 2

// The bytes end too early.
#define EBZ_TRUNCATED 3

// The call makes no sense.
#define EBZ_INVALID 4

// The request is sensible, but not available here.
#define EBZ_UNSUPPORTED 5

// The stream claims more than is allowed.
#define EBZ_LIMIT 6

// The output does not fit into the memory given for it.
#define EBZ_TOO_SMALL 7

// A mistake in the library itself: please report it.
#define EBZ_INTERNAL 8

// How to compress: bound, codec, parameters, chunks, threads, fill value, metadata.
typedef struct ebz_options ebz_options;

// A file that is read; see ebz_reader_open.
typedef struct ebz_reader ebz_reader;

// A file that is written; see ebz_writer_create.
typedef struct ebz_writer ebz_writer;

// What a stream or a file says about one of its arrays.
typedef struct {
  // EBZ_F16, EBZ_BF16, EBZ_F32 or EBZ_F64.
  int32_t type;
  // Kind of the bound that holds for every value: EBZ_ABS, EBZ_POINTWISE, EBZ_PRECISION or
  // EBZ_LOSSLESS.
  int32_t bound;
  // That bound.
  double value;
  // Number of axes.
  size_t axes;
  // Extents, slowest axis first.
  size_t shape[EBZ_MAX_AXES];
  // Bytes of the array before compression.
  uint64_t raw_size;
  // Bytes of the array in the file.
  uint64_t stored_size;
} ebz_info;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The version of the library, such as "0.1.0".
const char *ebz_version(void);

// New options with a bound (EBZ_ABS, EBZ_RANGE, …) and defaults for everything else.
//
// # Safety
// `options` is valid for a write, `message` for a write or null.
int32_t ebz_options_new(int32_t bound, double value, ebz_options **options, char **message);

// Chooses the codec, such as "fz"; "ebz codecs" lists them. "auto" chooses one for each array, see
// ebz_options_set_favor.
//
// # Safety
// `options` is valid, `name` ends with a zero, `message` is valid for a write or null.
int32_t ebz_options_set_codec(ebz_options *options, const char *name, char **message);

// Sets what codec "auto" favors: "speed", "balanced" (the default) or "ratio".
//
// # Safety
// `options` is valid, `favor` ends with a zero, `message` is valid for a write or null.
int32_t ebz_options_set_favor(ebz_options *options, const char *favor, char **message);

// Sets a parameter of the codec; whether the codec takes it is checked when it is used.
//
// # Safety
// `options` is valid, the texts end with a zero, `message` is valid for a write or null.
int32_t ebz_options_set_param(ebz_options *options,
                              const char *key,
                              const char *value,
                              char **message);

// Sets the extents of the chunks, which are what region reads decode; 0 axes let the library choose.
//
// # Safety
// `options` is valid, `extents` points to `axes` numbers, `message` is valid for a write or null.
int32_t ebz_options_set_chunk(ebz_options *options,
                              size_t axes,
                              const size_t *extents,
                              char **message);

// Sets the number of threads; 0 means all cores. No byte of the output depends on it.
//
// # Safety
// `options` is valid, `message` is valid for a write or null.
int32_t ebz_options_set_threads(ebz_options *options, size_t threads, char **message);

// Sets the value that marks missing data: kept exactly and left out of the range, as NaN always is.
// Without it, such values are found; see ebz_options_set_fills.
//
// # Safety
// `options` is valid, `message` is valid for a write or null.
int32_t ebz_options_set_fill(ebz_options *options, double fill, char **message);

// Sets the values that mark missing data, as text: "auto" (the default) finds values such as
// 9.96921e36, 1e20 or -999 that lie far outside of all others; "none"; or up to eight numbers with
// commas between them, with "auto" before them to find others as well.
//
// # Safety
// `options` is valid, `fills` ends with a zero, `message` is valid for a write or null.
int32_t ebz_options_set_fills(ebz_options *options, const char *fills, char **message);

// Sets limits that decompressed values keep to wherever the original does, as text: "auto" (the
// default: not below 0 where the smallest value is 0 and the bound needs a look at all of them), "none",
// "data" for the data's own range, or limits such as "0..1", "0.." or "..100".
//
// # Safety
// `options` is valid, `clip` ends with a zero, `message` is valid for a write or null.
int32_t ebz_options_set_clip(ebz_options *options,
                             const char *clip,
                             char **message);

// Keeps values that are exactly zero as they are, or not (the default).
//
// # Safety
// `options` is valid, `message` is valid for a write or null.
int32_t ebz_options_set_keep_zeros(ebz_options *options, bool keep, char **message);

// Sets what is kept with the arrays, as JSON.
//
// # Safety
// `options` is valid, `json` ends with a zero, `message` is valid for a write or null.
int32_t ebz_options_set_metadata(ebz_options *options, const char *json, char **message);

// Frees options; null is fine.
//
// # Safety
// `options` is null or comes from ebz_options_new, and is not used any more.
void ebz_options_free(ebz_options *options);

// Opens a file. With 0 threads, reads use all cores.
//
// # Safety
// `path` ends with a zero, `reader` is valid for a write, `message` for a write or null.
int32_t ebz_reader_open(const char *path, size_t threads, ebz_reader **reader, char **message);

// The number of arrays (frames) in a file; 0 for null.
//
// # Safety
// `reader` is null or valid.
size_t ebz_reader_frames(const ebz_reader *reader);

// Tells what the file says about one of its arrays, counted from 0.
//
// # Safety
// `reader` is valid, `info` is valid for a write, `message` for a write or null.
int32_t ebz_reader_info(const ebz_reader *reader, size_t frame, ebz_info *info, char **message);

// Reads the part of an array that begins at `start` and has the extents `shape` into memory of the
// caller; only the chunks that it touches are decoded. A null `start` is the first element.
//
// # Safety
// `reader` is valid; `shape` points to `axes` numbers, and so do `start` and `strides` unless they
// are null; `values` points to the first element of such an array, to be written; `message` is
// valid for a write or null.
int32_t ebz_reader_read(const ebz_reader *reader,
                        size_t frame,
                        int32_t type,
                        size_t axes,
                        const size_t *start,
                        const size_t *shape,
                        const ptrdiff_t *strides,
                        void *values,
                        char **message);

// Closes a file that was read; null is fine.
//
// # Safety
// `reader` is null or comes from ebz_reader_open, and is not used any more.
void ebz_reader_free(ebz_reader *reader);

// Frees a message; null is fine.
//
// # Safety
// The message is null or comes from a function of this library, and is not used any more.
void ebz_message_free(char *message);

// The most bytes that ebz_compress can need for an array of this type and shape.
//
// # Safety
// `options` is valid, `shape` points to `axes` numbers, `size` is valid for a write, `message` for
// a write or null.
int32_t ebz_max_compressed_size(const ebz_options *options,
                                int32_t type,
                                size_t axes,
                                const size_t *shape,
                                size_t *size,
                                char **message);

// Compresses an array into `capacity` bytes at `out`; `size` becomes the number of bytes used. With
// ebz_max_compressed_size bytes it never fails for lack of room.
//
// # Safety
// `options` is valid; `shape` points to `axes` numbers, and so does `strides` or it is null;
// `values` points to the first element of such an array; `out` is valid for writes of `capacity`
// bytes, `size` for a write, `message` for a write or null.
int32_t ebz_compress(const ebz_options *options,
                     int32_t type,
                     size_t axes,
                     const size_t *shape,
                     const ptrdiff_t *strides,
                     const void *values,
                     void *out,
                     size_t capacity,
                     size_t *size,
                     char **message);

// Tells what a stream in memory holds, as its first array.
//
// # Safety
// `bytes` is valid for reads of `size` bytes, `info` for a write, `message` for a write or null.
int32_t ebz_inspect(const void *bytes, size_t size, ebz_info *info, char **message);

// Decompresses the first array of a stream into memory of the caller, whose type and shape must be
// those of the array (see ebz_inspect). With 0 threads, all cores are used.
//
// # Safety
// `bytes` is valid for reads of `size` bytes; `shape` points to `axes` numbers, and so does
// `strides` or it is null; `values` points to the first element of such an array, to be written;
// `message` is valid for a write or null.
int32_t ebz_decompress(const void *bytes,
                       size_t size,
                       int32_t type,
                       size_t axes,
                       const size_t *shape,
                       const ptrdiff_t *strides,
                       void *values,
                       size_t threads,
                       char **message);

// Begins a new file; one of that name is replaced. The options are copied.
//
// # Safety
// `path` ends with a zero, `options` is valid, `writer` is valid for a write, `message` for a write
// or null.
int32_t ebz_writer_create(const char *path,
                          const ebz_options *options,
                          ebz_writer **writer,
                          char **message);

// Opens a complete file to add arrays to it. The options are copied.
//
// # Safety
// As ebz_writer_create.
int32_t ebz_writer_append(const char *path,
                          const ebz_options *options,
                          ebz_writer **writer,
                          char **message);

// Writes an array as the next frame of the file.
//
// # Safety
// `writer` is valid; `shape` points to `axes` numbers, and so does `strides` or it is null;
// `values` points to the first element of such an array; `message` is valid for a write or null.
int32_t ebz_writer_frame(ebz_writer *writer,
                         int32_t type,
                         size_t axes,
                         const size_t *shape,
                         const ptrdiff_t *strides,
                         const void *values,
                         char **message);

// Completes the file and frees the writer, also if that fails.
//
// # Safety
// `writer` is null or comes from ebz_writer_create or ebz_writer_append, and is not used any more;
// `message` is valid for a write or null.
int32_t ebz_writer_finish(ebz_writer *writer, char **message);

// Frees a writer without completing its file: "ebz recover" saves what a new one holds, and one that
// was appended to keeps its whole frames. Null is fine.
//
// # Safety
// `writer` is null or comes from ebz_writer_create or ebz_writer_append, and is not used any more.
void ebz_writer_free(ebz_writer *writer);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* EBZ_H */
