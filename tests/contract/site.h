/* site.h - a server as tests of several servers on one PostgreSQL see it. */
#pragma once
#include "cluster.h"
#include "world.h"

#include <sys/types.h>

enum { LEASE_MS = 60000 }; /* longer than any test */

/* The database of this program's tests. */
extern struct cluster *site_cluster;

/* A server: its store, its place among the others, and what it owns. */
struct site {
    struct store *store;
    struct member *member;
    struct node_rec me;
    struct ownership own;
    struct cluster_view seen; /* with its newest renewal */
    int64_t lapsed_ms;        /* the last beat of another one of its name */
    struct arena arena;
    struct err err;
};

struct site site_open(const char *name, const char *start);
void site_close(struct site *s);
enum rc site_renew(struct site *s, struct cluster_view *ret_view);
/* Also from those whose newest beat is the one that was seen by its renewal. */
void site_take(struct site *s, uint64_t wanted);
/* A worker's record, as the smallest delta. */
enum rc site_commit(struct site *s, uint64_t turn, uint64_t id);

/* One number that the database knows. */
int64_t site_ask(const char *sql);
/* The setup of a test: nothing is owned. */
int site_empty(void **state);

/* Commits a turn, and stops the backend that did it. The member is closed, so that there is one only. */
pid_t site_stop_backend(struct site *s);
/* It reads all that was sent, and then the end. Opens a member where there is none. */
void site_let_go_on(struct site *s, pid_t backend);
