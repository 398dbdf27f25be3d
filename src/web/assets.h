/* assets.h - the dashboard's files, as the build packed them (src/web/tools/build.mjs).
 *
 * Each file is kept twice, as brotli and as gzip; a client that takes neither gets it unpacked.
 * `make WEB=no` leaves the table empty. */
#pragma once
#include "base/str.h"

struct web_asset {
    struct str path; /* "/assets/main-4F2A.js"; the page that starts everything is "/" */
    const char *type;
    struct str tag; /* a hash of its content, quotes included */
    struct str brotli;
    struct str gzip;
};

extern const struct web_asset web_assets[];
extern const size_t web_asset_count;

/* First parts of the addresses that the dashboard has pages for, from shell/routes.ts: "jobs" of
 * /jobs/:id, "" of the overview. */
extern const struct str web_page_parts[];
extern const size_t web_page_part_count;
