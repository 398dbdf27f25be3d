/* post.h - one POST to somebody else's server, by libcurl: http and https, certificates checked.
 *
 * Blocks, so it is for threads that have nothing else to do. The answer's body is of no interest
 * and is not kept; redirects are not followed, since what is sent is signed for one address. */
#pragma once
#include "base/err.h"
#include "base/str.h"

#include <stdatomic.h>
#include <stdint.h>

struct post {
    const char *url;
    const char *const *headers; /* "name: value", NULL-ended */
    struct str body;
    int64_t timeout_ms;
    const atomic_bool *stop; /* once true, it is given up within a second or so; NULL: never */
};

/* Before any thread is started. */
enum rc post_init(struct err *err);
/* RC_OK when there was an answer, whatever its status; RC_IO when there was none. */
enum rc post_send(const struct post *post, long *ret_status, struct err *err);
/* True for what post_send could be given: an absolute http or https address. */
bool post_url_check(const char *url);
