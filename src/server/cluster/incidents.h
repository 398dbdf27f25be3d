/* incidents.h - what this server has lived through lately: partitions that it took, and times
 * without the store.
 *
 * The newest hundred of each, in memory: a restart begins with none. Only the server that takes
 * partitions notes it, so the notes of all servers together tell each takeover once. From any
 * thread; a lock is held for copies. */
#pragma once
#include "base/arena.h"
#include "base/err.h"

#include <stdint.h>

enum { INCIDENTS_KEPT = 100, INCIDENT_NAME_BYTES = 320 };

enum takeover_why {
    TAKEOVER_FREE,     /* no server had them before */
    TAKEOVER_GIVEN,    /* their owner gave them back, to share the load or to leave */
    TAKEOVER_SILENT,   /* their owner had not renewed its row for node_lease_ms */
    TAKEOVER_REPLACED, /* their owner is dead for sure: this server was started in its place */
    TAKEOVER_GONE,     /* their owner has no row any more */
    TAKEOVER_WHYS
};

struct str takeover_why_name(enum takeover_why why);

/* Partitions that were taken at once from one server. */
struct takeover {
    int64_t at_ms;                  /* wall clock, as all times here */
    char from[INCIDENT_NAME_BYTES]; /* a server's name; empty: none */
    enum takeover_why why;
    uint64_t partitions; /* bits */
};

/* A time during which the store took no commits of this server. */
struct store_outage {
    int64_t from_ms;
    int64_t until_ms; /* 0: it goes on */
    struct err why;   /* as it began */
};

struct incidents;

struct incidents *incidents_new(void);
void incidents_free(struct incidents *in); /* NULL is fine */

void incidents_note_takeover(struct incidents *in, const struct takeover *takeover);
/* Harmless while one goes on. */
void incidents_begin_outage(struct incidents *in, int64_t now_ms, const struct err *why);
/* Harmless without one. */
void incidents_end_outage(struct incidents *in, int64_t now_ms);

/* Since the start of this server. */
struct outage_count {
    uint64_t begun;
    bool goes_on; /* the newest of them does */
};
struct outage_count incidents_count(struct incidents *in, uint64_t ret_takeovers[TAKEOVER_WHYS]);
/* Copies, newest first; says how many. */
size_t incidents_takeovers(struct incidents *in, struct arena *arena, struct takeover **ret_list);
size_t incidents_outages(struct incidents *in, struct arena *arena, struct store_outage **ret_list);
