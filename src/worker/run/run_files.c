#include "worker/run/run_files.h"
#include "base/id.h"
#include "base/log.h"
#include "base/mem.h"
#include "wire/json/json.h"
#include "wire/json/json_scan.h"
#include "worker/spawn/tmpdir.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum rc write_file(const char *path, struct str bytes, struct err *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_set(err, RC_IO, "make %s: %s", path, strerror(errno));
    while (bytes.len > 0) {
        ssize_t written = write(fd, bytes.ptr, bytes.len);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            break;
        bytes = str_from(bytes, (size_t)written);
    }
    int error = errno;
    close(fd);
    return bytes.len > 0 ? err_set(err, RC_IO, "write %s: %s", path, strerror(error)) : RC_OK;
}

static enum rc write_payload(const char *path, struct str payload, int *ret_fd, struct err *err)
{
    TRY(write_file(path, payload, err));
    *ret_fd = open(path, O_RDONLY | O_CLOEXEC); /* anew: a command must not write to its stdin */
    return *ret_fd < 0 ? err_set(err, RC_IO, "open %s: %s", path, strerror(errno)) : RC_OK;
}

static bool make_dir(const char *tmp_dir, struct run_spares *spares, const char *dir)
{
    if (run_spares_take(spares, tmp_dir, dir) || mkdir(dir, 0700) == 0)
        return true;
    /* Systems clean /tmp of what looks forgotten: a worker may live longer than its directory. */
    return errno == ENOENT && tmpdir_make(tmp_dir, NULL) == RC_OK && mkdir(dir, 0700) == 0;
}

enum rc run_files_make(const char *tmp_dir, struct run_spares *spares,
                       const struct poll_lease *lease, struct str checkpoint, struct arena *arena,
                       struct run_files *ret_files, int *ret_payload_fd, struct err *err)
{
    char id[ID_TEXT_MAX];
    id_format(id, ID_EXEC, lease->exec_id);
    const char *dir = arena_printf(arena, "%s/%s-%" PRIu64, tmp_dir, id, lease->token).ptr;
    *ret_files = (struct run_files){
        .dir = dir,
        .payload = arena_printf(arena, "%s/payload", dir).ptr,
        .result = arena_printf(arena, "%s/result", dir).ptr,
        .checkpoint = arena_printf(arena, "%s/checkpoint", dir).ptr,
    };
    if (!make_dir(tmp_dir, spares, dir))
        return err_set(err, RC_IO, "make %s: %s", dir, strerror(errno));
    if (checkpoint.len > 0)
        TRY(write_file(ret_files->checkpoint, checkpoint, err));
    return write_payload(ret_files->payload, lease->payload, ret_payload_fd, err);
}

/* Reads a whole regular file. Nothing else: opening a pipe that a command has put there instead
 * must not make us wait. */
static enum rc read_result(int fd, struct arena *arena, struct str *ret_text, struct err *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return err_set(err, RC_INVALID, "it is not a file");
    if (st.st_size > POLL_RESULT_BYTES_MAX)
        return err_set(err, RC_TOO_LARGE, "%" PRId64 " bytes are more than %d", (int64_t)st.st_size,
                       POLL_RESULT_BYTES_MAX);
    char *text = arena_bytes(arena, (size_t)st.st_size);
    ssize_t len = pread(fd, text, (size_t)st.st_size, 0);
    if (len < 0)
        return err_set(err, RC_IO, "%s", strerror(errno));
    *ret_text = str_trim(str_of(text, (size_t)len));
    return RC_OK;
}

enum rc run_files_result(const struct run_files *files, struct arena *arena, struct str *ret_result,
                         struct err *err)
{
    *ret_result = (struct str){0};
    int fd = open(files->result, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? RC_OK : err_set(err, RC_IO, "%s", strerror(errno));
    enum rc rc = read_result(fd, arena, ret_result, err);
    close(fd);
    if (rc == RC_OK && ret_result->len > 0)
        rc = json_check(*ret_result, JSON_DEPTH_MAX, err);
    if (rc != RC_OK)
        *ret_result = (struct str){0};
    return rc;
}

/* ---- removal */

struct removal {
    uv_work_t work;
    char *dir; /* owned */
};

static void remove_tree(uv_work_t *work)
{
    struct removal *removal = work->data;
    struct err err;
    if (tmpdir_remove(removal->dir, &err) != RC_OK)
        log_warn("the directory of an attempt could not be removed", "error", err.text, NULL);
}

static void on_removed(uv_work_t *work, int status)
{
    struct removal *removal = work->data;
    (void)status;
    free(removal->dir);
    free(removal);
}

void run_files_remove(const struct run_files *files, const char *tmp_dir, struct run_spares *spares,
                      uv_loop_t *loop)
{
    unlink(files->payload);
    unlink(files->result);
    unlink(files->checkpoint);
    if (run_spares_keep(spares, tmp_dir, files->dir) || rmdir(files->dir) == 0 || errno == ENOENT)
        return;
    struct removal *removal = MEM_NEW(struct removal);
    removal->dir = mem_dup(files->dir, strlen(files->dir));
    removal->work.data = removal;
    uv_queue_work(loop, &removal->work, remove_tree, on_removed);
}
