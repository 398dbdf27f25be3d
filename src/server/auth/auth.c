#include "server/auth/auth.h"
#include "base/id.h"
#include "base/log.h"
#include "base/mem.h"
#include "loop/clock.h"
#include "loop/file.h"

#include <fcntl.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEY_BYTES = 32,
    HASH_BYTES = 32,
    HASH_HEX = 2 * HASH_BYTES + 1, /* with NUL */
    KEY_FILE_MAX = 4096,
};

/* What servers share, kept in place of a key's hash. */
struct secret {
    struct str text; /* empty: there is none yet */
    uint64_t id;
};

enum { CLUSTER_KEY, SEAL_KEY, SECRETS };
static const struct secret_kind {
    const char *role; /* of its row */
    const char *name;
} secret_kinds[SECRETS] = {
    [CLUSTER_KEY] = {"server", "servers"}, /* what they say to each other */
    [SEAL_KEY] = {"seal", "sessions"},     /* under which they seal cookies */
};

/* A key, as itself and as a browser that signed in by it. */
struct key {
    struct principal self;
    struct principal web;
    atomic_uint_least64_t sessions; /* grows in its place */
    int64_t ended_us;               /* when that was last begun; of the thread that has the store */
    struct str hash;
};

struct keyring {
    struct keyring *before; /* owned: requests may still point into it */
    struct strmap keys;     /* hex hash -> struct key */
    struct map by_id;       /* -> struct key */
    struct secret secrets[SECRETS];
    unsigned char seal_key[SEAL_KEY_BYTES];
    unsigned roles; /* that somebody has a key for */
    struct arena arena;
};

#define KEY_PREFIX "bfk_" /* so that a leaked one can be recognised by scanners */

static const struct first_key {
    const char *file;
    const char *name;
    enum role role;
} first_keys[] = {
    {"admin.key", "admin", ROLE_ADMIN},
    {"worker.key", "worker", ROLE_WORKER},
};

/* Keys are 256 random bits: an attacker cannot try them all, so a fast hash is enough, and needed:
 * it is computed for every request. */
static struct str hash_key(struct str key, char ret_hex[HASH_HEX])
{
    unsigned char hash[HASH_BYTES];
    crypto_generichash(hash, sizeof hash, (const unsigned char *)key.ptr, key.len, NULL, 0);
    sodium_bin2hex(ret_hex, HASH_HEX, hash, sizeof hash);
    return str_of(ret_hex, HASH_HEX - 1);
}

struct str auth_actor(struct str name, bool web, struct arena *arena)
{
    return arena_printf(arena, "key:%.*s%s", STR_ARG(name), web ? "@web" : "");
}

static struct principal principal(struct keyring *ring, const struct key_rec *rec, enum role role,
                                  bool web)
{
    return (struct principal){
        .name = arena_str(&ring->arena, rec->name),
        .actor = auth_actor(rec->name, web, &ring->arena),
        .role = role,
        .key_id = rec->id,
        .web = web,
    };
}

static void add_principal(struct keyring *ring, const struct key_rec *rec, enum role role)
{
    struct key *key = ARENA_NEW(&ring->arena, struct key);
    key->self = principal(ring, rec, role, false);
    key->web = principal(ring, rec, role, true);
    atomic_init(&key->sessions, rec->sessions);
    key->hash = arena_str(&ring->arena, rec->hash);
    strmap_put(&ring->keys, key->hash, key);
    map_put(&ring->by_id, rec->id, key);
}

/* ---- making keys */

enum { KEY_TEXT = sizeof KEY_PREFIX + 44 }; /* 32 bytes in base 64, and NUL */

static void new_key(char ret_key[KEY_TEXT])
{
    unsigned char random[KEY_BYTES];
    size_t at = strlen(KEY_PREFIX);
    randombytes_buf(random, sizeof random);
    memcpy(ret_key, KEY_PREFIX, sizeof KEY_PREFIX);
    sodium_bin2base64(ret_key + at, KEY_TEXT - at, random, sizeof random,
                      sodium_base64_VARIANT_URLSAFE_NO_PADDING);
}

/* Servers that start together make different ones, and so does one that makes several at one
 * moment: a new generator begins with sequence 0, so those bits are left to chance, as the bucket
 * is. */
static uint64_t new_id(int64_t now_ms)
{
    struct id_gen ids = {0};
    uint64_t id = id_next(&ids, now_ms, randombytes_uniform(ID_BUCKETS));
    return id | randombytes_uniform(ID_SEQUENCE_MAX + 1);
}

/* The file is written first: dying between the two leaves a key that opens nothing, and the next
 * start writes a new one over it. The other way round nobody would ever know the stored key. */
static enum rc make_key(struct store *store, const char *dir, const struct first_key *first,
                        int64_t now_ms, struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    char key[KEY_TEXT];
    char hex[HASH_HEX];
    new_key(key);
    struct str hash = hash_key(str_c(key), hex);
    const char *path = arena_printf(&arena, "%s/%s", dir, first->file).ptr;
    TRY(file_write_secret(dir, first->file, str_c(key), err));
    struct key_rec rec = {
        .id = new_id(now_ms),
        .name = str_c(first->name),
        .role = str_c(first->name),
        .hash = hash,
        .created_ms = now_ms,
    };
    TRY(store->ops->key_put(store, &rec, err));
    sodium_memzero(key, sizeof key);
    log_info("an API key was made and written to a file", "name", first->name, "file", path, NULL);
    return RC_OK;
}

static enum rc make_secret(struct store *store, const struct secret_kind *kind, int64_t now_ms,
                           struct err *err)
{
    char key[KEY_TEXT];
    new_key(key);
    struct key_rec rec = {
        .id = new_id(now_ms),
        .name = str_c(kind->name),
        .role = str_c(kind->role),
        .hash = str_c(key),
        .created_ms = now_ms,
    };
    return store->ops->key_put(store, &rec, err);
}

/* ---- reading them */

/* Two may have been made at one moment; all servers choose the same. */
static void add_secret(struct keyring *ring, struct secret *secret, const struct key_rec *key)
{
    if (secret->text.len == 0 || key->id < secret->id)
        *secret = (struct secret){arena_str(&ring->arena, key->hash), key->id};
}

static void add_key(struct keyring *ring, const struct key_rec *key)
{
    for (size_t k = 0; k < COUNT_OF(first_keys); k++) {
        if (!str_eq(key->role, str_c(first_keys[k].name)))
            continue;
        add_principal(ring, key, first_keys[k].role);
        ring->roles |= (unsigned)first_keys[k].role;
    }
    for (size_t i = 0; i < SECRETS; i++) {
        if (str_eq(key->role, str_c(secret_kinds[i].role)))
            add_secret(ring, &ring->secrets[i], key);
    }
}

/* The text is a random key; what seals has the size that the seal wants. */
static void make_seal_key(struct keyring *ring)
{
    struct str text = ring->secrets[SEAL_KEY].text;
    crypto_generichash(ring->seal_key, sizeof ring->seal_key, (const unsigned char *)text.ptr,
                       text.len, NULL, 0);
}

static void ring_free(struct keyring *ring)
{
    sodium_memzero(ring->seal_key, sizeof ring->seal_key);
    strmap_free(&ring->keys);
    map_free(&ring->by_id);
    arena_free(&ring->arena);
    free(ring);
}

/* But for the numbers of their sessions. */
static bool same_keys(const struct keyring *a, const struct keyring *b)
{
    if (a == NULL || a->keys.len != b->keys.len)
        return false;
    for (size_t i = 0; i < SECRETS; i++) {
        if (!str_eq(a->secrets[i].text, b->secrets[i].text))
            return false;
    }
    MAP_EACH(&a->by_id, slot)
    {
        const struct key *p = slot->value;
        const struct key *q = map_get(&b->by_id, slot->key);
        if (q == NULL || q->self.role != p->self.role || !str_eq(q->self.name, p->self.name) ||
            !str_eq(q->hash, p->hash))
            return false;
    }
    return true;
}

static void renew_numbers(struct keyring *ring, const struct keyring *newer)
{
    MAP_EACH(&ring->by_id, slot)
    {
        struct key *key = slot->value;
        const struct key *other = map_get(&newer->by_id, slot->key);
        atomic_store(&key->sessions, atomic_load(&other->sessions));
    }
}

/* Rings stay until the end, so one is made only when keys came, went or changed: whoever has a key
 * may end its sessions as often as they like. */
enum rc auth_reload(struct auth *auth, struct store *store, struct err *err)
{
    struct keyring *ring = MEM_NEW(struct keyring);
    struct key_rec *keys;
    size_t count = 0;
    enum rc rc = store->ops->keys(store, &ring->arena, &keys, &count, err);
    for (size_t i = 0; rc == RC_OK && i < count; i++)
        add_key(ring, &keys[i]);
    make_seal_key(ring);
    ring->before = atomic_load(&auth->ring);
    bool same = same_keys(ring->before, ring);
    if (rc == RC_OK && !same) {
        atomic_store(&auth->ring, ring);
        return RC_OK;
    }
    if (rc == RC_OK)
        renew_numbers(ring->before, ring);
    ring_free(ring);
    return rc;
}

/* The key in a file of data_dir is one that counts. */
static bool has_file_key(const struct keyring *ring, const char *dir, const char *file)
{
    CLEANUP(arena_free) struct arena arena = {0};
    char hex[HASH_HEX];
    struct str text;
    const char *path = arena_printf(&arena, "%s/%s", dir, file).ptr;
    if (file_read(path, KEY_FILE_MAX, &arena, &text, NULL) != RC_OK)
        return false;
    return strmap_get(&ring->keys, hash_key(str_trim(text), hex)) != NULL;
}

/* A server that joins others makes no key for people: the cluster has one, which should be
 * named. */
static void tell_who_has_none(const struct auth *auth, const struct store *store, const char *dir)
{
    if (store->ops->member != NULL && !has_file_key(atomic_load(&auth->ring), dir, "admin.key"))
        log_info(
            "no admin key here; copy admin.key from the data directory of another server, or make a "
            "new one as docs/operations.md says under 'A lost admin.key'",
            "data", dir, NULL);
}

/* There must be a key for each role; and, among several servers, ours has its own worker. */
static bool is_missing(const struct auth *auth, const struct store *store, const char *dir,
                       const struct first_key *first)
{
    const struct keyring *ring = atomic_load(&auth->ring);
    bool nobody = (ring->roles & (unsigned)first->role) == 0;
    bool ours = first->role == ROLE_WORKER && store->ops->member != NULL;
    return nobody || (ours && !has_file_key(ring, dir, first->file));
}

enum rc auth_open(struct auth *auth, struct store *store, const char *data_dir, int64_t now_ms,
                  struct err *err)
{
    *auth = (struct auth){NULL};
    if (sodium_init() < 0)
        return err_set(err, RC_IO, "libsodium does not start");
    TRY(auth_reload(auth, store, err));
    for (size_t i = 0; i < COUNT_OF(first_keys); i++) {
        if (is_missing(auth, store, data_dir, &first_keys[i]))
            TRY(make_key(store, data_dir, &first_keys[i], now_ms, err));
    }
    for (size_t i = 0; i < SECRETS; i++) {
        bool is_needed = i != CLUSTER_KEY || store->ops->member != NULL;
        if (is_needed && atomic_load(&auth->ring)->secrets[i].text.len == 0)
            TRY(make_secret(store, &secret_kinds[i], now_ms, err));
    }
    TRY(auth_reload(auth, store, err));
    tell_who_has_none(auth, store, data_dir);
    return RC_OK;
}

void auth_close(struct auth *auth)
{
    struct keyring *ring = atomic_load(&auth->ring);
    while (ring != NULL) {
        struct keyring *before = ring->before;
        ring_free(ring);
        ring = before;
    }
}

/* ---- asking */

bool auth_is_key(struct str authorization)
{
    size_t scheme = str_index(authorization, ' ');
    return str_eq_nocase(str_of(authorization.ptr, scheme), STR("Bearer"));
}

/* The token behind "Bearer"; empty when the scheme is another. */
static struct str bearer(struct str authorization)
{
    if (!auth_is_key(authorization))
        return STR("");
    return str_trim(str_from(authorization, str_index(authorization, ' ')));
}

struct str auth_cluster_key(const struct auth *auth)
{
    return atomic_load(&auth->ring)->secrets[CLUSTER_KEY].text;
}

bool auth_is_server(const struct auth *auth, struct str authorization)
{
    struct str key = bearer(authorization);
    struct str ours = auth_cluster_key(auth);
    return ours.len > 0 && key.len == ours.len && sodium_memcmp(key.ptr, ours.ptr, key.len) == 0;
}

const struct principal *auth_find_key(const struct auth *auth, struct str text)
{
    char hex[HASH_HEX];
    const struct key *key = NULL;
    if (text.len > 0)
        key = strmap_get(&atomic_load(&auth->ring)->keys, hash_key(text, hex));
    return key == NULL ? NULL : &key->self;
}

const struct principal *auth_find(const struct auth *auth, struct str authorization)
{
    return auth_find_key(auth, bearer(authorization));
}

const struct principal *auth_find_id(const struct auth *auth, uint64_t key_id)
{
    const struct key *key = map_get(&atomic_load(&auth->ring)->by_id, key_id);
    return key == NULL ? NULL : &key->self;
}

/* ---- browsers */

/* Without a key to seal under everybody could seal. */
static bool may_seal(const struct keyring *ring)
{
    return ring->secrets[SEAL_KEY].text.len > 0;
}

bool auth_begin_session(const struct auth *auth, uint64_t key_id, int64_t now_ms,
                        struct session *ret_session, char ret_cookie[COOKIE_TEXT])
{
    const struct keyring *ring = atomic_load(&auth->ring);
    const struct key *key = map_get(&ring->by_id, key_id);
    if (key == NULL || !may_seal(ring))
        return false;
    *ret_session = (struct session){key_id, atomic_load(&key->sessions), now_ms + SESSION_LIVES_MS};
    cookie_seal(ret_session, ring->seal_key, ret_cookie);
    return true;
}

static const struct key *holder(const struct keyring *ring, const struct session *session,
                                int64_t now_ms)
{
    const struct key *key = map_get(&ring->by_id, session->key_id);
    bool holds =
        key != NULL && atomic_load(&key->sessions) == session->number && now_ms < session->ends_ms;
    return holds ? key : NULL;
}

const struct principal *auth_find_session(const struct auth *auth, struct str cookie,
                                          int64_t now_ms, struct session *ret_session)
{
    const struct keyring *ring = atomic_load(&auth->ring);
    if (!may_seal(ring) || !cookie_open(cookie, ring->seal_key, ret_session))
        return NULL;
    const struct key *key = holder(ring, ret_session, now_ms);
    return key == NULL ? NULL : &key->web;
}

bool auth_session_holds(const struct auth *auth, const struct session *session, int64_t now_ms)
{
    return holder(atomic_load(&auth->ring), session, now_ms) != NULL;
}

enum rc auth_end_sessions(struct auth *auth, struct store *store, uint64_t key_id, int64_t asked_us,
                          struct err *err)
{
    int64_t begin_us = clock_mono_us();
    struct key *key = map_get(&atomic_load(&auth->ring)->by_id, key_id);
    if (key != NULL && key->ended_us >= asked_us)
        return RC_OK;
    TRY(store->ops->key_sign_out(store, key_id, err));
    TRY(auth_reload(auth, store, err)); /* before that a second try would end them again */
    key = map_get(&atomic_load(&auth->ring)->by_id, key_id);
    if (key != NULL)
        key->ended_us = begin_us;
    return RC_OK;
}
