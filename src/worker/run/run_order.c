#include "worker/run/run_order.h"
#include "base/id.h"
#include "base/mem.h"
#include "loop/clock.h"
#include "wire/spec/spec_json.h"
#include "worker/run/run_env.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum rc copy(struct run_order *order, const struct poll_lease *lease, struct err *err)
{
    order->lease = *lease;
    order->lease.spec = arena_str(&order->arena, lease->spec);
    order->lease.payload = arena_str(&order->arena, lease->payload);
    if (spec_read(order->lease.spec, &order->arena, &order->spec, err) != RC_OK)
        return err->rc = RC_CORRUPT;
    if (order->spec.work == WORK_HANDLER)
        return err_set(err, RC_INVALID, "this worker runs commands and has no handlers");
    return RC_OK;
}

enum rc run_order_new(const struct poll_lease *lease, struct run_order **ret_order, struct err *err)
{
    struct run_order *order = MEM_NEW(struct run_order);
    if (copy(order, lease, err)) {
        run_order_free(order);
        return err->rc;
    }
    *ret_order = order;
    return RC_OK;
}

void run_order_free(struct run_order *order)
{
    if (order == NULL)
        return;
    arena_free(&order->arena);
    free(order);
}

/* Descriptors of a command that is being started; -1: none. */
struct stdio {
    int child[3];
    int taps[2]; /* our ends of its standard output and error */
};

static void close_stdio(struct stdio *io)
{
    for (size_t i = 0; i < COUNT_OF(io->child); i++) {
        if (io->child[i] >= 0)
            close(io->child[i]);
    }
    for (size_t i = 0; i < COUNT_OF(io->taps); i++) {
        if (io->taps[i] >= 0)
            close(io->taps[i]);
    }
}

static enum rc open_pipes(struct stdio *io, struct err *err)
{
    for (size_t i = 0; i < COUNT_OF(io->taps); i++) {
        int pair[2];
        if (pipe2(pair, O_CLOEXEC) != 0)
            return err_set(err, RC_IO, "make a pipe: %s", strerror(errno));
        io->taps[i] = pair[0];
        io->child[1 + i] = pair[1];
        /* Only our end: the command's own must block, or its prints would fail. */
        fcntl(pair[0], F_SETFL, O_NONBLOCK);
    }
    return RC_OK;
}

static char **argv_of(const struct spec *spec, struct arena *arena)
{
    static const struct str shell[] = {STR_INIT("/bin/sh"), STR_INIT("-c")};
    size_t before = spec->work == WORK_SHELL ? COUNT_OF(shell) : 0;
    char **argv = ARENA_ARRAY(arena, char *, before + spec->argc + 1);
    for (size_t i = 0; i < before; i++)
        argv[i] = arena_zstr(arena, shell[i]);
    for (size_t i = 0; i < spec->argc; i++)
        argv[before + i] = arena_zstr(arena, spec->argv[i]);
    return argv;
}

/* Asks the spawner; all it needs is made, sent and forgotten here. */
static enum rc spawn(struct run_order *order, const struct run_host *host, uint64_t run_id,
                     const struct run_files *files, const struct stdio *io, struct err *err)
{
    const struct spec *spec = &order->spec;
    char mark[SPAWN_MARK_MAX];
    char id[ID_TEXT_MAX];
    struct run_facts facts = {
        .lease = &order->lease,
        .payload_path = files->payload,
        .result_path = files->result,
        .checkpoint_path = files->checkpoint,
        .deadline_ms = spec->timeout_ms == 0 ? 0 : clock_wall_ms() + spec->timeout_ms,
    };
    struct spawn_plan plan = {
        .working_dir =
            spec->working_dir.len > 0 ? arena_zstr(&order->arena, spec->working_dir) : NULL,
        .argv = argv_of(spec, &order->arena),
        .env = run_env(host->env, spec, &facts, &order->arena),
    };
    id_format(id, ID_EXEC, order->lease.exec_id);
    snprintf(mark, sizeof(mark), SPAWN_MARK "%s.%" PRIu64, id, order->lease.token);
    return spawner_run(host->spawner, run_id, &plan, mark, io->child, order->deadline_ms, err);
}

enum rc run_order_launch(struct run_order *order, struct run_host *host, uint64_t run_id,
                         struct str checkpoint, struct run_files *ret_files, struct arena *arena,
                         int ret_taps[2], struct err *err)
{
    CLEANUP(close_stdio) struct stdio io = {{-1, -1, -1}, {-1, -1}};
    TRY(run_files_make(host->tmp_dir, &host->spares, &order->lease, checkpoint, arena, ret_files,
                       &io.child[0], err));
    TRY(open_pipes(&io, err));
    TRY(spawn(order, host, run_id, ret_files, &io, err));
    memcpy(ret_taps, io.taps, sizeof(io.taps));
    io.taps[0] = io.taps[1] = -1; /* the caller's now */
    return RC_OK;
}
