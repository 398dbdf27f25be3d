#include "worker/run/run_env.h"
#include "base/buf.h"
#include "base/id.h"
#include "base/when.h"
#include "worker/spawn/spawn_wire.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

enum { FACTS_MAX = 16 }; /* entries of our own */

struct env {
    char **entries; /* with room for all that may come, and a NULL */
    size_t count;
    struct arena *arena;
};

static struct str key_of(const char *entry)
{
    return str_of(entry, (size_t)(strchrnul(entry, '=') - entry));
}

/* Takes the place of an entry with the same key: some programs read the first, some the last. */
static void set(struct env *env, char *entry)
{
    struct str key = key_of(entry);
    for (size_t i = 0; i < env->count; i++) {
        if (str_eq(key_of(env->entries[i]), key)) {
            env->entries[i] = entry;
            return;
        }
    }
    env->entries[env->count++] = entry;
}

static void __attribute__((format(printf, 2, 3))) set_fact(struct env *env, const char *format, ...)
{
    char text[4096 + 64]; /* paths are the longest */
    va_list args;
    va_start(args, format);
    int len = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    assert(len > 0 && len < (int)sizeof(text));
    set(env, arena_zstr(env->arena, str_of(text, (size_t)len)));
}

/* The variable is not there, whatever the worker itself was started with. */
static void unset(struct env *env, struct str key)
{
    for (size_t i = 0; i < env->count; i++) {
        if (str_eq(key_of(env->entries[i]), key)) {
            env->entries[i] = env->entries[--env->count];
            return;
        }
    }
}

/* From a server that says nothing about traces: one for every attempt, sampled. */
static struct trace_parent new_trace(void)
{
    uint64_t random[3];
    ssize_t got = getrandom(random, sizeof(random), 0);
    assert(got == sizeof(random)); /* so few bytes always come, and at once */
    (void)got;
    return (struct trace_parent){{random[0] | 1, random[1]}, random[2] | 1, TRACE_SAMPLED};
}

/* W3C Trace Context, as variables: the attempt's span is the parent of what the command does. */
static void set_trace(struct env *env, const struct poll_lease *lease)
{
    char text[TRACE_TEXT_MAX];
    bool told = trace_id_is_set(lease->trace.trace);
    struct trace_parent parent = told ? lease->trace : new_trace();
    set_fact(env, "TRACEPARENT=%s", trace_parent_format(text, &parent).ptr);
    if (told && lease->trace_state.len > 0)
        set_fact(env, "TRACESTATE=%.*s", STR_ARG(lease->trace_state));
    else
        unset(env, STR("TRACESTATE"));
}

static void set_facts(struct env *env, const struct run_facts *facts)
{
    const struct poll_lease *lease = facts->lease;
    char id[ID_TEXT_MAX];
    char when[WHEN_TEXT_MAX];
    id_format(id, ID_EXEC, lease->exec_id);
    set_fact(env, SPAWN_MARK "%s.%" PRIu64, id, lease->token);
    set_fact(env, "BELFRY_EXECUTION_ID=%s", id);
    set_fact(env, "BELFRY_IDEMPOTENCY_KEY=%s", id); /* for all attempts the same */
    id_format(id, ID_JOB, lease->job_id);
    set_fact(env, "BELFRY_JOB_ID=%s", id);
    set_fact(env, "BELFRY_ATTEMPT=%" PRIu32, lease->attempt);
    set_fact(env, "BELFRY_TOKEN_FENCE=%" PRIu64, lease->token);
    when_format(when, lease->slot_ms);
    set_fact(env, "BELFRY_SLOT=%s", when);
    if (facts->deadline_ms != 0) {
        when_format(when, facts->deadline_ms);
        set_fact(env, "BELFRY_DEADLINE=%s", when);
    }
    set_fact(env, "BELFRY_PAYLOAD_FILE=%s", facts->payload_path);
    set_fact(env, "BELFRY_RESULT_FILE=%s", facts->result_path);
    set_fact(env, "BELFRY_CHECKPOINT_FILE=%s", facts->checkpoint_path);
}

static char *join(struct arena *arena, const struct pair *pair)
{
    size_t size = pair->key.len + pair->value.len + 2;
    struct buf entry = {.ptr = arena_bytes(arena, size), .cap = size, .max = size};
    buf_add(&entry, pair->key);
    buf_add_char(&entry, '=');
    buf_add(&entry, pair->value);
    buf_add_char(&entry, '\0');
    return entry.ptr;
}

static size_t count_of(char *const *list)
{
    size_t count = 0;
    while (list[count] != NULL)
        count++;
    return count;
}

char **run_env(char *const *inherited, const struct spec *spec, const struct run_facts *facts,
               struct arena *arena)
{
    size_t room = count_of(inherited) + spec->env_count + FACTS_MAX + 1;
    struct env env = {.entries = ARENA_ARRAY(arena, char *, room), .arena = arena};

    for (; *inherited != NULL; inherited++) {
        if (!str_starts(key_of(*inherited), STR("BELFRY_")))
            set(&env, *inherited);
    }
    set_trace(&env,
              facts->lease); /* a job may be part of a trace of its own: its env goes before */
    for (size_t i = 0; i < spec->env_count; i++)
        set(&env, join(arena, &spec->env[i]));
    set_facts(&env, facts);
    return env.entries;
}
