#include "worker/run/run_checkpoint.h"
#include "base/id.h"
#include "base/log.h"
#include "loop/clock.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    /* A change so soon after another may carry the same time: kernels count it in ticks of up to
     * ten milliseconds. A file that was read within this is looked at again. */
    BLUR_MS = 50,
    /* How long a result waits for a server that is away: as long as one needs to be started again,
     * and more. Then the result is worth more than the last seconds of work. */
    SAVE_WAIT_MS = 60000,
};

/* ---- the file */

static struct file_version version_of(const struct stat *st)
{
    return (struct file_version){st->st_ino, st->st_size, st->st_mtim};
}

static bool is_same(const struct file_version *a, const struct file_version *b)
{
    return a->inode == b->inode && a->size == b->size && a->changed.tv_sec == b->changed.tv_sec &&
           a->changed.tv_nsec == b->changed.tv_nsec;
}

static bool is_blurred(const struct file_version *v, int64_t now_ms)
{
    int64_t changed_ms = (int64_t)v->changed.tv_sec * 1000 + v->changed.tv_nsec / 1000000;
    return now_ms - changed_ms < BLUR_MS;
}

/* After the end there are no more notes. */
static void complain(struct run_checkpoint *c, struct str why)
{
    char exec_id[ID_TEXT_MAX];
    if (c->complained)
        return;
    c->complained = true;
    if (c->ended)
        log_warn("a checkpoint was not saved", "execution_id",
                 id_format(exec_id, ID_EXEC, c->errand.exec_id).ptr, "error", why.ptr, NULL);
    else
        c->events.on_complaint(c->events.arg, why);
}

/* RC_INVALID, RC_TOO_LARGE: it cannot be a checkpoint. */
static enum rc check_file(const struct run_checkpoint *c, const struct stat *st, struct err *err)
{
    if (!S_ISREG(st->st_mode))
        return err_set(err, RC_INVALID, "it is not a file");
    if (st->st_size > (off_t)c->errand.bytes_max)
        return err_set(err, RC_TOO_LARGE, "%" PRId64 " bytes are more than %zu",
                       (int64_t)st->st_size, c->errand.bytes_max);
    return RC_OK;
}

/* Up to the size it had when it was looked at: later additions change its version, and is saved the
 * next time. */
static enum rc read_bytes(int fd, size_t size, struct buf *body, struct err *err)
{
    if (size == 0)
        return RC_OK;
    char *room = buf_reserve(body, size);
    assert(room != NULL); /* it was checked against the limit */
    while (body->len < size) {
        ssize_t len = read(fd, room + body->len, size - body->len);
        if (len < 0 && errno == EINTR)
            continue;
        if (len < 0)
            return err_set(err, RC_IO, "%s", strerror(errno));
        if (len == 0) /* it was cut short under our eyes */
            break;
        body->len += (size_t)len;
    }
    return RC_OK;
}

static enum rc read_open(struct run_checkpoint *c, int fd, struct buf *body, struct err *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return err_set(err, RC_IO, "%s", strerror(errno));
    TRY(check_file(c, &st, err));
    struct file_version version = version_of(&st);
    bool blurred = is_blurred(&version, clock_wall_ms());
    TRY(read_bytes(fd, (size_t)st.st_size, body, err));
    c->sent.version = blurred ? (struct file_version){0} : version;
    return RC_OK;
}

/* Systems clean up what looks forgotten: that is not the command's word. */
static bool was_removed(const struct run_checkpoint *c)
{
    return errno == ENOENT && access(c->files->dir, F_OK) == 0;
}

/* No file is a body of nothing. Nothing but files is opened: a pipe put in the place of one must
 * not make us wait. */
static enum rc read_file(struct run_checkpoint *c, struct buf *body, struct err *err)
{
    int fd = open(c->files->checkpoint, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return was_removed(c) ? RC_OK : err_set(err, RC_IO, "%s", strerror(errno));
    enum rc rc = read_open(c, fd, body, err);
    close(fd);
    return rc;
}

/* True when the server should be told of the file, as far as can be seen from outside. */
static bool has_changed(struct run_checkpoint *c)
{
    struct stat st;
    struct err err;
    if (lstat(c->files->checkpoint, &st) != 0)
        return c->kept && was_removed(c);
    if (S_ISREG(st.st_mode) && st.st_size == 0)
        return c->kept;
    if (check_file(c, &st, &err) != RC_OK) {
        complain(c, str_c(err.text));
        return false;
    }
    struct file_version now = version_of(&st);
    return !is_same(&now, &c->saved);
}

/* ---- saving */

static bool fill(void *arg, struct buf *body)
{
    struct run_checkpoint *c = arg;
    struct err err;
    memset(&c->sent, 0, sizeof(c->sent));
    c->sent.last = c->ended;
    if (read_file(c, body, &err) != RC_OK) {
        complain(c, str_c(err.text));
        return false;
    }
    c->sent.empty = body->len == 0;
    c->sent.tried = !c->sent.empty || c->kept;
    c->kept |= !c->sent.empty; /* it may arrive even if we never hear of it */
    return c->sent.tried;
}

static void save(struct run_checkpoint *c)
{
    c->errand.kind = ERRAND_SAVE;
    c->under_way = true;
    checkpoint_client_send(c->checkpoint_client, &c->errand);
}

static void settle(struct run_checkpoint *c)
{
    uv_timer_stop(&c->timer);
    checkpoint_client_cancel(c->checkpoint_client, &c->errand);
    c->events.on_saved(c->events.arg);
}

static void on_patience_over(uv_timer_t *timer)
{
    struct run_checkpoint *c = timer->data;
    char exec_id[ID_TEXT_MAX];
    log_warn("a result was sent without the last checkpoint of its attempt", "execution_id",
             id_format(exec_id, ID_EXEC, c->errand.exec_id).ptr, "why", "the server is away", NULL);
    settle(c);
}

static void on_save_done(struct run_checkpoint *c, enum errand_end end, struct str why)
{
    if (end == ERRAND_DONE && c->sent.tried) {
        c->saved = c->sent.version;
        c->kept = !c->sent.empty;
        c->complained = false;
    }
    if (end == ERRAND_FAILED)
        complain(c, why);
    if (end == ERRAND_LOST)
        uv_timer_stop(&c->timer); /* the holder of the lease saves from now on */
    if (!c->ended)
        return;
    /* One that was under way when the command ended may have missed its last words. */
    if (end == ERRAND_DONE && !c->sent.last && has_changed(c))
        save(c);
    else
        settle(c);
}

static void on_done(void *arg, enum errand_end end, struct str text)
{
    struct run_checkpoint *c = arg;
    c->under_way = false;
    if (c->errand.kind == ERRAND_FETCH)
        c->events.on_fetched(c->events.arg, end, text);
    else
        on_save_done(c, end, text);
}

static void on_look(uv_timer_t *timer)
{
    struct run_checkpoint *c = timer->data;
    if (!c->under_way && has_changed(c))
        save(c);
}

/* ---- the public face */

void run_checkpoint_init(struct run_checkpoint *c, uv_loop_t *loop,
                         struct checkpoint_client *checkpoint_client, uint64_t worker_id,
                         const struct poll_lease *lease, size_t bytes_max,
                         const struct run_checkpoint_events *events)
{
    *c = (struct run_checkpoint){
        .checkpoint_client = checkpoint_client,
        .events = *events,
        .errand =
            {
                .worker_id = worker_id,
                .exec_id = lease->exec_id,
                .token = lease->token,
                .bytes_max = bytes_max,
                .fill = fill,
                .on_done = on_done,
                .arg = c,
            },
    };
    uv_timer_init(loop, &c->timer); /* cannot fail */
    c->timer.data = c;
}

void run_checkpoint_close(struct run_checkpoint *c, uv_close_cb on_closed, void *data)
{
    checkpoint_client_cancel(c->checkpoint_client, &c->errand);
    c->timer.data = data;
    uv_close((uv_handle_t *)&c->timer, on_closed);
}

bool run_checkpoint_fetch(struct run_checkpoint *c)
{
    if (c->errand.token == 1 || c->errand.bytes_max == 0)
        return false;
    c->errand.kind = ERRAND_FETCH;
    c->under_way = true;
    checkpoint_client_send(c->checkpoint_client, &c->errand);
    return true;
}

void run_checkpoint_watch(struct run_checkpoint *c, const struct run_files *files, bool found,
                          int64_t every_ms)
{
    if (c->errand.bytes_max == 0)
        return;
    c->files = files;
    c->kept = found;
    uv_timer_start(&c->timer, on_look, (uint64_t)every_ms, (uint64_t)every_ms);
}

bool run_checkpoint_end(struct run_checkpoint *c, bool succeeded)
{
    uv_timer_stop(&c->timer);
    if (c->files == NULL || succeeded || !(c->under_way || has_changed(c))) {
        checkpoint_client_cancel(c->checkpoint_client, &c->errand);
        return false;
    }
    c->ended = true;
    if (!c->under_way)
        save(c);
    uv_timer_start(&c->timer, on_patience_over, SAVE_WAIT_MS, 0);
    return true;
}
