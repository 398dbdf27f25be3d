/* Workers: loaded by the owner of their ids, found by others, and by all of them when they are cordoned. */
#include "loaded.h"

PROMISE(workers_are_kept_until_they_are_forgotten)
{
    struct world *w = *state;
    CLEANUP(loaded_free) struct loaded l = {0};
    struct worker_change workers[] = {
        {.worker = {.id = 10,
                    .name = STR("a"),
                    .queues = STR("x\ny"),
                    .slots = 4,
                    .boot_id = STR("abc"),
                    .replaces = 9}},
        {.worker = {.id = 20, .name = STR("b"), .handlers = STR("h"), .runs_commands = true}},
    };
    world_commit(w, (struct delta){.workers = workers, .worker_count = 2});
    workers[0].worker.draining = true;
    workers[0].worker.registered_ms = T0;
    workers[0].worker.cordoned_ms = T0 + 1;
    workers[0].worker.cordoned_by = STR("key:admin");
    workers[0].worker.cordon_reason = STR("new disk");
    workers[0].cordon = true;
    workers[1].forget = true;
    world_commit(w, (struct delta){.workers = workers, .worker_count = 2});
    world_reopen(w);
    assert_rc(load(w, T0, &l), RC_OK);
    assert_int_equal(l.workers.len, 1);
    assert_int_equal(l.workers.items[0].id, 10);
    assert_str(l.workers.items[0].name, STR("a"));
    assert_str(l.workers.items[0].queues, STR("x\ny"));
    assert_int_equal(l.workers.items[0].slots, 4);
    assert_true(l.workers.items[0].draining);
    assert_false(l.workers.items[0].runs_commands);
    assert_int_equal(l.workers.items[0].registered_ms, T0);
    assert_str(l.workers.items[0].boot_id, STR("abc"));
    assert_int_equal(l.workers.items[0].replaces, 9);
    assert_int_equal(l.workers.items[0].cordoned_ms, T0 + 1);
    assert_str(l.workers.items[0].cordoned_by, STR("key:admin"));
    assert_str(l.workers.items[0].cordon_reason, STR("new disk"));
    assert_int_equal(l.cordoned.len, 1); /* with the settings */
    assert_int_equal(l.cordoned.items[0].id, 10);
}

PROMISE(a_worker_is_found_by_its_id_until_it_is_forgotten)
{
    struct world *w = *state;
    struct worker_change workers[] = {
        {.worker = {.id = 10,
                    .name = STR("a"),
                    .queues = STR("x\ny\n"),
                    .handlers = STR("h\n"),
                    .slots = 4,
                    .draining = true,
                    .registered_ms = T0,
                    .boot_id = STR("abc"),
                    .replaces = 9,
                    .cordoned_ms = T0 + 1,
                    .cordoned_by = STR("key:admin"),
                    .cordon_reason = STR("new disk")}},
        {.worker = {.id = 11, .name = STR("b"), .slots = 1, .runs_commands = true}},
    };
    struct question known = {.kind = ASK_WORKER, .id = 10};
    struct question gone = {.kind = ASK_WORKER, .id = 11};
    struct question nobody = {.kind = ASK_WORKER, .id = 12, .answer = {.id_count = 9}};
    world_commit(w, (struct delta){.workers = workers, .worker_count = 2});
    workers[1].forget = true;
    world_commit(w, (struct delta){.workers = &workers[1], .worker_count = 1});
    world_admit(w, &known);
    world_admit(w, &gone);
    world_admit(w, &nobody);
    assert_non_null(known.answer.worker);
    assert_int_equal(known.answer.worker->id, 10);
    assert_str(known.answer.worker->name, STR("a"));
    assert_str(known.answer.worker->queues, STR("x\ny\n"));
    assert_str(known.answer.worker->handlers, STR("h\n"));
    assert_int_equal(known.answer.worker->slots, 4);
    assert_true(known.answer.worker->draining);
    assert_false(known.answer.worker->runs_commands);
    assert_int_equal(known.answer.worker->registered_ms, T0);
    assert_str(known.answer.worker->boot_id, STR("abc"));
    assert_int_equal(known.answer.worker->replaces, 9);
    assert_int_equal(known.answer.worker->cordoned_ms, T0 + 1);
    assert_str(known.answer.worker->cordoned_by, STR("key:admin"));
    assert_str(known.answer.worker->cordon_reason, STR("new disk"));
    assert_null(gone.answer.worker);
    assert_null(nobody.answer.worker);
    assert_int_equal(nobody.answer.id_count, 0);
    w->store->ops->abort(w->store);
}
