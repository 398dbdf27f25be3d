#include "loop/file.h"
#include "base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    READ_BYTES = 65536,
    KEY_BYTES_MAX = 4096, /* a key has some 50; a longer file is not a key */
};

static void close_fd(const int *fd)
{
    if (*fd > STDERR_FILENO)
        close(*fd);
}

static enum rc open_file(const char *path, int *ret_fd, struct err *err)
{
    if (strcmp(path, "-") == 0) {
        *ret_fd = STDIN_FILENO;
        return RC_OK;
    }
    *ret_fd = open(path, O_RDONLY | O_CLOEXEC);
    if (*ret_fd >= 0)
        return RC_OK;
    return err_set(err, errno == ENOENT ? RC_NOT_FOUND : RC_IO, "%s: %s", path, strerror(errno));
}

enum rc file_read(const char *path, size_t max_bytes, struct arena *arena, struct str *ret_text,
                  struct err *err)
{
    CLEANUP(close_fd) int fd = -1;
    CLEANUP(buf_free) struct buf text = BUF(max_bytes + READ_BYTES);

    TRY(open_file(path, &fd, err));
    for (;;) {
        char *room = buf_reserve(&text, READ_BYTES); /* never NULL: text.len <= max_bytes */
        ssize_t got = read(fd, room, READ_BYTES);
        if (got > 0)
            text.len += (size_t)got;
        if (text.len > max_bytes)
            return err_set(err, RC_TOO_LARGE, "%s: more than %zu bytes", path, max_bytes);
        if (got == 0)
            break;
        if (got < 0 && errno != EINTR)
            return err_set(err, RC_IO, "%s: %s", path, strerror(errno));
    }
    *ret_text = arena_str(arena, buf_str(&text));
    return RC_OK;
}

/* A name is in the directory for good only when that was synced too. */
static bool sync_dir(const char *dir)
{
    CLEANUP(close_fd) int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd >= 0 && fsync(fd) == 0;
}

/* A file of that name which a start before this one left half written, or a link, makes way. */
static bool write_new(const char *path, struct str line)
{
    unlink(path);
    CLEANUP(close_fd)
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    return fd >= 0 && write(fd, line.ptr, line.len) == (ssize_t)line.len &&
           write(fd, "\n", 1) == 1 && fsync(fd) == 0;
}

enum rc file_write_secret(const char *dir, const char *name, struct str line, struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    const char *path = arena_printf(&arena, "%s/%s", dir, name).ptr;
    const char *temp = arena_printf(&arena, "%s.new", path).ptr;
    if (!write_new(temp, line) || rename(temp, path) != 0 || !sync_dir(dir))
        return err_set(err, RC_IO, "cannot write %s: %s", path, strerror(errno));
    return RC_OK;
}

enum rc file_read_key(const char *path, const char *key_name, struct arena *arena,
                      struct str *ret_key, struct err *err)
{
    const char *token = getenv("BELFRY_TOKEN");
    if (path == NULL && token != NULL && token[0] != '\0') {
        *ret_key = str_trim(str_c(token));
        return RC_OK;
    }
    if (path == NULL) {
        const char *dir = getenv("BELFRY_DATA");
        if (dir == NULL || dir[0] == '\0')
            dir = "./belfry-data";
        path = arena_printf(arena, "%s/%s", dir, key_name).ptr;
    }
    TRY(file_read(path, KEY_BYTES_MAX, arena, ret_key, err));
    *ret_key = str_trim(*ret_key);
    if (ret_key->len == 0)
        return err_set(err, RC_INVALID, "%s: holds no key", path);
    return RC_OK;
}
