/* Files that claim more than the available memory give an error and do not abort the process.
   Usage: limits FILE... */

#define _POSIX_C_SOURCE 200809L
#include <ebz.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

enum { MEGABYTE = 1 << 20, VALUES = 24 * MEGABYTE };

int main(int count, char **paths) {
  /* Room for the values that are asked for, and little for decoding them with many threads. */
  struct rlimit limit = {192 * (rlim_t)MEGABYTE, 192 * (rlim_t)MEGABYTE};
  float *values = malloc(VALUES * sizeof *values);
  if (values == NULL || setrlimit(RLIMIT_AS, &limit) != 0) {
    perror("limits");
    return 2;
  }
  for (int i = 1; i < count; i++) {
    ebz_reader *reader = NULL;
    char *message = NULL;
    ebz_info info;
    int32_t status = ebz_reader_open(paths[i], 8, &reader, &message);
    if (status == EBZ_OK) {
      status = ebz_reader_info(reader, 0, &info, &message);
    }
    if (status == EBZ_OK) {
      /* As much of the array as fits: whole slices of the slowest axis, or a part of one. */
      size_t shape[EBZ_MAX_AXES], room = VALUES;
      for (size_t axis = info.axes; axis-- > 0;) {
        shape[axis] = info.shape[axis] < room ? info.shape[axis] : room;
        room /= shape[axis];
      }
      status = ebz_reader_read(reader, 0, info.type, info.axes, NULL, shape, NULL, values, &message);
    }
    printf("%s: %s\n", paths[i], message != NULL ? message : "read");
    if ((status == EBZ_OK) != (message == NULL)) {
      return 1;
    }
    ebz_message_free(message);
    ebz_reader_free(reader);
  }
  free(values);
  return 0;
}
