/* auth.h - who is calling, and what they may do.
 *
 * A key is 32 random bytes as text; the store has only its hash. Keys are read at the start, and
 * again when another server has changed them: a new ring of keys takes the place of the old one,
 * which stays until the end, so looking one up needs no lock. Only the number of a key's sessions
 * changes within a ring. The rights of each role stand in one place: the table of routes.
 *
 * Servers of a cluster speak to each other with a key of their own, and seal the cookies of
 * browsers (cookie.h) under another one. These are made by the first of them and kept in the store
 * as they are, since all need them; they are in no file, and nobody is shown them.
 *
 * A browser that signed in by a key may do what the key may; its actor is "key:admin@web", so that
 * records tell people at a page from programs. */
#pragma once
#include "base/map.h"
#include "server/auth/cookie.h"
#include "store/store.h"

/* A set of these stands in each route; the empty set is nobody. */
enum role {
    ROLE_ANYONE = 1 << 0, /* also without a key */
    ROLE_ADMIN = 1 << 1,
    ROLE_WORKER = 1 << 2,
    ROLE_KEYED = ROLE_ADMIN | ROLE_WORKER, /* any key */
    ROLE_SERVER = 1 << 3,                  /* another server of the cluster, speaking for itself */
};

struct principal {
    struct str actor; /* "key:admin", for the records of what happened */
    struct str name;  /* "admin" */
    enum role role;
    uint64_t key_id;
    bool web; /* a browser that signed in by the key */
};

enum { SESSION_LIVES_MS = 12 * 3600 * 1000 };

struct keyring;

struct auth {
    struct keyring *_Atomic ring; /* owned, and those before it */
};

/* The actor that stands for the key of this name. */
struct str auth_actor(struct str name, bool web, struct arena *arena);

/* Reads the keys. The first start makes the two everybody needs and writes them into data_dir, mode
 * 0600: admin.key and worker.key. A server that joins others makes a key for its own worker, if
 * data_dir has none, and the one for servers if there is none yet. */
enum rc auth_open(struct auth *auth, struct store *store, const char *data_dir, int64_t now_ms,
                  struct err *err);
/* Reads the keys again. On the thread that has the store. */
enum rc auth_reload(struct auth *auth, struct store *store, struct err *err);
void auth_close(struct auth *auth);

/* What servers say to each other as Authorization: a key; empty when there is none. Never shown. */
struct str auth_cluster_key(const struct auth *auth);
/* Whether this Authorization header is another server's. */
bool auth_is_server(const struct auth *auth, struct str authorization);

/* Whether this Authorization header is meant as a key, right or wrong. One of another scheme is
 * between a browser and a proxy in front of us. */
bool auth_is_key(struct str authorization);
/* Whose key this is (the value of an Authorization header), or NULL. */
const struct principal *auth_find(const struct auth *auth, struct str authorization);
/* The same for a key as its owner typed it. */
const struct principal *auth_find_key(const struct auth *auth, struct str text);
/* The key with this id, or NULL when it is gone. */
const struct principal *auth_find_id(const struct auth *auth, uint64_t key_id);

/* ---- browsers (now_ms: wall clock) */

/* Begins a session by that key, for SESSION_LIVES_MS: the value of its cookie. False: the key has
 * gone meanwhile. */
bool auth_begin_session(const struct auth *auth, uint64_t key_id, int64_t now_ms,
                        struct session *ret_session, char ret_cookie[COOKIE_TEXT]);
/* Who signed in to get this cookie, or NULL: it is not one of ours, or its session is over. */
const struct principal *auth_find_session(const struct auth *auth, struct str cookie,
                                          int64_t now_ms, struct session *ret_session);
/* Whether a session that was found is still not over. */
bool auth_session_holds(const struct auth *auth, const struct session *session, int64_t now_ms);
/* Ends all sessions of the key that were begun before asked_us (monotonic), for all who asked until
 * now at once: each transaction keeps the turn waiting. On the thread that has the store. */
enum rc auth_end_sessions(struct auth *auth, struct store *store, uint64_t key_id, int64_t asked_us,
                          struct err *err);
