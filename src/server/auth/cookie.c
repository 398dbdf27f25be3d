#include "server/auth/cookie.h"

#include <sodium.h>
#include <string.h>

enum {
    NONCE_BYTES = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES,
    SEAL_BYTES = crypto_aead_xchacha20poly1305_ietf_ABYTES,
    PLAIN_BYTES = 3 * sizeof(uint64_t),
    COOKIE_BYTES = NONCE_BYTES + PLAIN_BYTES + SEAL_BYTES,
    BASE64 = sodium_base64_VARIANT_URLSAFE_NO_PADDING,
};
_Static_assert(crypto_aead_xchacha20poly1305_ietf_KEYBYTES == SEAL_KEY_BYTES, "keys fit");
_Static_assert(sodium_base64_ENCODED_LEN(COOKIE_BYTES, BASE64) <= COOKIE_TEXT, "cookies fit");

/* Sealed along: text that another use of the key sealed is no session. */
static const unsigned char use[] = "belfry session 1";

static void put(unsigned char *to, uint64_t value)
{
    for (size_t i = 0; i < sizeof value; i++)
        to[i] = (unsigned char)(value >> (8 * i));
}

static uint64_t take(const unsigned char *from)
{
    uint64_t value = 0;
    for (size_t i = 0; i < sizeof value; i++)
        value |= (uint64_t)from[i] << (8 * i);
    return value;
}

void cookie_seal(const struct session *session, const unsigned char key[SEAL_KEY_BYTES],
                 char ret_text[COOKIE_TEXT])
{
    unsigned char plain[PLAIN_BYTES];
    unsigned char cookie[COOKIE_BYTES]; /* the nonce, and what is sealed */
    put(plain, session->key_id);
    put(plain + 8, session->number);
    put(plain + 16, (uint64_t)session->ends_ms);
    randombytes_buf(cookie, NONCE_BYTES);
    crypto_aead_xchacha20poly1305_ietf_encrypt(cookie + NONCE_BYTES, NULL, plain, sizeof plain, use,
                                               sizeof use, NULL, cookie, key);
    sodium_bin2base64(ret_text, COOKIE_TEXT, cookie, sizeof cookie, BASE64);
}

/* libsodium takes some bytes above 127 for digits. */
static bool is_ascii(struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if ((unsigned char)text.ptr[i] > 127)
            return false;
    }
    return true;
}

bool cookie_open(struct str text, const unsigned char key[SEAL_KEY_BYTES],
                 struct session *ret_session)
{
    unsigned char cookie[COOKIE_BYTES];
    unsigned char plain[PLAIN_BYTES];
    size_t len;
    const char *end;
    if (text.len >= COOKIE_TEXT || !is_ascii(text) ||
        sodium_base642bin(cookie, sizeof cookie, text.ptr, text.len, NULL, &len, &end, BASE64) !=
            0 ||
        len != sizeof cookie || end != text.ptr + text.len)
        return false;
    if (crypto_aead_xchacha20poly1305_ietf_decrypt(plain, NULL, NULL, cookie + NONCE_BYTES,
                                                   sizeof cookie - NONCE_BYTES, use, sizeof use,
                                                   cookie, key) != 0)
        return false;
    *ret_session = (struct session){take(plain), take(plain + 8), (int64_t)take(plain + 16)};
    return true;
}
