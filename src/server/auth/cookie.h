/* cookie.h - a browser's session, sealed into the text of its cookie.
 *
 * The cookie carries all there is to know, so that every server of a cluster can read it and none
 * has to remember it: whose key signed in, which session number that key had then, and when it
 * ends. It is sealed under a key that only servers have (XChaCha20-Poly1305): nobody else can make
 * one, read one or change one. A session ends early when its key is gone or has another number.
 *
 * Plain values: no I/O, no clock. */
#pragma once
#include "base/str.h"

enum {
    SEAL_KEY_BYTES = 32,
    COOKIE_TEXT = 90, /* with NUL */
};

struct session {
    uint64_t key_id;
    uint64_t number; /* of the key, when the session began */
    int64_t ends_ms; /* wall clock */
};

void cookie_seal(const struct session *session, const unsigned char key[SEAL_KEY_BYTES],
                 char ret_text[COOKIE_TEXT]);
/* False: it was not sealed under this key, or is not as it was. */
bool cookie_open(struct str text, const unsigned char key[SEAL_KEY_BYTES],
                 struct session *ret_session);
