/* client_url.h - where a client's server is: http://HOST[:PORT][/PREFIX]. */
#pragma once
#include "base/arena.h"

#include <stdint.h>

struct client_url {
    const char *text;     /* as given, without slashes at its end; for messages */
    const char *host;     /* a name or an address, an IPv6 one without its brackets */
    const char *port;     /* decimal */
    struct str authority; /* for the Host header: as given */
    struct str prefix;    /* "" or "/some/path", goes before every target */
};

/* Everything lives in the arena. RC_INVALID for a bad URL, RC_UNSUPPORTED for https. */
enum rc client_url_parse(struct arena *arena, struct str text, struct client_url *ret_url,
                         struct err *err);
