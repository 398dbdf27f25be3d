/* run_fixture_test.h - where an attempt is played; included by tests only.
 *
 * The spawner and the processes are real, the server is the fake one. One attempt at a time; its
 * result is kept for the test to look at. */
#pragma once
#include "worker/link/fake_server_test.h"
#include "worker/run/run.h"
#include "worker/spawn/tmpdir.h"

#include <sys/wait.h>
#include <unistd.h>

struct stage {
    uv_loop_t loop;
    struct fake_server *server;
    struct run_host host;
    char *tmp_dir;
    struct run *run;           /* NULL when it is over */
    struct poll_result result; /* of the one that was over last */
    struct arena arena;        /* of its texts */
};

static char stage_path[] = "PATH=/usr/local/bin:/usr/bin:/bin";
static char stage_secret[] = "BELFRY_TOKEN=secret"; /* must not reach a command */
static char *stage_env[] = {stage_path, stage_secret, NULL};

static inline void stage_on_done(void *arg, struct run *run, const struct poll_result *result)
{
    struct stage *s = arg;
    s->result = *result;
    s->result.result = arena_str(&s->arena, result->result);
    s->result.error = arena_str(&s->arena, result->error);
    run_free(run);
    s->run = NULL;
}

static inline void stage_on_event(void *arg, const struct spawn_event *event)
{
    struct stage *s = arg;
    if (s->run != NULL && run_id(s->run) == event->id)
        run_on_event(s->run, event);
}

static inline void stage_on_room(void *arg)
{
    (void)arg;
}

static inline int stage_set_up(void **state)
{
    struct stage *s = MEM_NEW(struct stage);
    struct err err;
    s->tmp_dir = tmpdir_name("/tmp");
    assert_int_equal(spawner_new(s->tmp_dir, -1, &s->host.spawner, &err), RC_OK);
    assert_int_equal(tmpdir_make(s->tmp_dir, &err), RC_OK);
    uv_loop_init(&s->loop);
    s->server = fake_new(&s->loop);
    s->server->welcome.worker_id = 1;
    s->host.loop = &s->loop;
    s->host.tmp_dir = s->tmp_dir;
    s->host.env = stage_env;
    s->host.kill_grace_ms = 10000;
    s->host.output_bytes_max = 1 << 20;
    s->host.on_done = stage_on_done;
    s->host.arg = s;
    spawner_listen(s->host.spawner, &s->loop,
                   &(struct spawner_events){stage_on_event, stage_on_room, stage_on_room, s});
    assert_int_equal(output_sender_new(&s->loop, str_c(s->server->url), STR("key"),
                                       &s->host.output_sender, &err),
                     RC_OK);
    assert_int_equal(checkpoint_client_new(&s->loop, str_c(s->server->url), STR("key"),
                                           &s->host.checkpoint_client, &err),
                     RC_OK);
    s->host.worker_id = 1;
    *state = s;
    return 0;
}

static inline int stage_tear_down(void **state)
{
    struct stage *s = *state;
    pid_t spawner = spawner_pid(s->host.spawner);
    if (s->run != NULL)
        run_free(s->run);
    output_sender_free(s->host.output_sender);
    checkpoint_client_free(s->host.checkpoint_client);
    spawner_free(s->host.spawner);
    fake_free(s->server);
    assert_int_equal(uv_loop_close(&s->loop), 0);
    waitpid(spawner, NULL, 0);
    arena_free(&s->arena);
    free(s->tmp_dir);
    free(s);
    return 0;
}

/* An attempt with token 3, so not the first one. */
static inline void stage_start(struct stage *s, const char *spec, const char *payload)
{
    static uint64_t id = 100;
    struct err err;
    struct poll_lease lease = {
        .exec_id = ++id,
        .job_id = 7,
        .token = 3,
        .attempt = 2,
        .slot_ms = 1794816000000,
        .ttl_ms = 20000,
        .spec = str_c(spec),
        .payload = str_c(payload),
    };
    if (run_new(&s->host, id, &lease, &s->run, &err))
        fail_msg("%s", err.text);
    run_start(s->run);
}

static inline void stage_finish(struct stage *s)
{
    FAKE_WAIT(s->server, s->run == NULL);
    assert_int_equal(s->server->log_seq, s->result.usage.log_seq); /* all of it has arrived */
}

static inline void stage_expect(const struct stage *s, enum outcome outcome, const char *error)
{
    assert_int_equal(s->result.outcome, outcome);
    assert_string_equal(s->result.error.ptr, error);
}
