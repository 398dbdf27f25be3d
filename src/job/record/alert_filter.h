/* alert_filter.h - which alerts a list shows: the parameters of `GET /alerts`, as values. */
#pragma once
#include "base/arena.h"
#include "base/err.h"
#include "job/record/alert.h"

/* All zero: all of them. */
struct alert_filter {
    uint32_t states;   /* bits by enum alert_state; 0: any */
    uint32_t kinds;    /* … by enum alert_kind */
    uint32_t levels;   /* … by enum alert_level */
    struct str key;    /* a pattern (alert_key_fits); empty: any */
    struct str queue;  /* empty: any */
    uint64_t job_id;   /* 0: any */
    int64_t after_ms;  /* at this moment or later; 0: any */
    int64_t before_ms; /* before this moment; 0: any */
    enum { ALERT_ACKED_ANY, ALERT_ACKED, ALERT_ACKED_NOT } acked;
};

/* The names of the parameters, and, NULL-ended, those that may be there several times: an alert has
 * one of the values. */
#define ALERT_FILTER_PARAMS                                                                        \
    "state", "kind", "level", "key", "queue", "job", "created_after", "created_before",            \
        "acknowledged"
extern const char *const alert_filter_repeats[];

/* One parameter. RC_NOT_FOUND: it is none; RC_INVALID: err says, behind its name, what is wrong. */
enum rc alert_filter_set(struct alert_filter *f, struct str name, struct str value,
                         struct arena *arena, struct err *err);
/* RC_INVALID when what is asked for cannot go together; about the parameter *ret_name. */
enum rc alert_filter_check(const struct alert_filter *f, struct str *ret_name, struct err *err);
/* The same for filters that mean the same: a page belongs to its filter. */
uint64_t alert_filter_hash(const struct alert_filter *f);
bool alert_fits(const struct alert_filter *f, const struct alert_rec *alert);
