/* checks.h - what may be wrong with a server, and what to do about it.
 *
 * A check has a name, looks at one thing, and says how that stands; one that is not well gives the
 * advice, too. Checks only look. They run on a query thread, since a file system or a database may
 * take its time. */
#pragma once
#include "base/vec.h"
#include "server/call/context.h"
#include "wire/json/json.h"

enum check_status { CHECK_OK, CHECK_WARNING, CHECK_FAILED };

struct str check_status_name(enum check_status status);
/* CHECK_OK for a word that is none. */
enum check_status check_status_parse(struct str word);

struct check {
    const char *name;
    enum check_status status;
    struct str detail;
    const char *advice; /* when it is not well */
};

/* Those of one server, in the order in which they were made. */
struct checks {
    struct arena *arena;
    VEC(struct check) list;
};

/* A check that goes well until something is found; the worst finding counts. */
struct check *checks_add(struct checks *c, const char *name, struct str detail);
void check_find(struct check *check, enum check_status status, const char *advice);
void check_print(struct json_writer *w, const struct check *check, struct str server);
/* "1.5 GiB", in the arena. */
struct str checks_size(struct arena *arena, uint64_t bytes);

/* clock, tzdata, open_files, processes, disk, store_disk: of the machine. host_checks.c */
void checks_host(struct checks *c, struct server *s);
/* database, store, commits, membership. store_checks.c */
void checks_store(struct checks *c, struct server *s, struct reader *reader);
