/* post.h - a POST to a server elsewhere, by libcurl: http and https, certificates checked.
 *
 * Blocks, so it is for threads that have nothing else to do. Redirects are not followed, since what
 * is sent is signed, or meant, for one address. */
#pragma once
#include "base/buf.h"
#include "base/err.h"

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
/* RC_OK when there was an answer, whatever its status, of which nothing else is kept; RC_IO when
 * there was none. */
enum rc post_send(const struct post *post, long *ret_status, struct err *err);
/* True for what post_send could be given: an absolute http or https address. */
bool post_url_check(const char *url);

/* One after the other to the same server, over a connection that is kept. */
struct post_line;

struct post_answer {
    long status;
    int64_t retry_after_ms; /* as the header of that name says; 0: it does not */
    struct buf body;        /* the caller's, with a maximum; what is longer is cut off */
};

struct post_line *post_line_new(void);
void post_line_free(struct post_line *line); /* NULL is fine */
/* As post_send. */
enum rc post_line_send(struct post_line *line, const struct post *post, struct post_answer *answer,
                       struct err *err);
