/* world.h - a store under test, and what the promises need to talk about it.
 *
 * Every promise is a cmocka test that gets a fresh `struct world` and knows nothing about which
 * store is inside. A store joins the suite by a line in store_test.c. */
#pragma once
#include "base/id.h"
#include "base/test/test.h"
#include "store/store.h"

struct candidate {
    const char *name;
    /* A new, empty store; *ret_place is whatever the other two need. */
    struct store *(*open)(void **ret_place);
    /* Closes and opens it again; NULL where nothing outlives closing. */
    struct store *(*reopen)(void *place, struct store *store);
    void (*destroy)(void *place, struct store *store);
    /* A handle on the same data for another server, and so much time for the store's clock, as far
     * as nodes are concerned; NULL where only one server can have it open. */
    struct store *(*another)(void *place);
    void (*pass)(void *place, int64_t by_ms);
};

struct world {
    const struct candidate *candidate;
    void *place;
    struct store *store;
    struct reader *reader;
    struct ownership own;
    uint64_t turn;      /* the last one that was tried */
    struct arena arena; /* for whatever a test wants to keep until its end */
    struct id_gen ids;
    struct rng rng; /* BELFRY_SEED, else 1 */
    struct err err;
};

#define T0 INT64_C(1763200000000) /* when the stories of these tests begin */

/* cmocka's setup and teardown; the candidate is the group's. */
void world_choose(const struct candidate *candidate);
int world_setup(void **state);
int world_teardown(void **state);

/* As a restart would: readers are closed, the store is opened again and owned again. Does nothing
 * where the candidate cannot. */
void world_reopen(struct world *w);

uint64_t world_id(struct world *w);
/* Numbers the delta as the next turn and commits it. */
enum rc world_try(struct world *w, struct delta delta);
void world_commit(struct world *w, struct delta delta); /* must succeed */
void world_admit(struct world *w, struct question *question);
/* Who has the key after asking for it on behalf of holder. */
uint64_t world_claim(struct world *w, struct str key, uint64_t holder);

/* A job and an execution that ask for nothing special; change what matters. */
struct job_change new_job(struct world *w);
struct exec_change new_exec(struct world *w, const struct job_change *job, enum exec_state state);
/* Commits the two of them and returns the execution's id. */
uint64_t world_submit(struct world *w, enum exec_state state);
/* The next change of an execution that was read before. */
struct exec_change next_change(const struct exec_rec *exec, enum change_kind kind,
                               enum exec_state state);

struct job_rec read_job(struct world *w, uint64_t id);
struct exec_rec read_exec(struct world *w, uint64_t id);
bool job_exists(struct world *w, uint64_t id);
bool exec_exists(struct world *w, uint64_t id);

#define assert_rc(expr, rc) assert_string_equal(rc_name(expr), rc_name(rc))
#define assert_str(a, b)                                                                           \
    do {                                                                                           \
        struct str str_a_ = (a), str_b_ = (b);                                                     \
        assert_int_equal(str_a_.len, str_b_.len);                                                  \
        if (str_b_.len > 0)                                                                        \
            assert_memory_equal(str_a_.ptr, str_b_.ptr, str_b_.len);                               \
    } while (0)

/* Promises register themselves here, and are run for each candidate under its name. */
extern struct test_list promises;

#define PROMISE(name) TEST_IN(promises, name, world_setup, world_teardown)

/* Tells how many promises a candidate broke. */
int promises_run(const struct candidate *candidate);
