#include "cli/submit/submit.h"
#include "job/dependency.h"

#include <string.h>

enum { DOCUMENT_BYTES_MAX = 1 << 27 }; /* above the largest limit a server may have */

/* The value that a field's flag was given; the field's kind says which member holds it. */
#define GIVEN(name) args->fields[JOB_FIELD_##name]

/* The server checks the rest of a schedule. */
static enum rc check_when(const struct submit_args *args, struct err *err)
{
    const struct {
        const char *name;
        const char *value;
    } given[] = {
        {"--at", args->at}, {"--in", args->in}, {"--cron", args->cron}, {"--every", args->every}};
    const char *first = NULL;
    for (size_t i = 0; i < COUNT_OF(given); i++) {
        if (given[i].value == NULL)
            continue;
        if (first != NULL)
            return err_set(err, RC_INVALID, "either %s or %s, not both", first, given[i].name);
        first = given[i].name;
    }
    if (args->cron == NULL && (args->tz != NULL || args->seconds))
        return err_set(err, RC_INVALID, "%s belongs to --cron",
                       args->tz != NULL ? "--tz" : "--seconds");
    return RC_OK;
}

static enum rc check_work(const struct cli *cli, const struct submit_args *args, struct err *err)
{
    const struct opt_words *words = &cli->words;
    if (words->dashes_at > 0)
        return err_set(err, RC_INVALID, "unexpected argument '%s': the command goes behind --",
                       words->items[0]);
    if (GIVEN(handler).text != NULL && words->count > 0)
        return err_set(err, RC_INVALID, "either a command or --handler, not both");
    if (args->expect_every != NULL) {
        if (GIVEN(handler).text != NULL || words->count > 0)
            return err_set(err, RC_INVALID, "a job that expects pings runs nothing here");
    } else if (args->expect_grace != NULL) {
        return err_set(err, RC_INVALID, "--expect-grace belongs to --expect-every");
    } else if (GIVEN(handler).text == NULL && words->count == 0)
        return err_set(err, RC_INVALID, "nothing to run: the command goes behind --");
    if (args->unique_keep != NULL && GIVEN(unique).text == NULL)
        return err_set(err, RC_INVALID, "--unique-keep belongs to --unique");
    return check_when(args, err);
}

static void put_text(struct json_writer *w, const char *key, const char *value)
{
    if (value != NULL)
        json_put_str(w, key, str_c(value));
}

static void put_plain(struct json_writer *w, const struct job_field *field,
                      const union submit_value *given)
{
    switch (field->kind) {
    case JOB_KIND_INT:
        if (given->number >= 0)
            json_put_int(w, field->key.ptr, given->number);
        break;
    case JOB_KIND_BOOL:
        if (given->on)
            json_put_bool(w, field->key.ptr, true);
        break;
    case JOB_KIND_RAW: /* below, with what else is written by hand */
    case JOB_KIND_OWN:
    case JOB_KIND_OWN_MANY: break;
    default: put_text(w, field->key.ptr, given->text); break;
    }
}

static void put_work(struct json_writer *w, const struct cli *cli, const struct submit_args *args)
{
    put_text(w, "handler", GIVEN(handler).text);
    if (GIVEN(handler).text != NULL || args->expect_every != NULL)
        return;
    json_key(w, "command");
    json_open_array(w);
    for (size_t i = 0; i < cli->words.count; i++)
        json_str(w, str_c(cli->words.items[i]));
    json_close_array(w);
}

static void put_schedule(struct json_writer *w, const struct submit_args *args)
{
    if (args->at == NULL && args->in == NULL && args->cron == NULL && args->every == NULL)
        return;
    json_key(w, "schedule");
    json_open(w);
    put_text(w, "at", args->at);
    put_text(w, "delay", args->in);
    put_text(w, "every", args->every);
    put_text(w, "cron", args->cron);
    put_text(w, "timezone", args->tz);
    if (args->seconds)
        json_put_bool(w, "seconds", true);
    json_close(w);
}

static void put_expect(struct json_writer *w, const struct submit_args *args)
{
    if (args->expect_every == NULL)
        return;
    json_key(w, "expect");
    json_open(w);
    put_text(w, "every", args->expect_every);
    put_text(w, "grace", args->expect_grace);
    json_close(w);
}

/* What is not run is not tried again: a retry that is asked for is the server's to refuse. */
static void put_retry(struct json_writer *w, const struct submit_args *args)
{
    if (args->expect_every != NULL && args->retries < 0)
        return;
    json_key(w, "retry");
    json_open(w);
    json_put_int(w, "max_retries", args->retries > 0 ? args->retries : 0);
    json_close(w);
}

static void put_misfire(struct json_writer *w, const char *policy)
{
    if (policy == NULL)
        return;
    json_key(w, "misfire");
    json_open(w);
    json_put_str(w, "policy", str_c(policy));
    json_close(w);
}

/* Which of them belong together is the server's to know. */
static void put_sla(struct json_writer *w, const struct submit_args *args)
{
    if (args->sla_expected == NULL && args->sla_max == NULL && args->sla_policy == NULL)
        return;
    json_key(w, "sla");
    json_open(w);
    put_text(w, "expected", args->sla_expected);
    put_text(w, "max", args->sla_max);
    put_text(w, "policy", args->sla_policy);
    json_close(w);
}

/* K=V options as an object; the same K twice would make a document that no server reads. */
static enum rc put_pairs(struct json_writer *w, const char *key, const char *option,
                         const struct opt_list *pairs, struct err *err)
{
    if (pairs->count == 0)
        return RC_OK;
    json_key(w, key);
    json_open(w);
    for (size_t i = 0; i < pairs->count; i++) {
        struct str value = str_c(pairs->items[i]);
        struct str name = str_cut(&value, '=');
        if (value.ptr == NULL || name.len == 0)
            return err_set(err, RC_INVALID, "--%s takes K=V, not '%s'", option, pairs->items[i]);
        for (size_t j = 0; j < i; j++) {
            struct str earlier = str_c(pairs->items[j]);
            if (str_eq(str_cut(&earlier, '='), name))
                return err_set(err, RC_INVALID, "--%s %.*s is there twice", option, STR_ARG(name));
        }
        json_key_str(w, name);
        json_str(w, value);
    }
    json_close(w);
    return RC_OK;
}

/* "KEY=N", and for a rate "KEY=N/DURATION". A key may have '=' in it, a number has none. */
static enum rc put_limit(struct json_writer *w, const char *key, const char *text, bool has_window,
                         struct err *err)
{
    if (text == NULL)
        return RC_OK;
    const char *equals = strrchr(text, '=');
    struct str window = equals == NULL ? STR("") : str_c(equals + 1);
    struct str count = str_cut(&window, '/');
    uint64_t limit;
    if (equals == NULL || equals == text || !str_to_u64(count, &limit) || limit > INT64_MAX ||
        (window.len > 0) != has_window)
        return err_set(err, RC_INVALID, "--%s takes KEY=%s, not '%s'", key,
                       has_window ? "N/DURATION" : "N", text);
    json_key(w, key);
    json_open(w);
    json_put_str(w, "key", str_of(text, (size_t)(equals - text)));
    json_put_int(w, "limit", (int64_t)limit);
    if (has_window)
        json_put_str(w, "per", window);
    json_close(w);
    return RC_OK;
}

static void put_unique(struct json_writer *w, const struct submit_args *args)
{
    const char *key = GIVEN(unique).text;
    if (key == NULL)
        return;
    json_key(w, "unique");
    json_open(w);
    json_put_str(w, "key", str_c(key));
    put_text(w, "keep", args->unique_keep);
    json_close(w);
}

static void put_breaker(struct json_writer *w, const char *name)
{
    if (name != NULL && str_eq(str_c(name), STR("none")))
        json_put_bool(w, "breaker", false);
    else
        put_text(w, "breaker", name);
}

static enum rc put_payload(struct json_writer *w, struct cli *cli, const char *payload,
                           struct err *err)
{
    struct str json;
    if (payload == NULL)
        return RC_OK;
    TRY(cli_payload(cli, payload, &json, err));
    json_put_raw(w, "payload", json);
    return RC_OK;
}

/* "failure:nightly", or "nightly" alone, which means its success; the name may have a colon. */
static void put_after(struct json_writer *w, const struct opt_list *after)
{
    if (after->count == 0)
        return;
    json_key(w, "depends_on");
    json_open_array(w);
    for (size_t i = 0; i < after->count; i++) {
        struct str job = str_c(after->items[i]);
        struct str name = job;
        struct str type = str_cut(&name, ':');
        unsigned ignored;
        if (name.ptr != NULL && words_parse(&dependency_type_words, type, &ignored))
            job = name;
        else
            type = STR("success");
        json_open(w);
        json_put_str(w, "job", job);
        json_put_str(w, "type", type);
        json_close(w);
    }
    json_close_array(w);
}

enum rc submit_document(struct cli *cli, const struct submit_args *args, struct str *ret_document,
                        struct err *err)
{
    CLEANUP(buf_free) struct buf document = BUF(DOCUMENT_BYTES_MAX);
    struct json_writer w = JSON_WRITER(&document);
    TRY(check_work(cli, args, err));
    json_open(&w);
    for (size_t i = 0; i < JOB_FIELD_COUNT; i++)
        put_plain(&w, &job_fields[i], &args->fields[i]);
    put_work(&w, cli, args);
    TRY(put_payload(&w, cli, GIVEN(payload).text, err));
    TRY(put_pairs(&w, "env", "env", &GIVEN(env).list, err));
    put_schedule(&w, args);
    put_misfire(&w, args->misfire);
    put_after(&w, &GIVEN(depends_on).list);
    put_sla(&w, args);
    TRY(put_limit(&w, "concurrency", GIVEN(concurrency).text, false, err));
    TRY(put_limit(&w, "rate", GIVEN(rate).text, true, err));
    put_unique(&w, args);
    put_breaker(&w, GIVEN(breaker).text);
    put_text(&w, "idempotency_key", GIVEN(idempotency_key).text);
    put_expect(&w, args);
    put_retry(&w, args);
    TRY(put_pairs(&w, "tags", "tag", &GIVEN(tags).list, err));
    json_close(&w);
    if (document.overflow)
        return err_set(err, RC_TOO_LARGE, "the job is too large");
    *ret_document = arena_str(&cli->arena, buf_str(&document));
    return RC_OK;
}
