#include "server/config/data_dir.h"
#include "loop/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SIGN_BYTES_MAX = 1024, MARK_BYTES = 48 };

/* Which file the lock is. A directory may be copied while a server is in it: then the copy names
 * that server, and nobody has the copy's lock, but it is another file. Empty: the system does not
 * say. */
static const char *file_mark(int fd, char *ret_text, size_t max)
{
    struct stat file;
    ret_text[0] = '\0';
    if (fstat(fd, &file) == 0)
        snprintf(ret_text, max, "%ju:%ju", (uintmax_t)file.st_dev, (uintmax_t)file.st_ino);
    return ret_text;
}

/* "BOOT-ID FILE START" */
static struct str read_former(const struct data_dir *dir, struct arena *arena)
{
    char text[SIGN_BYTES_MAX];
    char mark[MARK_BYTES];
    ssize_t len = pread(dir->fd, text, sizeof text, 0);
    struct str rest = str_of(text, len > 0 ? (size_t)len : 0);
    struct str line = str_cut(&rest, '\n');
    struct str boot_id = str_cut(&line, ' ');
    struct str file = str_cut(&line, ' ');
    bool sure = rest.ptr != NULL && dir->boot_id.len > 0 && str_eq(boot_id, dir->boot_id) &&
                file.len > 0 && str_eq(file, str_c(file_mark(dir->fd, mark, sizeof mark)));
    return sure && machine_has_file(dir->fd) ? arena_str(arena, line) : STR("");
}

enum rc data_dir_lock(const char *path, struct arena *arena, struct data_dir *ret_dir,
                      struct err *err)
{
    const char *file = arena_printf(arena, "%s/server.lock", path).ptr;
    struct data_dir dir = {.fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0600)};
    if (dir.fd < 0)
        return err_set(err, RC_IO, "cannot open %s: %s", file, strerror(errno));
    if (flock(dir.fd, LOCK_EX | LOCK_NB) != 0) {
        enum rc rc = errno == EWOULDBLOCK
                         ? err_set(err, RC_BUSY,
                                   "the data directory %s is in use by another belfry server; give "
                                   "each one its own with --data",
                                   path)
                         : err_set(err, RC_IO, "cannot lock %s: %s", file, strerror(errno));
        close(dir.fd);
        return rc;
    }
    dir.boot_id = machine_boot_id(arena);
    dir.replaces = read_former(&dir, arena);
    *ret_dir = dir;
    return RC_OK;
}

enum rc data_dir_sign(const struct data_dir *dir, struct str start, struct err *err)
{
    char text[SIGN_BYTES_MAX];
    char mark[MARK_BYTES];
    int len = snprintf(text, sizeof text, "%.*s %s %.*s\n", STR_ARG(dir->boot_id),
                       file_mark(dir->fd, mark, sizeof mark), STR_ARG(start));
    bool fits = len > 0 && (size_t)len < sizeof text;
    if (ftruncate(dir->fd, 0) != 0 || (fits && pwrite(dir->fd, text, (size_t)len, 0) != len))
        return err_set(err, errno == ENOSPC ? RC_FULL : RC_IO,
                       "cannot write the lock of the data directory: %s", strerror(errno));
    return RC_OK;
}

void data_dir_unlock(struct data_dir *dir)
{
    if (dir->fd >= 0)
        close(dir->fd);
    dir->fd = -1;
}
