#include "server/turn/idempotency_hash.h"

#include <sodium.h>

enum { HASH_BYTES = crypto_generichash_BYTES_MIN, HASH_HEX = 2 * HASH_BYTES + 1 }; /* 128 bits */

/* Each part with its length, so that no two lists of parts look the same. */
static void add(crypto_generichash_state *hash, struct str part)
{
    uint64_t len = part.len;
    crypto_generichash_update(hash, (const unsigned char *)&len, sizeof len);
    if (len > 0)
        crypto_generichash_update(hash, (const unsigned char *)part.ptr, len);
}

static void add_number(crypto_generichash_state *hash, uint64_t number)
{
    crypto_generichash_update(hash, (const unsigned char *)&number, sizeof number);
}

static struct str hash_end(crypto_generichash_state *hash, struct arena *arena)
{
    unsigned char bytes[HASH_BYTES];
    char hex[HASH_HEX];
    crypto_generichash_final(hash, bytes, sizeof bytes);
    sodium_bin2hex(hex, sizeof hex, bytes, sizeof bytes);
    return arena_str(arena, str_c(hex));
}

/* Of one size, however long the key is: it is looked up in a table of all that are known. */
static struct str with_scope(struct str scope, struct str key, struct arena *arena)
{
    crypto_generichash_state hash;
    crypto_generichash_init(&hash, NULL, 0, HASH_BYTES);
    add(&hash, scope);
    add(&hash, key);
    return hash_end(&hash, arena);
}

struct once idempotency_in_scope(struct str scope, struct str key, const struct submission *item,
                                 struct arena *arena)
{
    crypto_generichash_state hash;
    if (key.len == 0)
        return (struct once){0};
    crypto_generichash_init(&hash, NULL, 0, HASH_BYTES);
    add(&hash, STR("job"));
    add(&hash, item->spec);
    add(&hash, item->payload);
    for (size_t i = 0; i < item->depends_count; i++) {
        const struct dependency_wish *wish = &item->depends_on[i];
        add_number(&hash, wish->type);
        add_number(&hash, wish->job_id);
        add_number(&hash, wish->number);
        add(&hash, wish->name);
    }
    return (struct once){.key = with_scope(scope, key, arena), .hash = hash_end(&hash, arena)};
}

struct once idempotency_of_texts(struct str scope, struct str key, const struct str *texts,
                                 size_t count, struct arena *arena)
{
    crypto_generichash_state hash;
    if (key.len == 0)
        return (struct once){0};
    crypto_generichash_init(&hash, NULL, 0, HASH_BYTES);
    add(&hash, STR("call"));
    for (size_t i = 0; i < count; i++)
        add(&hash, texts[i]);
    return (struct once){.key = with_scope(scope, key, arena), .hash = hash_end(&hash, arena)};
}
