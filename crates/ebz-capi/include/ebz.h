// ebz: error-bounded compression of floating-point arrays. Generated; see docs/guide/c.md.
//
// Every function that can fail returns a status (EBZ_OK or another EBZ_… code) and takes `message`
// as its last argument: null, or where to store an error message that says what to do, to be freed
// with ebz_message_free; it is set to null on success. There is no global state. Different handles
// can be used by different threads concurrently; options and readers can also be shared between
// threads as long as none modifies or frees them; a writer is for one thread at a time.
//
// Shapes are given slowest axis first, as in C. `strides` is null for contiguous arrays in C order;
// otherwise it holds the distance between neighbours along every axis, in elements, possibly
// negative, and `values` points to the first element.

#ifndef EBZ_H
#define EBZ_H



#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// 4-byte values: IEEE 754 binary32 (float).
#define EBZ_F32 1

// 8-byte values: IEEE 754 binary64 (double).
#define EBZ_F64 2

// 2-byte values: IEEE 754 binary16 (_Float16).
#define EBZ_F16 3

// 2-byte values: bfloat16, the upper half of a binary32 (__bf16).
#define EBZ_BF16 4

// Maximum number of axes of an array.
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

// Keep e bit planes or mantissa bits.
#define EBZ_PRECISION 6

// Bit-exact; the number is ignored.
#define EBZ_LOSSLESS 7

// Success.
#define EBZ_OK 0

// An I/O operation failed.
#define EBZ_IO 1

// The bytes are not a valid stream.
#define EBZ_CORRUPT 2

// The stream ends too early.
#define EBZ_TRUNCATED 3

// An argument is invalid.
#define EBZ_INVALID 4

// A valid request that this codec, build or machine does not support.
#define EBZ_UNSUPPORTED 5

// The stream needs more memory than allowed.
#define EBZ_LIMIT 6

// The output buffer is too small.
#define EBZ_TOO_SMALL 7

// An internal error: please report it.
#define EBZ_INTERNAL 8

// Compression options: bound, codec, parameters, chunks, threads, fill values, limits, metadata.
typedef struct ebz_options ebz_options;

// A file open for reading; see ebz_reader_open.
typedef struct ebz_reader ebz_reader;

// A file open for writing; see ebz_writer_create.
typedef struct ebz_writer ebz_writer;

// Description of an array in a stream or a file.
typedef struct {
  // EBZ_F16, EBZ_BF16, EBZ_F32 or EBZ_F64.
  int32_t type;
  // Kind of the error bound that every value meets: EBZ_ABS, EBZ_POINTWISE, EBZ_PRECISION or
  // EBZ_LOSSLESS.
  int32_t bound;
  // That bound.
  double value;
  // Number of axes.
  size_t axes;
  // Extents, slowest axis first.
  size_t shape[EBZ_MAX_AXES];
  // Uncompressed size of the array in bytes.
  uint64_t raw_size;
  // Size of the array in the file in bytes.
  uint64_t stored_size;
} ebz_info;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The version of the library, such as "0.1.0".
const char *ebz_version(void);

// Creates options with a bound (EBZ_ABS, EBZ_RANGE, …) and defaults for everything else.
//
// # Safety
// `options` is valid for a write, `message` for a write or null.
int32_t ebz_options_new(int32_t bound, double value, ebz_options **options, char **message);

// Sets the codec, such as "fz"; "ebz codecs" lists them. "auto" chooses one for each array, see
// ebz_options_set_favor.
//
// # Safety
// `options` is valid, `name` is a C string, `message` is valid for a write or null.
int32_t ebz_options_set_codec(ebz_options *options, const char *name, char **message);

// Sets what codec "auto" favors: "speed", "balanced" (the default) or "ratio".
//
// # Safety
// `options` is valid, `favor` ends with a zero, `message` is valid for a write or null.
int32_t ebz_options_set_favor(ebz_options *options, const char *favor, char **message);

// Sets a codec parameter, which is checked when the options are used.
//
// # Safety
// `options` is valid, the texts are C strings, `message` is valid for a write or null.
int32_t ebz_options_set_param(ebz_options *options,
                              const char *key,
                              const char *value,
                              char **message);

// Sets the chunk extents, the granularity of region reads; 0 axes let the library choose.
//
// # Safety
// `options` is valid, `extents` points to `axes` numbers, `message` is valid for a write or null.
int32_t ebz_options_set_chunk(ebz_options *options,
                              size_t axes,
                              const size_t *extents,
                              char **message);

// Sets the number of threads; 0 means all cores. The output does not depend on it.
//
// # Safety
// `options` is valid, `message` is valid for a write or null.
int32_t ebz_options_set_threads(ebz_options *options, size_t threads, char **message);

// Sets the fill value, which marks missing data: stored exactly and excluded from the range, like
// NaN. By default fill values are detected; see ebz_options_set_fills.
//
// # Safety
// `options` is valid, `message` is valid for a write or null.
int32_t ebz_options_set_fill(ebz_options *options, double fill, char **message);

// Sets the fill values as text: "auto" (the default) detects values such as 9.96921e36, 1e20 or
// -999 far outside of the data; "none"; or up to eight numbers separated by commas, preceded by
// "auto" to detect others as well.
//
// # Safety
// `options` is valid, `fills` is a C string, `message` is valid for a write or null.
int32_t ebz_options_set_fills(ebz_options *options, const char *fills, char **message);

// Sets the limits that decompressed values respect wherever the original values did, as text:
// "auto" (the default: at least 0, if the minimum is 0 and the bound needs a scan of all values),
// "none", "data" for the range of the data, or limits such as "0..1", "0.." or "..100".
//
// # Safety
// `options` is valid, `clip` is a C string, `message` is valid for a write or null.
int32_t ebz_options_set_clip(ebz_options *options, const char *clip, char **message);

// Sets whether exact zeros stay exactly zero (default: no).
//
// # Safety
// `options` is valid, `message` is valid for a write or null.
int32_t ebz_options_set_keep_zeros(ebz_options *options, bool keep, char **message);

// Sets whether EBZ_RATIO is met in one pass over the array (default: no): about, instead of at least, at a
// constant speed.
//
// # Safety
// `options` is valid, `message` is valid for a write or null.
int32_t ebz_options_set_one_pass(ebz_options *options,
                                 bool one_pass,
                                 char **message);

// Sets the metadata stored with the arrays, as JSON.
//
// # Safety
// `options` is valid, `json` is a C string, `message` is valid for a write or null.
int32_t ebz_options_set_metadata(ebz_options *options, const char *json, char **message);

// Frees options; null is allowed.
//
// # Safety
// `options` is null or comes from ebz_options_new, and is not used afterwards.
void ebz_options_free(ebz_options *options);

// Opens a file for reading. With 0 threads, reads use all cores.
//
// # Safety
// `path` is a C string, `reader` is valid for a write, `message` for a write or null.
int32_t ebz_reader_open(const char *path, size_t threads, ebz_reader **reader, char **message);

// Returns the number of arrays (frames) in a file; 0 for null.
//
// # Safety
// `reader` is null or valid.
size_t ebz_reader_frames(const ebz_reader *reader);

// Describes an array of the file, counted from 0.
//
// # Safety
// `reader` is valid, `info` is valid for a write, `message` for a write or null.
int32_t ebz_reader_info(const ebz_reader *reader, size_t frame, ebz_info *info, char **message);

// Reads the region of an array that begins at `start` and has the extents `shape` into the
// caller's memory; only the chunks that intersect it are decoded. A null `start` means the first
// element.
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

// Closes a reader; null is allowed.
//
// # Safety
// `reader` is null or comes from ebz_reader_open, and is not used afterwards.
void ebz_reader_free(ebz_reader *reader);

// Frees a message, or the text of ebz_choose; null is allowed.
//
// # Safety
// The message is null or comes from a function of this library, and is not used afterwards.
void ebz_message_free(char *message);

// Computes the maximum size of the output of ebz_compress for an array of this type and shape.
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

// Compresses an array into `capacity` bytes at `out`; `size` becomes the number of bytes used. A
// capacity of ebz_max_compressed_size is always enough.
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

// Tells which codec "auto" chooses for an array with these options, and why: `choice` becomes a
// text that starts with its name, such as "fz for speed: ratio 6.206 on 1.56 % of the values, 6.670
// with ceaz, in about 3 times the time", to be freed with ebz_message_free.
//
// # Safety
// `options` is valid; `shape` points to `axes` numbers, and so does `strides` or it is null;
// `values` points to the first element of such an array; `choice` is valid for a write, `message`
// for a write or null.
int32_t ebz_choose(const ebz_options *options,
                   int32_t type,
                   size_t axes,
                   const size_t *shape,
                   const ptrdiff_t *strides,
                   const void *values,
                   char **choice,
                   char **message);

// Describes the first array of a stream in memory.
//
// # Safety
// `bytes` is valid for reads of `size` bytes, `info` for a write, `message` for a write or null.
int32_t ebz_inspect(const void *bytes, size_t size, ebz_info *info, char **message);

// Decompresses the first array of a stream into the caller's memory, whose type and shape must be
// those of the array (see ebz_inspect). With 0 threads, uses all cores.
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

// Creates a file, replacing an existing one. The options are copied.
//
// # Safety
// `path` is a C string, `options` is valid, `writer` is valid for a write, `message` for a write
// or null.
int32_t ebz_writer_create(const char *path,
                          const ebz_options *options,
                          ebz_writer **writer,
                          char **message);

// Opens a complete file to append arrays. The options are copied.
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

// Completes the file and frees the writer, even if that fails.
//
// # Safety
// `writer` is null or comes from ebz_writer_create or ebz_writer_append, and is not used afterwards;
// `message` is valid for a write or null.
int32_t ebz_writer_finish(ebz_writer *writer,
                          char **message);

// Frees a writer without completing its file: a new file needs "ebz recover", a file that was
// appended to keeps its complete frames. Null is allowed.
//
// # Safety
// `writer` is null or comes from ebz_writer_create or ebz_writer_append, and is not used afterwards.
void ebz_writer_free(ebz_writer *writer);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* EBZ_H */
