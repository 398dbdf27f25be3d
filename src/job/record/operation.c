#include "job/record/operation.h"
#include "base/id.h"
#include "job/record/filter.h"
#include "job/record/record.h"
#include "job/record/record_fields.h"

#include <assert.h>

/* ---- names */

static const struct {
    struct str name;
    struct str subject;
} kinds[OPERATION_KINDS] = {
    [OPERATION_RETRY] = {STR_INIT("retry"), STR_INIT("dead_letters")},
    [OPERATION_DISCARD] = {STR_INIT("discard"), STR_INIT("dead_letters")},
    [OPERATION_PAUSE_JOBS] = {STR_INIT("pause"), STR_INIT("jobs")},
    [OPERATION_RESUME_JOBS] = {STR_INIT("resume"), STR_INIT("jobs")},
    [OPERATION_CANCEL_JOBS] = {STR_INIT("cancel"), STR_INIT("jobs")},
    [OPERATION_TRIGGER_JOBS] = {STR_INIT("trigger"), STR_INIT("jobs")},
    [OPERATION_CANCEL_EXECS] = {STR_INIT("cancel"), STR_INIT("executions")},
    [OPERATION_RETRY_EXECS] = {STR_INIT("retry"), STR_INIT("executions")},
};

struct str operation_kind_name(enum operation_kind kind)
{
    assert(kind > 0 && kind < OPERATION_KINDS);
    return kinds[kind].name;
}

struct str operation_subject_name(enum operation_kind kind)
{
    assert(kind > 0 && kind < OPERATION_KINDS);
    return kinds[kind].subject;
}

struct str operation_state_name(enum operation_state state)
{
    static const struct str names[OPERATION_STATES] = {
        [OPERATION_RUNNING] = STR_INIT("running"),
        [OPERATION_DONE] = STR_INIT("done"),
        [OPERATION_CANCELLED] = STR_INIT("cancelled"),
    };
    assert(state > 0 && state < OPERATION_STATES);
    return names[state];
}

bool operation_is_about_jobs(enum operation_kind kind)
{
    return kind >= OPERATION_PAUSE_JOBS && kind <= OPERATION_TRIGGER_JOBS;
}

bool operation_is_about_letters(enum operation_kind kind)
{
    return kind == OPERATION_RETRY || kind == OPERATION_DISCARD || kind == OPERATION_RETRY_EXECS;
}

/* ---- what fits */

/* An asterisk alone stands for any name, also for none. */
static bool is_any_name(struct str pattern)
{
    while (pattern.len > 0 && pattern.ptr[0] == '*')
        pattern = str_from(pattern, 1);
    return pattern.len == 0;
}

bool action_filter_is_empty(const struct action_filter *f)
{
    return f->states == 0 && f->job_id == 0 && f->created_after_ms == 0 &&
           f->created_before_ms == 0 && is_any_name(f->name) &&
           f->queues.len + f->tags.len + f->owner.len + f->team.len == 0;
}

static bool has_line(struct str lines, struct str line)
{
    while (lines.len > 0) {
        if (str_eq(str_cut(&lines, '\n'), line))
            return true;
    }
    return false;
}

static bool has_all_lines(struct str lines, struct str wanted)
{
    while (wanted.len > 0) {
        if (!has_line(lines, str_cut(&wanted, '\n')))
            return false;
    }
    return true;
}

static bool text_fits(struct str wanted, struct str text)
{
    return wanted.len == 0 || str_eq(wanted, text);
}

static bool is_created_within(const struct action_filter *f, int64_t created_ms)
{
    return created_ms >= f->created_after_ms &&
           (f->created_before_ms == 0 || created_ms < f->created_before_ms);
}

static bool job_fits(const struct action_filter *f, const struct job_rec *job)
{
    return (f->job_id == 0 || f->job_id == job->id) &&
           (f->queues.len == 0 || has_line(f->queues, job->queue)) &&
           (f->name.len == 0 || filter_name_fits(f->name, job->name)) &&
           text_fits(f->owner, job->owner) && text_fits(f->team, job->team) &&
           has_all_lines(job->tags, f->tags);
}

static bool has_state(uint32_t states, uint32_t state)
{
    return (states & UINT32_C(1) << state) != 0;
}

/* States in which there is something to do: what is stopping was cancelled before. A paused job is
 * triggered in vain, and that is told. */
static uint32_t states_of(enum operation_kind kind)
{
    const uint32_t active = UINT32_C(1) << JOB_ACTIVE;
    const uint32_t paused = UINT32_C(1) << JOB_PAUSED;
    switch (kind) {
    case OPERATION_PAUSE_JOBS: return active;
    case OPERATION_RESUME_JOBS: return paused;
    case OPERATION_CANCEL_JOBS:
    case OPERATION_TRIGGER_JOBS: return active | paused;
    default: return UINT32_MAX;
    }
}

static bool exec_state_fits(uint32_t states, enum exec_state state)
{
    return states == 0 || has_state(states, state);
}

bool operation_takes_state(const struct operation_rec *op, uint32_t state)
{
    if (operation_is_about_jobs(op->kind))
        return has_state(states_of(op->kind), state) &&
               (op->which.states == 0 || has_state(op->which.states, state));
    return !exec_is_final((enum exec_state)state) && state != EXEC_STOPPING &&
           exec_state_fits(op->which.states, (enum exec_state)state);
}

/* A job is met once for each execution of it that is not over. What is done to its state is done
 * once all the same; a run is asked for by the one that is ahead alone. */
static bool is_the_one(const struct operation_rec *op, const struct exec_rec *exec)
{
    bool ahead = exec->origin == ORIGIN_ONCE ||
                 (exec->origin == ORIGIN_SLOT && exec->state == EXEC_SCHEDULED);
    return op->kind != OPERATION_TRIGGER_JOBS || (ahead && exec->id < op->id);
}

bool operation_takes(const struct operation_rec *op, const struct job_rec *job,
                     const struct exec_rec *exec)
{
    bool jobs = operation_is_about_jobs(op->kind);
    uint64_t id = jobs ? job->id : exec->id;
    return id < op->id && is_the_one(op, exec) &&
           operation_takes_state(op, jobs ? (uint32_t)job->state : (uint32_t)exec->state) &&
           is_created_within(&op->which, jobs ? job->created_ms : exec->created_ms) &&
           job_fits(&op->which, job);
}

/* What a dead letter does not know (tags, the team) its operation cannot ask for. */
bool operation_takes_letter(const struct operation_rec *op, const struct letter_rec *letter)
{
    const struct job_rec job = {
        .id = letter->job_id, .queue = letter->queue, .name = letter->name, .owner = letter->owner};
    return letter_fits(&op->filter, letter) && exec_state_fits(op->which.states, letter->state) &&
           job_fits(&op->which, &job) &&
           is_created_within(&op->which, id_time_ms(letter->place.exec_id));
}

/* ---- ids */

size_t operation_id_count(struct str ids)
{
    return ids.len / ID_DIGITS;
}

uint64_t operation_id(struct str ids, size_t index)
{
    uint64_t id;
    struct str text = str_head(str_from(ids, index * ID_DIGITS), ID_DIGITS);
    return id_parse(text, "", &id, NULL) == RC_OK ? id : 0;
}

/* ---- as a text: a value behind the other, each with its length before it */

struct str operation_text(const struct operation_rec *op, struct arena *arena)
{
    CLEANUP(buf_free) struct buf out = BUF(4 << 20);
    for (size_t i = 0; i < operation_fields.len; i++) {
        const struct field *field = &operation_fields.items[i];
        char number[24];
        struct buf digits = {.ptr = number, .cap = sizeof number, .max = sizeof number};
        struct str value;
        if (field->kind == FIELD_TEXT) {
            value = field_text(field, op);
        } else {
            buf_add_i64(&digits, field_number(field, op));
            value = buf_str(&digits);
        }
        buf_printf(&out, "%s %zu ", field->column, value.len);
        buf_add(&out, value);
        buf_add_char(&out, '\n');
    }
    return arena_str(arena, buf_str(&out));
}

static const struct field *find_field(struct str column)
{
    for (size_t i = 0; i < operation_fields.len; i++) {
        if (str_eq(str_c(operation_fields.items[i].column), column))
            return &operation_fields.items[i];
    }
    return NULL;
}

static bool set_field(const struct field *field, struct operation_rec *op, struct str value)
{
    int64_t number;
    if (field->kind == FIELD_TEXT) {
        field_set_text(field, op, value);
        return true;
    }
    if (!str_to_i64(value, &number) || number < field->min || number > field->max)
        return false;
    field_set_number(field, op, number);
    return true;
}

bool operation_parse(struct str text, struct operation_rec *ret_op)
{
    *ret_op = (struct operation_rec){0};
    while (text.len > 0) {
        const struct field *field = find_field(str_cut(&text, ' '));
        uint64_t len;
        if (!str_to_u64(str_cut(&text, ' '), &len) || len >= text.len || field == NULL ||
            !set_field(field, ret_op, str_head(text, len)))
            return false;
        text = str_from(text, len + 1);
    }
    return ret_op->id != 0 && ret_op->kind != 0 && ret_op->parts != 0;
}
