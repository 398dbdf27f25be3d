#include "base/log.h"
#include "base/mem.h"
#include "base/vec.h"
#include "store/postgres/migrate.h"
#include "store/postgres/postgres.h"
#include "store/sql/row.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- API keys */

static enum rc keys(struct store *store, struct arena *arena, struct key_rec **ret_keys,
                    size_t *ret_count, struct err *err)
{
    struct pg *pg = &postgres_of(store)->pg;
    PG_CLEAR(pg);
    VEC(struct key_rec) all = {0};
    struct pg_call *use = pg_call(pg, Q_LOAD_KEYS);
    TRY(pg_run(pg, err));
    for (size_t i = 0; i < pg_rows(use); i++) {
        struct key_rec key;
        struct row row = pg_row(use, i, arena);
        if (row_key(&row, &key))
            *VEC_PUSH(arena, &all) = key;
    }
    *ret_keys = all.items;
    *ret_count = all.len;
    return RC_OK;
}

static enum rc key_put(struct store *store, const struct key_rec *key, struct err *err)
{
    struct postgres_store *s = postgres_of(store);
    struct pg *pg = &s->pg;
    PG_CLEAR(pg);
    assert(!s->in_turn);
    TRY(pg_connect(pg, err));
    pg_begin(pg);
    struct pg_call *use = pg_call(pg, Q_PUT_KEY);
    pg_u64(use, key->id);
    pg_text(use, key->name);
    pg_text(use, key->role);
    pg_text(use, key->hash);
    pg_i64(use, key->created_ms);
    pg_u64(use, key->sessions);
    (void)pg_call(pg, Q_RAISE_SETTINGS);
    return pg_commit(pg, err);
}

static enum rc key_sign_out(struct store *store, uint64_t id, struct err *err)
{
    struct postgres_store *s = postgres_of(store);
    struct pg *pg = &s->pg;
    PG_CLEAR(pg);
    assert(!s->in_turn);
    TRY(pg_connect(pg, err));
    pg_begin(pg);
    struct pg_call *use = pg_call(pg, Q_SIGN_KEY_OUT);
    pg_u64(use, id);
    (void)pg_call(pg, Q_RAISE_SETTINGS);
    TRY(pg_commit(pg, err));
    return pg_changed(use) == 1 ? RC_OK : err_set(err, RC_NOT_FOUND, "the key is gone");
}

/* ---- what it costs */

static struct store_cost cost(struct store *store)
{
    struct postgres_store *s = postgres_of(store);
    uint64_t commits = atomic_load(&s->commits);
    return (struct store_cost){
        .commits = commits,
        .syncs = commits, /* the server's, of which we see that each commit waits for one */
        .sync_us = atomic_load(&s->commit_us),
        .round_trips = atomic_load(&s->round_trips),
    };
}

/* ---- opening and closing */

static void abort_turn(struct store *store)
{
    postgres_turn_abort(postgres_of(store));
}

/* Our commits are looked for where the URL says; there is no file to lose. */
static enum rc check(struct store *store, struct err *err)
{
    (void)store;
    (void)err;
    return RC_OK;
}

static void close_store(struct store *store)
{
    struct postgres_store *s = postgres_of(store);
    pg_close(&s->pg);
    trails_forget(&s->trails);
    marks_free(&s->marks);
    arena_free(&s->taken_arena);
    free(s->owner);
    pg_place_free(&s->place);
    free(s);
}

static const struct store_ops ops = {
    .own = postgres_own,
    .admit = postgres_admit,
    .fetch = postgres_fetch,
    .commit = postgres_commit,
    .abort = abort_turn,
    .settle = postgres_settle,
    .load = postgres_load,
    .settings = postgres_settings,
    .check = check,
    .keys = keys,
    .key_put = key_put,
    .key_sign_out = key_sign_out,
    .reader = postgres_reader,
    .logs = postgres_logs,
    .member = postgres_member,
    .cost = cost,
    .close = close_store,
};

/* A server that may make or change the schema does so: the first one of a new version brings the
 * others along, under the lock of migrations. One that may not says who should. */
static enum rc bring_up_to_date(struct postgres_store *s, uint32_t partitions, struct err *err)
{
    int64_t version;
    int64_t newest = pg_migrate_newest();
    TRY(pg_migrate_version(&s->pg, &version, err));
    if (version == newest)
        return RC_OK;
    if (version > newest)
        return err_set(err, RC_UNSUPPORTED,
                       "%s has version %lld, and this belfry knows versions up to %lld; run the "
                       "belfry that wrote it, or a newer one",
                       s->place.label, (long long)version, (long long)newest);
    enum rc rc = pg_migrate(&s->place, partitions, NULL, &version, err);
    if (rc == RC_DENIED)
        return err_set(err, RC_DENIED,
                       "%s: schema belfry %s, and this user may not change that; run `belfry "
                       "migrate --store URL` as a user who may",
                       s->place.label, version == 0 ? "is missing" : "is older than this program");
    if (rc == RC_OK)
        log_info("schema belfry was brought to the newest version", "database", s->place.label,
                 NULL);
    return rc;
}

static enum rc read_realm(struct postgres_store *s, struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct pg *pg = &s->pg;
    PG_CLEAR(pg);
    struct pg_call *use = pg_call(pg, Q_STORE_ID);
    TRY(pg_run(pg, err));
    if (pg_rows(use) > 0) {
        struct row row = pg_row(use, 0, &arena);
        s->store.realm = str_hash(row_text(&row));
    }
    return RC_OK;
}

static void name_writer(struct postgres_store *s)
{
    uint64_t words[2];
    if (getentropy(words, sizeof words) != 0)
        abort(); /* no system of ours is without */
    snprintf(s->writer, sizeof s->writer, "%016" PRIx64 "%016" PRIx64, words[0], words[1]);
}

enum rc store_postgres_open(const char *url, const struct postgres_options *options,
                            struct store **ret_store, struct err *err)
{
    struct postgres_store *s = MEM_NEW(struct postgres_store);
    s->store.ops = &ops;
    s->lease_ms = options->lease_ms;
    name_writer(s);
    marks_init(&s->marks);
    enum rc rc = pg_place_parse(url, &s->place, err);
    if (rc == RC_OK) {
        s->place.trips = &s->round_trips;
        pg_init(&s->pg, &s->place, false);
        s->pg.patience = &s->store.patience;
        if (options->answer_ms != 0)
            s->pg.wait_ms = (int)options->answer_ms;
        rc = bring_up_to_date(s, options->partitions, err);
        if (rc == RC_OK)
            rc = read_realm(s, err);
    }
    if (rc != RC_OK)
        close_store(&s->store);
    else
        *ret_store = &s->store;
    return rc;
}

enum rc store_postgres_migrate(const char *url, uint32_t partitions, const char *role,
                               struct migrated *ret_migrated, struct err *err)
{
    struct pg_place place = {0};
    TRY(pg_place_parse(url, &place, err));
    enum rc rc = pg_migrate(&place, partitions, role, &ret_migrated->from, err);
    ret_migrated->to = pg_migrate_newest();
    pg_place_free(&place);
    return rc;
}
