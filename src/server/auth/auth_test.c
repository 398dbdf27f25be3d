#include "server/auth/auth.h"

#include "base/test/test.h"
#include "loop/clock.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { NOW_MS = 1000 };

static char dir[64];
static struct store *store;
static struct auth auth;

static int begin(void **state)
{
    struct err err;
    (void)state;
    snprintf(dir, sizeof dir, "/tmp/belfry-auth-XXXXXX");
    store = store_mem_open();
    return mkdtemp(dir) == NULL || auth_open(&auth, store, dir, NOW_MS, &err) != RC_OK;
}

static int end(void **state)
{
    static const char *const files[] = {"admin.key", "worker.key"};
    char path[128];
    (void)state;
    auth_close(&auth);
    store->ops->close(store);
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        snprintf(path, sizeof path, "%s/%s", dir, files[i]);
        unlink(path);
    }
    return rmdir(dir);
}

/* The administrator's, as the store has it; without its texts. */
static struct key_rec admin_key(void)
{
    struct key_rec found = {.id = 0};
    CLEANUP(arena_free) struct arena arena = {0};
    struct key_rec *keys;
    size_t count;
    struct err err;
    assert_int_equal(store->ops->keys(store, &arena, &keys, &count, &err), RC_OK);
    for (size_t i = 0; i < count; i++) {
        if (str_eq(keys[i].role, STR("admin")))
            found = (struct key_rec){.id = keys[i].id, .sessions = keys[i].sessions};
    }
    assert_true(found.id != 0);
    return found;
}

static void end_sessions(int64_t asked_us)
{
    struct err err;
    assert_int_equal(auth_end_sessions(&auth, store, admin_key().id, asked_us, &err), RC_OK);
}

static struct session begin_session(void)
{
    struct session session;
    char cookie[COOKIE_TEXT];
    assert_true(auth_begin_session(&auth, admin_key().id, NOW_MS, &session, cookie));
    return session;
}

TEST(sessions_end_and_no_ring_is_made_for_it, begin, end)
{
    const struct keyring *ring = atomic_load(&auth.ring);
    for (int i = 0; i < 3; i++) {
        struct session session = begin_session();
        assert_true(auth_session_holds(&auth, &session, NOW_MS));
        end_sessions(clock_mono_us() + 1);
        assert_false(auth_session_holds(&auth, &session, NOW_MS));
    }
    assert_ptr_equal(atomic_load(&auth.ring), ring);
}

TEST(sessions_that_another_server_ended_are_over, begin, end)
{
    struct err err;
    struct session session = begin_session();
    assert_int_equal(store->ops->key_sign_out(store, admin_key().id, &err), RC_OK);
    assert_int_equal(auth_reload(&auth, store, &err), RC_OK);
    assert_false(auth_session_holds(&auth, &session, NOW_MS));
}

TEST(who_asked_before_the_last_end_began_is_served_by_it, begin, end)
{
    int64_t asked_us = clock_mono_us();
    end_sessions(asked_us);
    end_sessions(asked_us);
    assert_int_equal(admin_key().sessions, 1);
    end_sessions(clock_mono_us() + 1);
    assert_int_equal(admin_key().sessions, 2);
}
