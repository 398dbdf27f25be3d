/* Nothing that was not sealed under our key is a session, and no bit of one that was may change. */
#include "fuzz.h"
#include "server/auth/cookie.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const unsigned char key[SEAL_KEY_BYTES] = {1};
    static const struct session ours = {.key_id = 7, .number = 1, .ends_ms = 1};
    struct str text = fuzz_text(data, size);
    struct session session;
    char good[COOKIE_TEXT];
    assert(!cookie_open(text, key, &session));
    cookie_seal(&ours, key, good);
    for (size_t i = 0; i < text.len && good[i] != '\0'; i++) {
        bool same = good[i] == text.ptr[i];
        char digit = good[i];
        good[i] = text.ptr[i];
        assert(cookie_open(str_c(good), key, &session) == same);
        good[i] = digit;
    }
    return 0;
}
