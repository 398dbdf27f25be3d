#include "store/postgres/dsn.h"
#include "base/buf.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#include <libpq-fe.h>

/* A server that is gone without a word is given up after ten seconds: twice the lease of a node. */
static const struct preset {
    const char *name;
    const char *value;
} presets[] = {
    {"application_name", "belfry"},
    {"connect_timeout", "5"},
    {"tcp_user_timeout", "10000"},
    {"keepalives", "1"},
    {"keepalives_idle", "5"},
    {"keepalives_interval", "2"},
    {"keepalives_count", "3"},
    {"client_encoding", "UTF8"},
    {"target_session_attrs", "read-write"},
};

static char *text_dup(const char *text)
{
    return mem_dup(text, strlen(text));
}

static void add(struct pg_place *place, size_t *len, const char *name, const char *value)
{
    place->names[*len] = text_dup(name);
    place->values[*len] = text_dup(value);
    ++*len;
}

static const char *value_of(const PQconninfoOption *options, const char *name)
{
    for (const PQconninfoOption *o = options; o->keyword != NULL; o++) {
        if (strcmp(o->keyword, name) == 0)
            return o->val;
    }
    return NULL;
}

/* The n-th of "a,b,c"; the last one stands for all behind it. */
static struct str nth_part(const char *list, size_t n)
{
    struct str rest = str_c(list);
    struct str part = str_cut(&rest, ',');
    while (n-- > 0 && rest.ptr != NULL)
        part = str_cut(&rest, ',');
    return part;
}

static char *make_label(const PQconninfoOption *options)
{
    CLEANUP(buf_free) struct buf b = BUF(1 << 12);
    const char *host = value_of(options, "host");
    const char *port = value_of(options, "port");
    const char *dbname = value_of(options, "dbname");
    struct str rest = str_c(host == NULL ? "localhost" : host);
    for (size_t n = 0; rest.ptr != NULL; n++) {
        struct str one = str_cut(&rest, ',');
        struct str at = nth_part(port == NULL ? "" : port, n);
        if (at.len == 0)
            at = STR("5432");
        buf_printf(&b, "%s%.*s:%.*s", n == 0 ? "" : ",", STR_ARG(one), STR_ARG(at));
    }
    buf_printf(&b, "/%s", dbname == NULL ? "" : dbname);
    return mem_dup(b.ptr, b.len);
}

static bool is_port(struct str text)
{
    uint64_t port;
    return text.len == 0 || str_to_u64(text, &port);
}

/* A password with @ or / in it cuts the URL elsewhere than was meant, and a part of it becomes a
 * host, a port or a database, which are no secrets. */
static bool is_cut_well(const char *url, const PQconninfoOption *options)
{
    const char *scheme_end = strstr(url, "://");
    const char *ports = value_of(options, "port");
    struct str place = str_c(scheme_end == NULL ? url : scheme_end + strlen("://"));
    struct str port = str_c(ports == NULL ? "" : ports);
    size_t user_end = str_index(place, '@');
    if (user_end < str_index(place, '/'))
        place = str_from(place, user_end + 1);
    if (str_index(place, '@') < str_index(place, '?'))
        return false;
    while (port.len > 0) {
        if (!is_port(str_cut(&port, ',')))
            return false;
    }
    return true;
}

enum rc pg_place_parse(const char *url, struct pg_place *ret_place, struct err *err)
{
    /* The message of libpq may repeat a part of the URL, and that may be the password. */
    PQconninfoOption *options = PQconninfoParse(url, NULL);
    if (options == NULL || !is_cut_well(url, options)) {
        PQconninfoFree(options); /* NULL is fine */
        return err_set(err, RC_INVALID,
                       "the store's URL is none that PostgreSQL knows; it looks like "
                       "postgres://USER:PASSWORD@HOST:PORT/DATABASE, with %%40 for an @ in "
                       "the password and %%2F for a /");
    }
    size_t count = COUNT_OF(presets) + 1;
    for (const PQconninfoOption *o = options; o->keyword != NULL; o++)
        count++;
    struct pg_place place = {.names = mem_new(count * sizeof(char *)),
                             .values = mem_new(count * sizeof(char *))};
    size_t len = 0;
    for (const PQconninfoOption *o = options; o->keyword != NULL; o++) {
        if (o->val != NULL && *o->val != '\0')
            add(&place, &len, o->keyword, o->val);
    }
    for (size_t i = 0; i < COUNT_OF(presets); i++) {
        const char *given = value_of(options, presets[i].name);
        if (given == NULL || *given == '\0')
            add(&place, &len, presets[i].name, presets[i].value);
    }
    place.label = make_label(options);
    PQconninfoFree(options);
    *ret_place = place;
    return RC_OK;
}

void pg_place_free(struct pg_place *place)
{
    for (size_t i = 0; place->names != NULL && place->names[i] != NULL; i++) {
        free(place->names[i]);
        free(place->values[i]);
    }
    free(place->names);
    free(place->values);
    free(place->label);
    *place = (struct pg_place){0};
}
