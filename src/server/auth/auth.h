/* auth.h - who is calling, and what they may do.
 *
 * A key is 32 random bytes as text; the store has only its hash. Keys are read at the start, and
 * again when another server has changed them: a new ring of keys takes the place of the old one,
 * which stays until the end, so looking one up needs no lock. The rights of each role stand in one
 * place: the table of routes.
 *
 * Servers of a cluster speak to each other with a key of their own. It is made by the first of them
 * and kept in the store as it is, since all need it; it is in no file, and nobody is shown it. */
#pragma once
#include "base/map.h"
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
};

struct keyring;

struct auth {
    struct keyring *_Atomic ring; /* owned, and those before it */
};

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

/* Whose key this is (the value of an Authorization header), or NULL. */
const struct principal *auth_find(const struct auth *auth, struct str authorization);
