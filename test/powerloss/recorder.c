/*
 * Records what a process does to the files below one folder, in the order in which it happens across all processes: loaded
 * by LD_PRELOAD into real programs (node, Emacs), whose calls go through the C library.
 *
 *   HIVE_RECORD_ROOT   the folder, without links in its path
 *   HIVE_RECORD_TRACE  the file to append records to; FILE.lock beside it keeps the order
 *   HIVE_RECORD_KILL   kill -9 this process after so many records of its own
 *
 * One record, little-endian (trace.ts reads it):
 *   u32 length of all, u8 kind, u8 0, u16 length of path, u16 length of path2, u16 0, u32 pid, u64 file, u64 offset,
 *   then path, path2, data.
 * A file is named by its inode number. A record is written after its call has succeeded, under the lock.
 * Bytes that a program writes to its stdout are a record as well: what it says, it has promised.
 * Writes to mapped memory are not seen: SQLite maps only its -shm file, which no restart reads.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { CREATE = 1, WRITE, TRUNCATE, SYNC, LINK, RENAME, UNLINK, MKDIR, RMDIR, SAY };

#define MOST 65536

static const char *root;
static size_t root_length;
static int trace = -1, lock = -1;
static long kill_at, done;
static pid_t owner;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
/* Of each open file below the folder: its inode, and its path when it was opened. */
static uint64_t inode_of[MOST];
static char *path_of[MOST];
/* The file system of the folder. */
static dev_t device;

#define REAL(name) \
  static __typeof__(name) *real; \
  if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

static int real_open(const char *path, int flags, mode_t mode) {
  static int (*real)(const char *, int, ...);
  if (!real) real = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open64");
  return real(path, flags, mode);
}

/* Out of the way of programs that count on small numbers. */
static int high(int fd) {
  int moved = fcntl(fd, F_DUPFD_CLOEXEC, 900);
  REAL(close);
  real(fd);
  return moved;
}

__attribute__((constructor)) static void begin(void) {
  const char *file = getenv("HIVE_RECORD_TRACE"), *nth = getenv("HIVE_RECORD_KILL");
  char name[PATH_MAX];
  struct stat at;
  root = getenv("HIVE_RECORD_ROOT");
  if (!root || !file) return;
  root_length = strlen(root);
  owner = getpid();
  if (stat(root, &at) == 0) device = at.st_dev;
  kill_at = nth ? atol(nth) : 0;
  snprintf(name, sizeof name, "%s.lock", file);
  trace = high(real_open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600));
  lock = high(real_open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (trace < 0 || lock < 0) {
    static const char text[] = "recorder: the trace cannot be opened\n";
    (void)!write(2, text, sizeof text - 1);
    _exit(99);
  }
}

static void enter(void) {
  pthread_mutex_lock(&mutex);
  while (flock(lock, LOCK_EX) != 0 && errno == EINTR) continue;
}

static void leave(void) {
  int kept = errno;
  flock(lock, LOCK_UN);
  if (kill_at > 0 && done >= kill_at) kill(getpid(), SIGKILL);
  pthread_mutex_unlock(&mutex);
  errno = kept;
}

static void put(uint8_t kind, uint64_t file, uint64_t offset, const char *path, const char *path2,
                const void *data, size_t length) {
  int kept = errno;
  uint8_t head[32];
  uint16_t first = path ? strlen(path) : 0, second = path2 ? strlen(path2) : 0;
  uint32_t all = sizeof head + first + second + length, pid = getpid();
  memset(head, 0, sizeof head);
  memcpy(head, &all, 4);
  head[4] = kind;
  memcpy(head + 6, &first, 2);
  memcpy(head + 8, &second, 2);
  memcpy(head + 12, &pid, 4);
  memcpy(head + 16, &file, 8);
  memcpy(head + 24, &offset, 8);
  struct iovec parts[4] = {{head, sizeof head}, {(void *)path, first}, {(void *)path2, second}, {(void *)data, length}};
  static ssize_t (*real)(int, const struct iovec *, int);
  if (!real) real = (ssize_t(*)(int, const struct iovec *, int))dlsym(RTLD_NEXT, "writev");
  if (real(trace, parts, 4) != (ssize_t)all) {
    static const char text[] = "recorder: the trace cannot be written\n";
    (void)!write(2, text, sizeof text - 1);
    _exit(99);
  }
  if (kind != SAY) done += 1;
  errno = kept;
}

/* The absolute path in `full`; 0 if it is not below the folder, or nothing is recorded. */
static int below(int folder, const char *path, char *full) {
  if (trace < 0 || !path) return 0;
  if (path[0] == '/') {
    if (snprintf(full, PATH_MAX, "%s", path) >= PATH_MAX) return 0;
  } else {
    char at[PATH_MAX], link[64];
    if (folder == AT_FDCWD) {
      if (!getcwd(at, sizeof at)) return 0;
    } else {
      snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
      ssize_t length = readlink(link, at, sizeof at - 1);
      if (length < 0) return 0;
      at[length] = 0;
    }
    if (snprintf(full, PATH_MAX, "%s/%s", at, path) >= PATH_MAX) return 0;
  }
  size_t length = strlen(full);
  while (length > 1 && full[length - 1] == '/') full[--length] = 0;
  return strncmp(full, root, root_length) == 0 && (full[root_length] == '/' || full[root_length] == 0);
}

static void watch(int fd, const char *path) {
  struct stat now;
  if (fd < 0 || fd >= MOST || fstat(fd, &now) != 0) return;
  inode_of[fd] = now.st_ino;
  free(path_of[fd]);
  path_of[fd] = strdup(path);
}

/* A program may close a number without the C library, and get it again for another file. */
static uint64_t watched(int fd) {
  struct stat now;
  int kept = errno;
  if (trace < 0 || fd < 0 || fd >= MOST || inode_of[fd] == 0) return 0;
  if (fstat(fd, &now) != 0 || now.st_ino != inode_of[fd] || now.st_dev != device) inode_of[fd] = 0;
  errno = kept;
  return inode_of[fd];
}

/* Output is promised before the call: its reader may be quicker than our record. */
static void says(int fd, const void *data, size_t size) {
  if (fd != 1 || trace < 0) return;
  enter();
  put(SAY, 0, 0, NULL, NULL, data, size);
  leave();
}

static int opened(int folder, const char *path, int flags, mode_t mode, int (*call)(int, const char *, int, mode_t)) {
  char full[PATH_MAX];
  struct stat before;
  if (!below(folder, path, full)) return call(folder, path, flags, mode);
  enter();
  int there = lstat(full, &before) == 0;
  int fd = call(folder, path, flags, mode);
  if (fd >= 0) {
    watch(fd, full);
    if (!there && (flags & O_CREAT)) put(CREATE, inode_of[fd], 0, full, NULL, NULL, 0);
    else if ((flags & O_TRUNC) && before.st_size > 0) put(TRUNCATE, inode_of[fd], 0, full, NULL, NULL, 0);
  }
  leave();
  return fd;
}

#define MODE(flags, mode) \
  mode_t mode = 0; \
  if ((flags) & (O_CREAT | O_TMPFILE)) { \
    va_list more; \
    va_start(more, flags); \
    mode = va_arg(more, mode_t); \
    va_end(more); \
  }

static int call_open(int folder, const char *path, int flags, mode_t mode) {
  (void)folder;
  return real_open(path, flags, mode);
}

static int call_openat(int folder, const char *path, int flags, mode_t mode) {
  static int (*real)(int, const char *, int, ...);
  if (!real) real = (int (*)(int, const char *, int, ...))dlsym(RTLD_NEXT, "openat64");
  return real(folder, path, flags, mode);
}

int open(const char *path, int flags, ...) { MODE(flags, mode) return opened(AT_FDCWD, path, flags, mode, call_open); }
int open64(const char *path, int flags, ...) { MODE(flags, mode) return opened(AT_FDCWD, path, flags, mode, call_open); }
int __open_2(const char *path, int flags) { return opened(AT_FDCWD, path, flags, 0, call_open); }
int __open64_2(const char *path, int flags) { return opened(AT_FDCWD, path, flags, 0, call_open); }
int openat(int folder, const char *path, int flags, ...) { MODE(flags, mode) return opened(folder, path, flags, mode, call_openat); }
int openat64(int folder, const char *path, int flags, ...) { MODE(flags, mode) return opened(folder, path, flags, mode, call_openat); }
int __openat_2(int folder, const char *path, int flags) { return opened(folder, path, flags, 0, call_openat); }
int __openat64_2(int folder, const char *path, int flags) { return opened(folder, path, flags, 0, call_openat); }
int creat(const char *path, mode_t mode) { return opened(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode, call_open); }
int creat64(const char *path, mode_t mode) { return creat(path, mode); }

int close(int fd) {
  REAL(close);
  /* A child that shares our memory until it runs a program closes its own descriptors. */
  if (watched(fd) && getpid() == owner) {
    pthread_mutex_lock(&mutex);
    inode_of[fd] = 0;
    pthread_mutex_unlock(&mutex);
  }
  return real(fd);
}

static void copied(int from, int to) {
  if (to >= 0 && watched(from) && getpid() == owner && path_of[from]) watch(to, path_of[from]);
}
int dup(int fd) { REAL(dup); int made = real(fd); copied(fd, made); return made; }
int dup2(int fd, int to) { REAL(dup2); int made = real(fd, to); copied(fd, made); return made; }
int dup3(int fd, int to, int flags) { REAL(dup3); int made = real(fd, to, flags); copied(fd, made); return made; }

/* `offset` -1: where the file stands after the call. */
static void wrote(int fd, off_t offset, const void *data, ssize_t length) {
  if (length <= 0) return;
  if (offset < 0) offset = lseek(fd, 0, SEEK_CUR) - length;
  put(WRITE, inode_of[fd], offset, NULL, NULL, data, length);
}

#define WROTE(fd, offset, data, call) \
  if (!watched(fd)) return call; \
  enter(); \
  ssize_t length = call; \
  wrote(fd, offset, data, length); \
  leave(); \
  return length;

ssize_t write(int fd, const void *data, size_t size) { REAL(write); says(fd, data, size); WROTE(fd, -1, data, real(fd, data, size)) }
ssize_t pwrite(int fd, const void *data, size_t size, off_t offset) { REAL(pwrite); WROTE(fd, offset, data, real(fd, data, size, offset)) }
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset) { REAL(pwrite64); WROTE(fd, offset, data, real(fd, data, size, offset)) }

static ssize_t gathered(int fd, const struct iovec *parts, int count, off_t offset, ssize_t length) {
  size_t left = length > 0 ? length : 0;
  off_t at = offset < 0 && left > 0 ? lseek(fd, 0, SEEK_CUR) - length : offset;
  for (int part = 0; part < count && left > 0; part += 1) {
    size_t size = parts[part].iov_len < left ? parts[part].iov_len : left;
    if (size > 0) put(WRITE, inode_of[fd], at, NULL, NULL, parts[part].iov_base, size);
    at += size;
    left -= size;
  }
  return length;
}
#define GATHERED(fd, parts, count, offset, call) \
  if (!watched(fd)) return call; \
  enter(); \
  ssize_t length = gathered(fd, parts, count, offset, call); \
  leave(); \
  return length;
ssize_t writev(int fd, const struct iovec *parts, int count) { REAL(writev); for (int part = 0; part < count; part += 1) says(fd, parts[part].iov_base, parts[part].iov_len); GATHERED(fd, parts, count, -1, real(fd, parts, count)) }
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset) { REAL(pwritev); GATHERED(fd, parts, count, offset, real(fd, parts, count, offset)) }
ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t offset) { REAL(pwritev64); GATHERED(fd, parts, count, offset, real(fd, parts, count, offset)) }

#define AFTER(test, call, record) \
  if (!(test)) return call; \
  enter(); \
  int result = call; \
  if (result == 0) { record; } \
  leave(); \
  return result;

/* The offset of a flush: 1 if the file was opened only to read. */
static uint64_t read_only(int fd) { return (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY; }

int ftruncate(int fd, off_t size) { REAL(ftruncate); AFTER(watched(fd), real(fd, size), put(TRUNCATE, inode_of[fd], size, NULL, NULL, NULL, 0)) }
int ftruncate64(int fd, off64_t size) { REAL(ftruncate64); AFTER(watched(fd), real(fd, size), put(TRUNCATE, inode_of[fd], size, NULL, NULL, NULL, 0)) }
int fsync(int fd) { REAL(fsync); AFTER(watched(fd), real(fd), put(SYNC, inode_of[fd], read_only(fd), path_of[fd], NULL, NULL, 0)) }
int fdatasync(int fd) { REAL(fdatasync); AFTER(watched(fd), real(fd), put(SYNC, inode_of[fd], read_only(fd), path_of[fd], NULL, NULL, 0)) }

static uint64_t inode(const char *path) {
  struct stat now;
  return lstat(path, &now) == 0 ? now.st_ino : 0;
}

static int two(int folder, const char *path, int folder2, const char *path2, char *full, char *full2) {
  int first = below(folder, path, full), second = below(folder2, path2, full2);
  return first || second;
}
#define NAMES char full[PATH_MAX] = "", full2[PATH_MAX] = ""
int rename(const char *path, const char *path2) { REAL(rename); NAMES; AFTER(two(AT_FDCWD, path, AT_FDCWD, path2, full, full2), real(path, path2), put(RENAME, inode(full2), 0, full, full2, NULL, 0)) }
int renameat(int a, const char *path, int b, const char *path2) { REAL(renameat); NAMES; AFTER(two(a, path, b, path2, full, full2), real(a, path, b, path2), put(RENAME, inode(full2), 0, full, full2, NULL, 0)) }
int renameat2(int a, const char *path, int b, const char *path2, unsigned flags) { REAL(renameat2); NAMES; AFTER(two(a, path, b, path2, full, full2), real(a, path, b, path2, flags), put(RENAME, inode(full2), 0, full, full2, NULL, 0)) }
int link(const char *path, const char *path2) { REAL(link); NAMES; AFTER(two(AT_FDCWD, path, AT_FDCWD, path2, full, full2), real(path, path2), put(LINK, inode(full2), 0, full, full2, NULL, 0)) }
int linkat(int a, const char *path, int b, const char *path2, int flags) { REAL(linkat); NAMES; AFTER(two(a, path, b, path2, full, full2), real(a, path, b, path2, flags), put(LINK, inode(full2), 0, full, full2, NULL, 0)) }
int unlink(const char *path) { REAL(unlink); NAMES; (void)full2; AFTER(below(AT_FDCWD, path, full), real(path), put(UNLINK, 0, 0, full, NULL, NULL, 0)) }
int unlinkat(int a, const char *path, int flags) { REAL(unlinkat); NAMES; (void)full2; AFTER(below(a, path, full), real(a, path, flags), put((flags & AT_REMOVEDIR) ? RMDIR : UNLINK, 0, 0, full, NULL, NULL, 0)) }
int remove(const char *path) {
  struct stat now;
  if (lstat(path, &now) == 0 && S_ISDIR(now.st_mode)) return rmdir(path);
  return unlink(path);
}
int rmdir(const char *path) { REAL(rmdir); NAMES; (void)full2; AFTER(below(AT_FDCWD, path, full), real(path), put(RMDIR, 0, 0, full, NULL, NULL, 0)) }
int mkdir(const char *path, mode_t mode) { REAL(mkdir); NAMES; (void)full2; AFTER(below(AT_FDCWD, path, full), real(path, mode), put(MKDIR, inode(full), 0, full, NULL, NULL, 0)) }
int mkdirat(int a, const char *path, mode_t mode) { REAL(mkdirat); NAMES; (void)full2; AFTER(below(a, path, full), real(a, path, mode), put(MKDIR, inode(full), 0, full, NULL, NULL, 0)) }
