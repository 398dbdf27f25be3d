#include "loop/file.h"
#include "base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    READ_BYTES = 65536,
    KEY_BYTES_MAX = 4096, /* a key has some 50; whatever is longer is another file */
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
