#include "server/auth.h"
#include "base/id.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    KEY_BYTES = 32,
    HASH_BYTES = 32,
    HASH_HEX = 2 * HASH_BYTES + 1, /* with NUL */
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

/* Keys are 256 random bits: nobody can try them all, so a fast hash is enough, and needed: it is
 * computed for every request. */
static struct str hash_key(struct str key, char ret_hex[HASH_HEX])
{
    unsigned char hash[HASH_BYTES];
    crypto_generichash(hash, sizeof hash, (const unsigned char *)key.ptr, key.len, NULL, 0);
    sodium_bin2hex(ret_hex, HASH_HEX, hash, sizeof hash);
    return str_of(ret_hex, HASH_HEX - 1);
}

static void add_principal(struct auth *auth, struct str name, enum role role, struct str hash)
{
    struct principal *p = ARENA_NEW(&auth->arena, struct principal);
    p->name = arena_str(&auth->arena, name);
    p->actor = arena_printf(&auth->arena, "key:%.*s", STR_ARG(name));
    p->role = role;
    strmap_put(&auth->keys, arena_str(&auth->arena, hash), p);
}

/* A name is in the directory for good only when that was synced too. */
static bool sync_dir(const char *dir)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool ok = fd >= 0 && fsync(fd) == 0;
    if (fd >= 0)
        close(fd);
    return ok;
}

static enum rc write_key(struct auth *auth, const char *dir, const char *path, struct str key,
                         struct err *err)
{
    const char *temp = arena_printf(&auth->arena, "%s.new", path).ptr;
    int fd = open(temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_set(err, RC_IO, "cannot write %s: %s", temp, strerror(errno));
    bool ok = write(fd, key.ptr, key.len) == (ssize_t)key.len && write(fd, "\n", 1) == 1 &&
              fsync(fd) == 0;
    close(fd);
    if (!ok || rename(temp, path) != 0 || !sync_dir(dir))
        return err_set(err, RC_IO, "cannot write %s: %s", path, strerror(errno));
    return RC_OK;
}

/* The file is written first: dying between the two leaves a key that opens nothing, and the next
 * start writes a new one over it. The other way round nobody would ever know the stored key. */
static enum rc make_key(struct auth *auth, struct store *store, const char *dir,
                        const struct first_key *first, int64_t now_ms, struct err *err)
{
    unsigned char random[KEY_BYTES];
    char key[sizeof KEY_PREFIX +
             sodium_base64_ENCODED_LEN(KEY_BYTES, sodium_base64_VARIANT_URLSAFE_NO_PADDING)] =
        KEY_PREFIX;
    char hex[HASH_HEX];
    randombytes_buf(random, sizeof random);
    sodium_bin2base64(key + strlen(KEY_PREFIX), sizeof key - strlen(KEY_PREFIX), random,
                      sizeof random, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    struct str hash = hash_key(str_c(key), hex);
    const char *path = arena_printf(&auth->arena, "%s/%s", dir, first->file).ptr;
    TRY(write_key(auth, dir, path, str_c(key), err));
    struct id_gen ids = {0};
    struct key_rec rec = {
        .id = id_next(&ids, now_ms, (uint32_t)first->role),
        .name = str_c(first->name),
        .role = str_c(first->name),
        .hash = hash,
        .created_ms = now_ms,
    };
    TRY(store->ops->key_put(store, &rec, err));
    add_principal(auth, rec.name, first->role, hash);
    sodium_memzero(key, sizeof key);
    log_info("made a key", "name", first->name, "file", path, NULL);
    return RC_OK;
}

static enum rc load_keys(struct auth *auth, struct store *store, unsigned *ret_roles,
                         struct err *err)
{
    struct key_rec *keys;
    size_t count;
    *ret_roles = 0;
    TRY(store->ops->keys(store, &auth->arena, &keys, &count, err));
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < COUNT_OF(first_keys); k++) {
            if (!str_eq(keys[i].role, str_c(first_keys[k].name)))
                continue;
            add_principal(auth, keys[i].name, first_keys[k].role, keys[i].hash);
            *ret_roles |= (unsigned)first_keys[k].role;
        }
    }
    return RC_OK;
}

enum rc auth_open(struct auth *auth, struct store *store, const char *data_dir, int64_t now_ms,
                  struct err *err)
{
    unsigned roles;
    *auth = (struct auth){0};
    if (sodium_init() < 0)
        return err_set(err, RC_IO, "libsodium does not start");
    TRY(load_keys(auth, store, &roles, err));
    for (size_t i = 0; i < COUNT_OF(first_keys); i++) {
        if ((roles & (unsigned)first_keys[i].role) == 0)
            TRY(make_key(auth, store, data_dir, &first_keys[i], now_ms, err));
    }
    return RC_OK;
}

void auth_close(struct auth *auth)
{
    strmap_free(&auth->keys);
    arena_free(&auth->arena);
}

const struct principal *auth_find(const struct auth *auth, struct str authorization)
{
    char hex[HASH_HEX];
    size_t scheme = str_index(authorization, ' ');
    if (!str_eq_nocase(str_of(authorization.ptr, scheme), STR("Bearer")))
        return NULL;
    struct str key = str_trim(str_from(authorization, scheme));
    return key.len == 0 ? NULL : strmap_get(&auth->keys, hash_key(key, hex));
}
