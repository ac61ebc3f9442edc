// Between a program and its files (LD_PRELOAD): makes requests fail, or records them.
//
// FAULT_AT=N      the Nth request and all that follow fail
// FAULT_ERRNO=E   with this error
// RECORD=FILE     every request is appended to this file: a byte for its kind, a number of 64 bits, the path of the
//                 file and the data, each after its length as 64 bits
//
// Kinds: W write (offset), T truncate (length), S sync, R rename (data: the new path), U unlink, O create.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
static long requests;

static int fails(void) {
    const char *at = getenv("FAULT_AT");
    if (!at) return 0;
    pthread_mutex_lock(&one_at_a_time);
    int failing = ++requests >= atol(at);
    pthread_mutex_unlock(&one_at_a_time);
    const char *code = getenv("FAULT_ERRNO");
    if (failing) errno = code ? atoi(code) : EIO;
    return failing;
}

static void put(int log, const void *bytes, uint64_t length) {
    syscall(SYS_write, log, &length, sizeof length);
    syscall(SYS_write, log, bytes, length);
}

static void record(char kind, uint64_t number, const char *path, const void *data, uint64_t length) {
    const char *to = getenv("RECORD");
    if (!to) return;
    int log = syscall(SYS_openat, AT_FDCWD, to, O_WRONLY | O_APPEND | O_CREAT, 0600);
    syscall(SYS_write, log, &kind, 1);
    syscall(SYS_write, log, &number, sizeof number);
    put(log, path, strlen(path));
    put(log, data, length);
    syscall(SYS_close, log);
}

// The path of a regular file or a folder; pipes and terminals are left alone.
static int named(int file, char *path) {
    struct stat about;
    if (fstat(file, &about) || !(S_ISREG(about.st_mode) || S_ISDIR(about.st_mode))) return 0;
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    return 1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int file, const void *data, size_t length) {
    char path[PATH_MAX];
    if (!named(file, path)) return REAL(write)(file, data, length);
    if (fails()) return -1;
    pthread_mutex_lock(&one_at_a_time);
    int appends = fcntl(file, F_GETFL) & O_APPEND;
    off_t at = lseek(file, 0, appends ? SEEK_END : SEEK_CUR);
    ssize_t done = REAL(write)(file, data, length);
    if (done > 0) record('W', at, path, data, done);
    pthread_mutex_unlock(&one_at_a_time);
    return done;
}

ssize_t writev(int file, const struct iovec *parts, int count) {
    char path[PATH_MAX];
    if (!named(file, path)) return REAL(writev)(file, parts, count);
    // One part at a time is a valid short write.
    for (int i = 0; i < count; i++)
        if (parts[i].iov_len) return write(file, parts[i].iov_base, parts[i].iov_len);
    return 0;
}

ssize_t pwrite64(int file, const void *data, size_t length, off64_t at) {
    char path[PATH_MAX];
    if (fails()) return -1;
    pthread_mutex_lock(&one_at_a_time);
    ssize_t done = REAL(pwrite64)(file, data, length, at);
    if (done > 0 && named(file, path)) record('W', at, path, data, done);
    pthread_mutex_unlock(&one_at_a_time);
    return done;
}

ssize_t pwrite(int file, const void *data, size_t length, off_t at) { return pwrite64(file, data, length, at); }

// Callers fall back to reading and writing.
ssize_t copy_file_range(int from, off64_t *in, int to, off64_t *out, size_t length, unsigned flags) {
    errno = ENOSYS;
    return -1;
}

ssize_t sendfile64(int to, int from, off64_t *offset, size_t length) {
    errno = ENOSYS;
    return -1;
}

ssize_t splice(int from, off64_t *in, int to, off64_t *out, size_t length, unsigned flags) {
    errno = ENOSYS;
    return -1;
}

static int synced(int file, int (*real)(int)) {
    char path[PATH_MAX];
    if (fails()) return -1;
    pthread_mutex_lock(&one_at_a_time);
    int status = real(file);
    if (!status && named(file, path)) record('S', 0, path, "", 0);
    pthread_mutex_unlock(&one_at_a_time);
    return status;
}

int fsync(int file) { return synced(file, REAL(fsync)); }
int fdatasync(int file) { return synced(file, REAL(fdatasync)); }

int ftruncate64(int file, off64_t length) {
    char path[PATH_MAX];
    if (fails()) return -1;
    pthread_mutex_lock(&one_at_a_time);
    int status = REAL(ftruncate64)(file, length);
    if (!status && named(file, path)) record('T', length, path, "", 0);
    pthread_mutex_unlock(&one_at_a_time);
    return status;
}

int ftruncate(int file, off_t length) { return ftruncate64(file, length); }

static void absolute(const char *path, char *out) {
    if (path[0] == '/') {
        snprintf(out, PATH_MAX, "%s", path);
        return;
    }
    char folder[PATH_MAX / 2] = "";
    if (!getcwd(folder, sizeof folder)) folder[0] = 0;
    while (!strncmp(path, "./", 2)) path += 2;
    snprintf(out, PATH_MAX, "%s/%s", folder, path);
}

int rename(const char *from, const char *to) {
    char old[PATH_MAX], new[PATH_MAX];
    if (fails()) return -1;
    absolute(from, old);
    absolute(to, new);
    pthread_mutex_lock(&one_at_a_time);
    int status = REAL(rename)(from, to);
    if (!status) record('R', 0, old, new, strlen(new));
    pthread_mutex_unlock(&one_at_a_time);
    return status;
}

int unlink(const char *path) {
    char name[PATH_MAX];
    absolute(path, name);
    pthread_mutex_lock(&one_at_a_time);
    int status = REAL(unlink)(path);
    if (!status) record('U', 0, name, "", 0);
    pthread_mutex_unlock(&one_at_a_time);
    return status;
}

int open64(const char *path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(more, mode_t) : 0;
    va_end(more);
    if (!(flags & (O_CREAT | O_TRUNC))) return REAL(open64)(path, flags, mode);
    char name[PATH_MAX];
    absolute(path, name);
    pthread_mutex_lock(&one_at_a_time);
    struct stat before;
    int exists = !stat(path, &before);
    int file = REAL(open64)(path, flags, mode);
    if (file >= 0 && !exists) record('O', 0, name, "", 0);
    else if (file >= 0 && flags & O_TRUNC) record('T', 0, name, "", 0);
    pthread_mutex_unlock(&one_at_a_time);
    return file;
}
