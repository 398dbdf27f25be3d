/* Requests and replies of the worker protocol, read. poll_print.c writes them. */
#include "wire/message/poll_json.h"
#include "base/id.h"
#include "job/spec.h"
#include "wire/json/fields.h"

enum {
    WAIT_MS_MAX = 3600000, /* the server parks no longer than its park_ms anyway */
    NAMES_MAX = 1000,      /* queues or handlers of one worker */
    NAME_BYTES_MAX = 200,
    SIGNAL_MAX = 128,
    ADDRESS_BYTES_MAX = 300,
    BOOT_ID_BYTES_MAX = 64,
};

#define EXEC_ID(type)                                                                              \
    {                                                                                              \
        FIELD("execution_id", type, exec_id), .kind = FIELD_ID, .required = true,                  \
                                              .prefix = ID_EXEC                                    \
    }
/* Every grant has a token, counted from 1; databases keep it signed. */
#define TOKEN(type)                                                                                \
    {                                                                                              \
        FIELD("token", type, token), .kind = FIELD_INT, .required = true, .min = 1,                \
                                     .max = INT64_MAX                                              \
    }
#define LIST(text, type, member, count_member, list)                                               \
    {                                                                                              \
        FIELD_ARRAY(text, type, member, count_member), .kind = FIELD_LIST, .max = POLL_HELD_MAX,   \
                                                       .items = &(list)                            \
    }

/* ---- registration */

static const struct field hello_fields[] = {
    {FIELD("name", struct hello, name), .kind = FIELD_LINE, .required = true, .min = 1,
     .max = NAME_BYTES_MAX},
    {FIELD("slots", struct hello, slots), .kind = FIELD_INT, .required = true, .min = 1,
     .max = POLL_SLOTS_MAX},
    {FIELD_ARRAY("queues", struct hello, queues, queue_count), .kind = FIELD_WORDS,
     .max = NAMES_MAX},
    {FIELD_ARRAY("handlers", struct hello, handlers, handler_count), .kind = FIELD_PATHS,
     .max = NAMES_MAX},
    {FIELD("boot_id", struct hello, boot_id), .kind = FIELD_WORD, .min = 1,
     .max = BOOT_ID_BYTES_MAX},
    {FIELD("replaces", struct hello, replaces), .kind = FIELD_ID, .prefix = ID_WORKER},
    {FIELD("commands", struct hello, runs_commands), .kind = FIELD_BOOL},
};

enum rc hello_parse(const struct json *doc, struct arena *arena, struct hello *ret_hello,
                    struct field_errors *errors)
{
    const struct fields f = {.arena = arena, .errors = errors};
    const uint64_t commands = UINT64_C(1) << (COUNT_OF(hello_fields) - 1); /* the last one's bit */
    struct hello hello = {.slots = 0};
    uint64_t seen = fields_read(&f, NULL, doc, hello_fields, COUNT_OF(hello_fields), &hello);
    if (!(seen & commands))
        hello.runs_commands = hello.handler_count == 0;
    if (errors->count > 0)
        return RC_INVALID;
    *ret_hello = hello;
    return RC_OK;
}

/* ---- polls */

static const struct field held_fields[] = {
    EXEC_ID(struct poll_held),
    TOKEN(struct poll_held),
};

static const struct field_list held_list = {
    .fields = held_fields,
    .field_count = COUNT_OF(held_fields),
    .item_bytes = sizeof(struct poll_held),
};

static void read_outcome(const struct fields *f, const struct field_place *at,
                         const struct json *value, void *into)
{
    enum outcome outcome;
    if (!fields_kind(f, at, value, JSON_STRING))
        return;
    /* Only the server can say that a lease was lost. */
    if (outcome_parse(value->string, &outcome) && outcome != OUTCOME_LOST)
        *(enum outcome *)into = outcome;
    else
        fields_fail(f, at,
                    "must be one of succeeded, failed, permanent, timeout, stopped and returned");
}

static void read_result(const struct fields *f, const struct field_place *at,
                        const struct json *value, void *into)
{
    if (value->raw.len <= POLL_RESULT_BYTES_MAX)
        *(struct str *)into = value->raw;
    else
        fields_fail(f, at, "must be at most %d bytes long", POLL_RESULT_BYTES_MAX);
}

static void read_class(const struct fields *f, const struct field_place *at,
                       const struct json *value, void *into)
{
    enum failure_class class;
    if (!fields_kind(f, at, value, JSON_STRING))
        return;
    if (!failure_parse(value->string, &class))
        fields_fail(f, at, "'%.*s' must be one of %.*s", STR_ARG(str_head(value->string, 100)),
                    STR_ARG(words_text(&failure_words, f->arena)));
    else if (class == FAILURE_LOST_WORKER)
        fields_fail(f, at, "must not be lost_worker: only the server can say that");
    else
        *(enum failure_class *)into = class;
}

static void read_permanent(const struct fields *f, const struct field_place *at,
                           const struct json *value, void *into)
{
    if (fields_kind(f, at, value, JSON_BOOL))
        *(enum permanence *)into = value->boolean ? PERMANENT_YES : PERMANENT_NO;
}

static void read_code(const struct fields *f, const struct field_place *at,
                      const struct json *value, void *into)
{
    if (!fields_kind(f, at, value, JSON_STRING))
        return;
    if (str_eq(value->string, STR("unreadable")))
        *(enum poll_code *)into = POLL_CODE_UNREADABLE;
    else if (str_eq(value->string, STR("spawner_died")))
        *(enum poll_code *)into = POLL_CODE_SPAWNER_DIED;
    else
        fields_fail(f, at, "must be unreadable or spawner_died");
}

#define USAGE(text, member, low, high)                                                             \
    {                                                                                              \
        FIELD(text, struct poll_result, usage.member), .kind = FIELD_INT, .min = (low),            \
                                                       .max = (high)                               \
    }

static const struct field result_fields[] = {
    EXEC_ID(struct poll_result),
    TOKEN(struct poll_result),
    {FIELD("outcome", struct poll_result, outcome), .kind = FIELD_OWN, .required = true,
     .read = read_outcome},
    USAGE("exit_code", exit_code, -1, INT32_MAX),
    USAGE("signal", signal, 0, SIGNAL_MAX),
    USAGE("cpu_ms", cpu_ms, 0, INT64_MAX),
    USAGE("peak_memory_bytes", peak_memory_bytes, 0, INT64_MAX),
    USAGE("output_bytes", output_bytes, 0, INT64_MAX),
    USAGE("dropped_bytes", dropped_bytes, 0, INT64_MAX),
    USAGE("log_seq", log_seq, 0, INT64_MAX),
    {FIELD("result", struct poll_result, result), .kind = FIELD_OWN, .read = read_result},
    {FIELD("error", struct poll_result, error), .kind = FIELD_TEXT, .max = POLL_ERROR_BYTES_MAX},
    {FIELD("error_class", struct poll_result, class), .kind = FIELD_OWN, .read = read_class},
    {FIELD("permanent", struct poll_result, permanent), .kind = FIELD_OWN, .read = read_permanent},
    {FIELD("retry_after_ms", struct poll_result, retry_after_ms), .kind = FIELD_INT,
     .max = DURATION_MAX_MS},
    {FIELD("error_tail", struct poll_result, tail), .kind = FIELD_TEXT, .max = POLL_TAIL_BYTES_MAX},
    {FIELD("code", struct poll_result, code), .kind = FIELD_OWN, .read = read_code},
};

static const struct field_list result_list = {
    .fields = result_fields,
    .field_count = COUNT_OF(result_fields),
    .item_bytes = sizeof(struct poll_result),
    .blank = &(const struct poll_result){.usage = {.exit_code = -1}},
};

static const struct field poll_fields[] = {
    {FIELD("seq", struct poll, seq), .kind = FIELD_INT, .required = true, .min = 1,
     .max = INT64_MAX},
    {FIELD("free", struct poll, free), .kind = FIELD_INT, .required = true, .max = POLL_SLOTS_MAX},
    {FIELD("wait_ms", struct poll, wait_ms), .kind = FIELD_INT, .max = WAIT_MS_MAX},
    LIST("running", struct poll, held, held_count, held_list),
    LIST("results", struct poll, results, result_count, result_list),
    {FIELD("heard", struct poll, heard), .kind = FIELD_INT, .min = 1, .max = INT64_MAX},
};

/* A result that contradicts itself is refused, rather than half of it ignored. */
static void check_result(const struct fields *f, const struct poll_result *result, size_t index)
{
    const struct field_place results = {.key = STR("results")};
    const struct field_place item = {.parent = &results, .index = index};
    const struct field_place class = {.parent = &item, .key = STR("error_class")};
    const struct field_place permanent = {.parent = &item, .key = STR("permanent")};
    const struct field_place code = {.parent = &item, .key = STR("code")};
    bool failed = result->outcome == OUTCOME_FAILED || result->outcome == OUTCOME_PERMANENT ||
                  result->outcome == OUTCOME_TIMEOUT;
    if (result->class != FAILURE_NONE && !failed)
        fields_fail(f, &class, "must stand only beside failed, permanent and timeout");
    else if (result->class != FAILURE_NONE && result->class != FAILURE_TIMEOUT &&
             result->outcome == OUTCOME_TIMEOUT)
        fields_fail(f, &class, "must be timeout beside the outcome timeout");
    if (result->permanent != PERMANENT_BY_CLASS && !failed)
        fields_fail(f, &permanent, "must stand only beside failed, permanent and timeout");
    else if (result->permanent == PERMANENT_NO && result->outcome == OUTCOME_PERMANENT)
        fields_fail(f, &permanent, "must not be false beside the outcome permanent");
    if (result->code == POLL_CODE_UNREADABLE && result->outcome != OUTCOME_PERMANENT &&
        result->outcome != OUTCOME_RETURNED)
        fields_fail(f, &code, "must be unreadable only beside permanent and returned");
    if (result->code == POLL_CODE_SPAWNER_DIED && result->outcome != OUTCOME_STOPPED)
        fields_fail(f, &code, "must be spawner_died only beside stopped");
}

enum rc poll_parse(const struct json *doc, struct arena *arena, struct poll *ret_poll,
                   struct field_errors *errors)
{
    const struct fields f = {.arena = arena, .errors = errors};
    struct poll poll = {.worker_id = 0};
    fields_read(&f, NULL, doc, poll_fields, COUNT_OF(poll_fields), &poll);
    for (size_t i = 0; errors->count == 0 && i < poll.result_count; i++)
        check_result(&f, &poll.results[i], i);
    if (errors->count > 0)
        return RC_INVALID;
    *ret_poll = poll;
    return RC_OK;
}

/* ---- what the worker reads */

/* A lease carries its definition and payload unread: however large and deep they are, they are no
 * reason not to understand the reply that many of them share. */
static const struct str carried[] = {STR_INIT("payload"), STR_INIT("spec")};
static const struct json_rules reply_rules = {.spans = carried, .span_count = COUNT_OF(carried)};

/* A worker has nobody to show fields to: it gets one sentence. */
static enum rc read_reply(struct str text, struct arena *arena, const struct field *fields,
                          size_t count, void *into, struct err *err)
{
    struct json doc;
    struct field_errors errors = {.count = 0};
    const struct fields f = {.arena = arena, .errors = &errors, .lenient = true};
    TRY(json_parse_by(&reply_rules, text, arena, &doc, err));
    fields_read(&f, NULL, &doc, fields, count, into);
    if (errors.count == 0)
        return RC_OK;
    struct str why = field_errors_text(&errors, arena);
    return err_set(err, RC_INVALID, "%.*s", STR_ARG(why));
}

#define AMOUNT(text, member)                                                                       \
    {                                                                                              \
        FIELD(text, struct welcome, member), .kind = FIELD_INT, .required = true, .min = 0,        \
                                             .max = INT64_MAX                                      \
    }

static const struct field welcome_fields[] = {
    {FIELD("worker_id", struct welcome, worker_id), .kind = FIELD_ID, .required = true,
     .prefix = ID_WORKER},
    AMOUNT("lease_ms", lease_ms),
    AMOUNT("park_ms", park_ms),
    AMOUNT("kill_grace_ms", kill_grace_ms),
    AMOUNT("output_bytes_max", output_bytes_max),
    /* A server of before there were checkpoints names neither. */
    {FIELD("checkpoint_bytes_max", struct welcome, checkpoint_bytes_max), .kind = FIELD_INT,
     .max = INT64_MAX},
    {FIELD("checkpoint_ms", struct welcome, checkpoint_ms), .kind = FIELD_INT, .max = INT64_MAX},
    {FIELD("outage_grace_ms", struct welcome, outage_grace_ms), .kind = FIELD_INT,
     .max = INT64_MAX},
    {FIELD("forget_ms", struct welcome, forget_ms), .kind = FIELD_INT, .max = INT64_MAX},
};

enum rc welcome_parse(struct str text, struct arena *arena, struct welcome *ret_welcome,
                      struct err *err)
{
    struct welcome welcome = {.outage_grace_ms = WELCOME_OUTAGE_GRACE_MS,
                              .forget_ms = WELCOME_FORGET_MS};
    TRY(read_reply(text, arena, welcome_fields, COUNT_OF(welcome_fields), &welcome, err));
    *ret_welcome = welcome;
    return RC_OK;
}

/* One that is not valid is as none at all, as everywhere. */
static void read_traceparent(const struct fields *f, const struct field_place *at,
                             const struct json *value, void *into)
{
    struct trace_parent parent;
    (void)f;
    (void)at;
    if (value->kind == JSON_STRING && trace_parent_parse(value->string, &parent))
        *(struct trace_parent *)into = parent;
}

static void read_tracestate(const struct fields *f, const struct field_place *at,
                            const struct json *value, void *into)
{
    char bytes[2 * TRACE_STATE_MAX];
    struct buf members = {.ptr = bytes, .cap = sizeof bytes, .max = sizeof bytes};
    (void)at;
    if (value->kind == JSON_STRING && trace_state_read(value->string, &members))
        *(struct str *)into = arena_str(f->arena, buf_str(&members));
}

static const struct field lease_fields[] = {
    EXEC_ID(struct poll_lease),
    TOKEN(struct poll_lease),
    {FIELD("job_id", struct poll_lease, job_id), .kind = FIELD_ID, .required = true,
     .prefix = ID_JOB},
    {FIELD("attempt", struct poll_lease, attempt), .kind = FIELD_INT, .required = true, .min = 1,
     .max = INT32_MAX},
    {FIELD("slot", struct poll_lease, slot_ms), .kind = FIELD_WHEN, .required = true},
    {FIELD("ttl_ms", struct poll_lease, ttl_ms), .kind = FIELD_INT, .required = true, .min = 1,
     .max = INT64_MAX},
    {FIELD("traceparent", struct poll_lease, trace), .kind = FIELD_OWN, .read = read_traceparent},
    {FIELD("tracestate", struct poll_lease, trace_state), .kind = FIELD_OWN,
     .read = read_tracestate},
    {FIELD("spec", struct poll_lease, spec), .kind = FIELD_RAW, .required = true},
    {FIELD("payload", struct poll_lease, payload), .kind = FIELD_RAW},
};

static const struct field unread_fields[] = {
    EXEC_ID(struct poll_unread),
    TOKEN(struct poll_unread),
};

/* Each lease by itself: one that makes no sense must not cost the others, nor the terms and
 * verdicts that came with it. */
static void read_leases(const struct fields *f, const struct field_place *at,
                        const struct json *value, void *into)
{
    struct poll_reply *reply = into;
    if (!fields_kind(f, at, value, JSON_ARRAY))
        return;
    if (value->count > POLL_HELD_MAX) {
        fields_fail(f, at, "must have at most %d items", POLL_HELD_MAX);
        return;
    }
    struct poll_lease *leases = ARENA_ARRAY(f->arena, struct poll_lease, value->count);
    struct poll_unread *unread = ARENA_ARRAY(f->arena, struct poll_unread, value->count);
    for (size_t i = 0; i < value->count; i++) {
        const struct field_place place = {.parent = at, .index = i};
        struct field_errors errors = {.count = 0};
        struct fields own = {.arena = f->arena, .errors = &errors, .lenient = true};
        struct poll_lease *lease = &leases[reply->lease_count];
        fields_read(&own, &place, &value->items[i], lease_fields, COUNT_OF(lease_fields), lease);
        if (errors.count == 0) {
            reply->lease_count++;
            continue;
        }
        *lease = (struct poll_lease){0};
        struct poll_unread *one = &unread[reply->unread_count++];
        fields_read(f, &place, &value->items[i], unread_fields, COUNT_OF(unread_fields), one);
        one->why = field_errors_text(&errors, f->arena);
    }
    reply->leases = leases;
    reply->unread = unread;
}

static const struct field stop_fields[] = {
    EXEC_ID(struct poll_stop),
    TOKEN(struct poll_stop),
    {FIELD("reason", struct poll_stop, reason), .kind = FIELD_TEXT, .max = POLL_ERROR_BYTES_MAX},
};

static const struct field_list stop_list = {
    .fields = stop_fields,
    .field_count = COUNT_OF(stop_fields),
    .item_bytes = sizeof(struct poll_stop),
};

static const struct field verdict_fields[] = {
    EXEC_ID(struct poll_verdict),
    TOKEN(struct poll_verdict),
    {FIELD("accepted", struct poll_verdict, accepted), .kind = FIELD_BOOL, .required = true},
};

static const struct field_list verdict_list = {
    .fields = verdict_fields,
    .field_count = COUNT_OF(verdict_fields),
    .item_bytes = sizeof(struct poll_verdict),
};

/* ---- what a server says about itself and others */

static uint64_t read_partition(const struct fields *f, const struct field_place *at,
                               const struct json *value)
{
    if (value->kind == JSON_INT && value->integer >= 0 && value->integer < PARTITIONS_MAX)
        return UINT64_C(1) << value->integer;
    fields_fail(f, at, "must be the number of a partition");
    return 0;
}

struct epoch_entry {
    uint32_t partition;
    uint64_t epoch;
};

static const struct field epoch_fields[] = {
    {FIELD("partition", struct epoch_entry, partition), .kind = FIELD_INT, .required = true,
     .max = PARTITIONS_MAX - 1},
    {FIELD("epoch", struct epoch_entry, epoch), .kind = FIELD_INT, .required = true, .min = 1,
     .max = INT64_MAX},
};

static void read_epochs(const struct fields *f, const struct field_place *at,
                        const struct json *value, void *into)
{
    if (!fields_kind(f, at, value, JSON_ARRAY))
        return;
    uint64_t *epochs = ARENA_ARRAY(f->arena, uint64_t, PARTITIONS_MAX);
    for (size_t i = 0; i < value->count; i++) {
        const struct field_place item = {.parent = at, .index = i};
        struct epoch_entry entry = {0};
        if (!fields_kind(f, &item, &value->items[i], JSON_OBJECT))
            continue;
        fields_read(f, &item, &value->items[i], epoch_fields, COUNT_OF(epoch_fields), &entry);
        epochs[entry.partition] = entry.epoch;
    }
    *(const uint64_t **)into = epochs;
}

static void read_owned(const struct fields *f, const struct field_place *at,
                       const struct json *value, void *into)
{
    struct partition_set *set = into;
    if (!fields_kind(f, at, value, JSON_ARRAY))
        return;
    for (size_t i = 0; i < value->count; i++) {
        const struct field_place item = {.parent = at, .index = i};
        set->bits |= read_partition(f, &item, &value->items[i]);
    }
}

static const struct field partition_fields[] = {
    {FIELD("count", struct partition_set, count), .kind = FIELD_INT, .required = true, .min = 1,
     .max = PARTITIONS_MAX},
    {.name = STR_INIT("owned"), .kind = FIELD_OWN, .required = true, .read = read_owned},
};

static void read_partitions(const struct fields *f, const struct field_place *at,
                            const struct json *value, void *into)
{
    struct partition_set set = {0};
    if (!fields_kind(f, at, value, JSON_OBJECT))
        return;
    fields_read(f, at, value, partition_fields, COUNT_OF(partition_fields), &set);
    if (set.count > 0) {
        set.bits &= partition_all(set.count).bits;
        *(struct partition_set *)into = set;
    }
}

static void read_servers(const struct fields *f, const struct field_place *at,
                         const struct json *value, void *into)
{
    struct poll_reply *reply = into;
    if (!fields_kind(f, at, value, JSON_ARRAY))
        return;
    size_t count = value->count < POLL_SERVERS_MAX ? value->count : POLL_SERVERS_MAX;
    struct str *servers = ARENA_ARRAY(f->arena, struct str, count);
    for (size_t i = 0; i < count; i++) {
        const struct field_place item = {.parent = at, .index = i};
        if (fields_text(f, &item, &value->items[i], FIELD_LINE, 1, ADDRESS_BYTES_MAX))
            servers[i] = value->items[i].string;
    }
    reply->servers = servers;
    reply->server_count = count;
}

static const struct field reply_fields[] = {
    {.name = STR_INIT("leases"), .kind = FIELD_OWN, .read = read_leases},
    LIST("stop", struct poll_reply, stops, stop_count, stop_list),
    LIST("results", struct poll_reply, verdicts, verdict_count, verdict_list),
    {FIELD("drain", struct poll_reply, drain), .kind = FIELD_BOOL},
    /* A server that is alone with its store sends none of these, nor does an older one. */
    {FIELD("partitions", struct poll_reply, owned), .kind = FIELD_OWN, .read = read_partitions},
    {FIELD("epochs", struct poll_reply, epochs), .kind = FIELD_OWN, .read = read_epochs},
    {FIELD("heard_as", struct poll_reply, heard_as), .kind = FIELD_INT, .min = 1, .max = INT64_MAX},
    {FIELD("provisional", struct poll_reply, provisional), .kind = FIELD_BOOL},
    LIST("kept", struct poll_reply, kept, kept_count, held_list),
    {FIELD("backlog", struct poll_reply, backlog), .kind = FIELD_INT, .max = UINT32_MAX},
    {FIELD("server", struct poll_reply, server), .kind = FIELD_LINE, .max = ADDRESS_BYTES_MAX},
    {.name = STR_INIT("servers"), .kind = FIELD_OWN, .read = read_servers},
};

enum rc poll_reply_parse(struct str text, struct arena *arena, struct poll_reply *ret_reply,
                         struct err *err)
{
    struct poll_reply reply = {.drain = false};
    TRY(read_reply(text, arena, reply_fields, COUNT_OF(reply_fields), &reply, err));
    *ret_reply = reply;
    return RC_OK;
}
