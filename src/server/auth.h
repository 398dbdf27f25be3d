/* auth.h - who is calling, and what they may do.
 *
 * A key is 32 random bytes as text; the store has only its hash. Keys are read at the start and do
 * not change while the server runs, so looking one up needs no lock. What a role may do stands in
 * one place: the table of routes. */
#pragma once
#include "base/map.h"
#include "store/store.h"

/* A set of these stands in each route; the empty set is nobody. */
enum role {
    ROLE_ANYONE = 1 << 0, /* also without a key */
    ROLE_ADMIN = 1 << 1,
    ROLE_WORKER = 1 << 2,
    ROLE_KEYED = ROLE_ADMIN | ROLE_WORKER, /* any key */
};

struct principal {
    struct str actor; /* "key:admin", for the records of what happened */
    struct str name;  /* "admin" */
    enum role role;
};

struct auth {
    struct strmap keys; /* hex hash -> struct principal */
    struct arena arena;
};

/* Reads the keys. The first start makes the two everybody needs and writes them into data_dir,
 * mode 0600: admin.key and worker.key. */
enum rc auth_open(struct auth *auth, struct store *store, const char *data_dir, int64_t now_ms,
                  struct err *err);
void auth_close(struct auth *auth);

/* Whose key this is (the value of an Authorization header), or NULL. */
const struct principal *auth_find(const struct auth *auth, struct str authorization);
