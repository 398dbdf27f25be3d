/* Operations on many jobs, executions or dead letters: their parts, and what they act upon. */
#include "job/record/record_fields.h"
#include "loaded.h"

#include <string.h>

static struct operation_rec new_part(struct world *w, uint64_t id, uint32_t partition)
{
    (void)w;
    return (struct operation_rec){
        .id = id,
        .partition = partition,
        .parts = 2,
        .kind = OPERATION_CANCEL_JOBS,
        .state = OPERATION_RUNNING,
        .filter = {STR("mail"), STR("nightly"), FAILURE_DISK, 17, 4, T0, T0 + 5},
        .which = STR("queue=a\nqueue=b\n"),
        .old = {.states = 6,
                .queues = STR("a\nb"),
                .tags = STR("env:prod"),
                .name = STR("night*"),
                .owner = STR("ada"),
                .team = STR("ops"),
                .job_id = 9,
                .created_after_ms = T0 + 1,
                .created_before_ms = T0 + 2},
        .by_ids = true,
        .ids = STR("0000000000001000000000000g"),
        .by = STR("key:admin"),
        .created_ms = T0,
        .counted = true,
        .total = 7,
    };
}

static void assert_same_part(const struct operation_rec *got, const struct operation_rec *want)
{
    for (size_t i = 0; i < operation_fields.len; i++) {
        const struct field *field = &operation_fields.items[i];
        if (field->kind == FIELD_TEXT)
            assert_str(field_text(field, got), field_text(field, want));
        else
            assert_int_equal(field_number(field, got), field_number(field, want));
    }
}

static void commit_parts(struct world *w, const struct operation_change *changes, size_t count)
{
    world_commit(w, (struct delta){.operations = changes, .operation_count = count});
}

static size_t read_parts(struct world *w, uint64_t id, struct operation_rec **ret_parts)
{
    size_t count;
    assert_rc(w->reader->ops->operations(w->reader, id, &w->arena, ret_parts, &count, &w->err),
              RC_OK);
    return count;
}

PROMISE(parts_of_operations_are_kept_as_they_stand)
{
    struct world *w = *state;
    uint64_t id = world_id(w);
    struct operation_change changes[2] = {{.operation = new_part(w, id, 0)},
                                          {.operation = new_part(w, id, 1)}};
    struct operation_rec *parts;
    commit_parts(w, changes, 2);
    struct operation_change *second = &changes[1];
    struct str ids = second->operation.ids;
    second->progress = true;
    second->operation.state = OPERATION_CANCELLED;
    second->operation.finished_ms = T0 + 9;
    second->operation.done = 5;
    second->operation.refused = 2;
    second->operation.at = (struct letter_place){T0 + 1, 12};
    second->operation.refusal = STR("the name is in use");
    second->operation.refusals = STR("000000000000c the name is in use\n");
    second->operation.ids = STR(""); /* which it was born with */
    commit_parts(w, second, 1);
    second->operation.ids = ids;
    world_reopen(w);
    assert_int_equal(read_parts(w, id, &parts), 2);
    assert_same_part(&parts[0], &changes[0].operation);
    assert_same_part(&parts[1], &changes[1].operation);
    assert_int_equal(read_parts(w, id + 1, &parts), 0);
}

PROMISE(parts_that_run_are_loaded_with_their_partition)
{
    struct world *w = *state;
    uint64_t id = world_id(w);
    struct operation_change changes[2] = {{.operation = new_part(w, id, 0)},
                                          {.operation = new_part(w, world_id(w), 0)}};
    commit_parts(w, changes, 2);
    changes[1].operation.state = OPERATION_DONE;
    changes[1].progress = true;
    commit_parts(w, &changes[1], 1);
    world_reopen(w);
    CLEANUP(loaded_free) struct loaded l = {0};
    assert_rc(load(w, T0, &l), RC_OK);
    assert_int_equal(l.operations.len, 1);
    assert_same_part(&l.operations.items[0], &changes[0].operation);
}

PROMISE(an_operation_is_over_when_all_its_parts_are)
{
    struct world *w = *state;
    uint64_t id = world_id(w);
    struct operation_change changes[2] = {{.operation = new_part(w, id, 0)},
                                          {.operation = new_part(w, id, 1)}};
    struct question q = {.kind = ASK_OPERATIONS};
    changes[0].operation.state = OPERATION_DONE;
    commit_parts(w, changes, 1); /* the other one is yet to come */
    world_admit(w, &q);
    assert_int_equal(q.answer.operation_count, 1);
    assert_int_equal(q.answer.operations[0].id, id);
    assert_false(q.answer.operations[0].over);
    w->store->ops->abort(w->store);
    commit_parts(w, &changes[1], 1);
    world_admit(w, &q);
    assert_false(q.answer.operations[0].over);
    w->store->ops->abort(w->store);
    changes[1].progress = true;
    changes[1].operation.state = OPERATION_CANCELLED;
    commit_parts(w, &changes[1], 1);
    world_admit(w, &q);
    assert_true(q.answer.operations[0].over);
    w->store->ops->abort(w->store);
}

PROMISE(an_operation_is_forgotten_with_all_its_parts)
{
    struct world *w = *state;
    uint64_t id = world_id(w);
    const struct operation_change changes[3] = {{.operation = new_part(w, id, 0)},
                                                {.operation = new_part(w, id, 1)},
                                                {.operation = new_part(w, world_id(w), 0)}};
    struct operation_rec *parts;
    commit_parts(w, changes, 3);
    world_commit(w, (struct delta){.operations_gone = &id, .operation_gone_count = 1});
    assert_int_equal(read_parts(w, 0, &parts), 1);
    assert_int_equal(parts[0].id, changes[2].operation.id);
}

PROMISE(operations_are_read_newest_first)
{
    struct world *w = *state;
    uint64_t old = world_id(w);
    uint64_t new = world_id(w);
    const struct operation_change changes[3] = {{.operation = new_part(w, old, 0)},
                                                {.operation = new_part(w, new, 1)},
                                                {.operation = new_part(w, new, 0)}};
    struct operation_rec *parts;
    commit_parts(w, changes, 3);
    assert_int_equal(read_parts(w, 0, &parts), 3);
    assert_true(parts[0].id == new &&parts[0].partition == 0);
    assert_true(parts[1].id == new &&parts[1].partition == 1);
    assert_int_equal(parts[2].id, old);
}

PROMISE(ids_of_operations_are_not_used_again)
{
    struct world *w = *state;
    struct operation_change change = {.operation = new_part(w, world_id(w), 0)};
    commit_parts(w, &change, 1);
    world_reopen(w);
    struct ownership own;
    assert_rc(w->store->ops->own(w->store, STR("next"), &own, &w->err), RC_OK);
    assert_true(own.id_floor >= change.operation.id);
}

/* ---- what they act upon */

PROMISE(a_turn_is_told_what_is_unfinished_behind_a_place_and_fits)
{
    struct world *w = *state;
    uint64_t execs[6];
    for (size_t i = 0; i < COUNT_OF(execs); i++)
        execs[i] = world_submit(w, EXEC_QUEUED);
    struct exec_rec second = read_exec(w, execs[1]);
    const struct exec_change end = next_change(&second, CHANGE_FINISH, EXEC_CANCELLED);
    world_commit(w, (struct delta){.execs = &end, .exec_count = 1});
    const struct operation_rec all = {.id = INT64_MAX, .kind = OPERATION_CANCEL_EXECS};
    struct question q = {.kind = ASK_LIVE, .operation = &all, .limit = 2};
    world_admit(w, &q);
    assert_int_equal(q.answer.live_count, 2);
    assert_int_equal(q.answer.job_count, 2);
    assert_int_equal(q.answer.live[0].id, execs[0]);
    assert_int_equal(q.answer.live[1].id, execs[2]);
    assert_int_equal(q.answer.jobs[1].id, q.answer.live[1].job_id);
    assert_int_equal(q.answer.place.exec_id, execs[2]);
    assert_true(q.answer.more);
    struct question on = {
        .kind = ASK_LIVE, .operation = &all, .limit = 9, .after_id = q.answer.place.exec_id};
    world_admit(w, &on);
    assert_int_equal(on.answer.live_count, 3);
    assert_false(on.answer.more);
    const struct operation_rec early = {.id = execs[3], .kind = OPERATION_CANCEL_EXECS};
    struct question few = {.kind = ASK_LIVE, .operation = &early, .limit = 9};
    world_admit(w, &few);
    assert_int_equal(few.answer.live_count, 2); /* what came later is none of its business */
    w->store->ops->abort(w->store);
}

PROMISE(a_turn_is_told_of_few_that_fit_behind_many_that_do_not)
{
    struct world *w = *state;
    uint64_t execs[7];
    for (size_t i = 0; i < COUNT_OF(execs); i++)
        execs[i] = world_submit(w, EXEC_QUEUED);
    const struct operation_rec last = {
        .id = INT64_MAX,
        .kind = OPERATION_CANCEL_EXECS,
        .meant = {.job_id = read_exec(w, execs[COUNT_OF(execs) - 1]).job_id},
    };
    struct question q = {.kind = ASK_LIVE, .operation = &last, .limit = 1};
    world_admit(w, &q);
    assert_int_equal(q.answer.live_count, 1);
    assert_int_equal(q.answer.jobs[0].id, last.meant.job_id);
    assert_int_equal(q.answer.place.exec_id, execs[COUNT_OF(execs) - 1]);
    assert_false(q.answer.more);
    w->store->ops->abort(w->store);
}

PROMISE(a_turn_looks_at_no_more_than_it_asks_for)
{
    struct world *w = *state;
    uint64_t execs[5];
    for (size_t i = 0; i < COUNT_OF(execs); i++)
        execs[i] = world_submit(w, EXEC_QUEUED);
    const struct operation_rec none = {
        .id = INT64_MAX, .kind = OPERATION_CANCEL_EXECS, .meant = {.owner = STR("nobody")}};
    struct question q = {.kind = ASK_LIVE, .operation = &none, .limit = 2, .scan_max = 3};
    world_admit(w, &q);
    assert_int_equal(q.answer.live_count, 0);
    assert_int_equal(q.answer.place.exec_id, execs[2]);
    assert_true(q.answer.more);
    w->store->ops->abort(w->store);
}

/* Its document is kept with its payload, which may be too large for its row. */
static uint64_t submit_with(struct world *w, size_t payload_bytes)
{
    struct job_change job = new_job(w);
    char *payload = arena_bytes(&w->arena, payload_bytes);
    memset(payload, '7', payload_bytes);
    job.job.payload = str_of(payload, payload_bytes);
    struct exec_change exec = new_exec(w, &job, EXEC_QUEUED);
    world_commit(w, (struct delta){.jobs = &job, .job_count = 1, .execs = &exec, .exec_count = 1});
    return exec.exec.id;
}

static void ask_by_document(struct world *w, size_t payload_bytes)
{
    uint64_t exec_id = submit_with(w, payload_bytes);
    struct str spec = read_job(w, read_exec(w, exec_id).job_id).spec;
    struct operation_rec op = {.id = INT64_MAX, .kind = OPERATION_CANCEL_JOBS};
    struct question q = {.kind = ASK_LIVE, .operation = &op, .limit = 1, .after_id = exec_id - 1};
    const struct filter_value none = {STR("no_such_member"), STR("null")};
    const struct filter_value other = {STR("no_such_member"), STR("\"x\"")};
    op.meant = (struct filter){.document = &none, .document_count = 1};
    world_admit(w, &q);
    assert_int_equal(q.answer.live_count, 1);
    assert_str(q.answer.jobs[0].spec, spec);
    op.meant.document = &other;
    world_admit(w, &q);
    assert_int_equal(q.answer.live_count, 0);
    w->store->ops->abort(w->store);
}

PROMISE(a_turn_is_told_documents_where_a_filter_asks_for_them)
{
    ask_by_document(*state, 2);
    ask_by_document(*state, 100000);
}

PROMISE(a_list_of_operations_is_without_their_long_texts)
{
    struct world *w = *state;
    struct operation_rec *parts;
    struct operation_change change = {.operation = new_part(w, world_id(w), 0)};
    change.operation.refusals = STR("000000000000c the name is in use\n");
    commit_parts(w, &change, 1);
    assert_int_equal(read_parts(w, 0, &parts), 1);
    assert_int_equal(parts[0].ids.len + parts[0].refusals.len, 0);
    assert_str(parts[0].which, change.operation.which);
    assert_int_equal(parts[0].total, 7);
}

static bool count_pair(void *arg, const struct job_rec *job, const struct exec_rec *exec)
{
    size_t *count = arg;
    assert_int_equal(job->id, exec->job_id);
    ++*count;
    return true;
}

PROMISE(readers_are_told_what_is_unfinished_page_by_page)
{
    struct world *w = *state;
    size_t count = 0;
    uint64_t next = 0;
    for (size_t i = 0; i < 5; i++)
        world_submit(w, EXEC_QUEUED);
    assert_rc(w->reader->ops->live(w->reader, 0, 3, false, count_pair, &count, &next, &w->err),
              RC_OK);
    assert_int_equal(count, 3);
    assert_true(next != 0);
    assert_rc(w->reader->ops->live(w->reader, next, 3, false, count_pair, &count, &next, &w->err),
              RC_OK);
    assert_int_equal(count, 5);
    assert_int_equal(next, 0);
}
