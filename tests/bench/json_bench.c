/* json_bench.c - our JSON against cJSON, on one job document of some 600 bytes.
 *
 * Both build a tree and write it again without white space, as fast as they know how: ours in an
 * arena and a buffer that are used again, cJSON with malloc and into memory that is given
 * (cJSON_PrintPreallocated; its own growing buffer is slower). Ours does more on the way: UTF-8,
 * duplicate keys and exact integers are checked. Rounds alternate, and the median of each counts,
 * in processor time: company on the machine hits both alike. */
#include "wire/json/json.h"

#include <assert.h>
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 21, CALLS = 20000, OUT_BYTES_MAX = 4096 };

static const char document[] =
    "{\"name\":\"nightly-report\",\"description\":\"Sums up the day's orders and mails them\","
    "\"command\":[\"/usr/bin/python3\",\"report.py\",\"--day\",\"yesterday\"],"
    "\"payload\":{\"customer\":4711,\"rate\":0.19,\"paid\":true,\"note\":null,"
    "\"lines\":[{\"sku\":\"A-100\",\"count\":3},{\"sku\":\"B-200\",\"count\":12}]},"
    "\"env\":{\"LANG\":\"C.UTF-8\",\"TZ\":\"Europe/Berlin\"},\"working_dir\":\"/srv/reports\","
    "\"schedule\":{\"at\":\"2026-11-16T03:00:00.000Z\"},\"priority\":500,\"queue\":\"reports\","
    "\"timeout\":\"1h\",\"retry\":{\"max_retries\":3,\"policy\":\"exponential\",\"delay\":\"1s\","
    "\"max_delay\":\"1h\",\"jitter\":0.3},\"tags\":{\"env\":\"prod\",\"team\":\"billing\"}}";

static struct arena arena;
static struct json tree;
static struct buf out = {.max = OUT_BYTES_MAX};
static cJSON *their_tree;
static char their_out[OUT_BYTES_MAX];

/* ---- ours */

static void write_value(struct json_writer *w, const struct json *value)
{
    switch (value->kind) {
    case JSON_NULL: json_null(w); return;
    case JSON_BOOL: json_bool(w, value->boolean); return;
    case JSON_INT: json_int(w, value->integer); return;
    case JSON_DOUBLE: json_double(w, value->number); return;
    case JSON_STRING: json_str(w, value->string); return;
    case JSON_ARRAY:
        json_open_array(w);
        for (uint32_t i = 0; i < value->count; i++)
            write_value(w, &value->items[i]);
        json_close_array(w);
        return;
    case JSON_OBJECT:
        json_open(w);
        for (uint32_t i = 0; i < value->count; i++) {
            json_key_str(w, value->members[i].key);
            write_value(w, &value->members[i].value);
        }
        json_close(w);
        return;
    }
}

static void our_parse(void)
{
    struct err err;
    arena_reset(&arena);
    enum rc rc = json_parse(str_of(document, sizeof document - 1), &arena, &tree, &err);
    assert(rc == RC_OK);
    (void)rc;
}

static void our_print(void)
{
    struct json_writer w = JSON_WRITER(&out);
    buf_clear(&out);
    write_value(&w, &tree);
}

/* ---- theirs */

static void their_parse(void)
{
    cJSON_Delete(their_tree);
    their_tree = cJSON_ParseWithLength(document, sizeof document - 1);
    assert(their_tree != NULL);
}

static void their_print(void)
{
    cJSON_bool ok = cJSON_PrintPreallocated(their_tree, their_out, sizeof their_out, false);
    assert(ok);
    (void)ok;
}

/* ---- the race */

static double cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double time_calls(void (*call)(void))
{
    double begun_ns = cpu_ns();
    for (int i = 0; i < CALLS; i++)
        call();
    return (cpu_ns() - begun_ns) / CALLS;
}

static int by_value(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;
    return left < right ? -1 : left > right;
}

static void race(const char *what, void (*ours)(void), void (*theirs)(void))
{
    double our_ns[ROUNDS];
    double their_ns[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        our_ns[i] = time_calls(ours);
        their_ns[i] = time_calls(theirs);
    }
    qsort(our_ns, ROUNDS, sizeof *our_ns, by_value);
    qsort(their_ns, ROUNDS, sizeof *their_ns, by_value);
    printf("%s_ns %.0f\n%s_cjson_ns %.0f\n%s_ratio %.2f\n", what, our_ns[ROUNDS / 2], what,
           their_ns[ROUNDS / 2], what, their_ns[ROUNDS / 2] / our_ns[ROUNDS / 2]);
}

int main(void)
{
    printf("document_bytes %zu\n", sizeof document - 1);
    race("parse", our_parse, their_parse);
    race("print", our_print, their_print);
    if (!str_eq(buf_str(&out), str_c(their_out))) {
        fprintf(stderr, "they disagree:\n%.*s\n%s\n", STR_ARG(buf_str(&out)), their_out);
        return EXIT_FAILURE;
    }
    cJSON_Delete(their_tree);
    buf_free(&out);
    arena_free(&arena);
    return EXIT_SUCCESS;
}
