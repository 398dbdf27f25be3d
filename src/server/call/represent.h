/* represent.h - how a document that was printed is sent: with a tag, packed, or not at all.
 *
 * An answer to GET about one thing has an ETag, a hash of it behind the job's version where it
 * has one; a client that has just that is answered 304. Answers from REPRESENT_BYTES_MIN on are
 * packed for clients that take gzip. What workers ask for is sent as it is. Another server that
 * asks for a client says what that takes, and hands on what it gets; what it asks for to add it
 * up is sent as it is. Short answers cost a comparison. */
#pragma once
#include "server/call/request.h"

enum {
    REPRESENT_BYTES_MIN = 1024,     /* below, head and packet weigh more than what is saved */
    REPRESENT_HERE_MAX = 256 << 10, /* on a thread that has connections to serve: 3 ms */
};

/* Looks at r->body, once: sets r->form.tag, and packs the body or drops it (r->form.is_known).
 * bytes_max is the most to be packed. */
void represent_body(struct request *r, size_t bytes_max);
