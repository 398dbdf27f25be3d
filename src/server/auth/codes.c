#include "server/auth/codes.h"
#include "base/mem.h"

#include <pthread.h>
#include <sodium.h>
#include <stdlib.h>

enum {
    CODE_BYTES = 16,
    HASH_BYTES = 32,
    BASE64 = sodium_base64_VARIANT_URLSAFE_NO_PADDING,
};
_Static_assert(sodium_base64_ENCODED_LEN(CODE_BYTES, BASE64) == CODE_TEXT, "a code's text fits");

struct code {
    unsigned char hash[HASH_BYTES];
    uint64_t key_id;
    uint64_t number; /* in the order in which they were made; 0: a free place */
    int64_t made_ms; /* monotonic */
    bool used;
};

struct codes {
    pthread_mutex_t lock; /* of all below */
    uint64_t numbers;
    struct code all[CODES_MAX];
};

struct str codes_maker(struct str start, char ret_text[MAKER_TEXT])
{
    unsigned char hash[HASH_BYTES];
    crypto_generichash(hash, sizeof hash, (const unsigned char *)start.ptr, start.len, NULL, 0);
    sodium_bin2hex(ret_text, MAKER_TEXT, hash, MAKER_TEXT / 2);
    return str_of(ret_text, MAKER_TEXT - 1);
}

struct codes *codes_new(void)
{
    struct codes *codes = MEM_NEW(struct codes);
    pthread_mutex_init(&codes->lock, NULL);
    return codes;
}

void codes_free(struct codes *codes)
{
    if (codes == NULL)
        return;
    pthread_mutex_destroy(&codes->lock);
    free(codes);
}

static void hash_code(struct str code, unsigned char ret_hash[HASH_BYTES])
{
    crypto_generichash(ret_hash, HASH_BYTES, (const unsigned char *)code.ptr, code.len, NULL, 0);
}

/* A free one, else that of the oldest. */
static struct code *place_of(struct codes *codes, uint64_t key_id)
{
    struct code *oldest = &codes->all[0];
    struct code *own = NULL;
    size_t count = 0;
    for (size_t i = 0; i < CODES_MAX; i++) {
        struct code *code = &codes->all[i];
        if (code->number < oldest->number)
            oldest = code;
        if (code->number == 0 || code->key_id != key_id)
            continue;
        count++;
        if (own == NULL || code->number < own->number)
            own = code;
    }
    return count < CODES_OF_KEY ? oldest : own;
}

void codes_make(struct codes *codes, uint64_t key_id, int64_t now_ms, char ret_code[CODE_TEXT])
{
    unsigned char random[CODE_BYTES];
    struct code code = {.key_id = key_id, .made_ms = now_ms};
    randombytes_buf(random, sizeof random);
    sodium_bin2base64(ret_code, CODE_TEXT, random, sizeof random, BASE64);
    sodium_memzero(random, sizeof random);
    hash_code(str_c(ret_code), code.hash);
    pthread_mutex_lock(&codes->lock);
    code.number = ++codes->numbers;
    *place_of(codes, key_id) = code;
    pthread_mutex_unlock(&codes->lock);
}

static enum code_answer use_one(struct code *code, int64_t now_ms, uint64_t *ret_key_id)
{
    if (code->used)
        return CODE_USED;
    if (now_ms - code->made_ms >= CODE_LIVES_MS)
        return CODE_LATE;
    code->used = true;
    *ret_key_id = code->key_id;
    return CODE_GOOD;
}

enum code_answer codes_use(struct codes *codes, struct str text, int64_t now_ms,
                           uint64_t *ret_key_id)
{
    unsigned char hash[HASH_BYTES];
    enum code_answer answer = CODE_UNKNOWN;
    hash_code(text, hash);
    pthread_mutex_lock(&codes->lock);
    for (size_t i = 0; i < CODES_MAX; i++) {
        struct code *code = &codes->all[i];
        bool is_it = sodium_memcmp(code->hash, hash, sizeof hash) == 0;
        if (is_it && code->number != 0 && now_ms - code->made_ms < 2 * CODE_LIVES_MS)
            answer = use_one(code, now_ms, ret_key_id);
    }
    pthread_mutex_unlock(&codes->lock);
    return answer;
}
