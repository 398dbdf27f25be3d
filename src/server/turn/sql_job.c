#include "server/turn/sql_job.h"
#include "server/turn/idempotency_hash.h"
#include "server/turn/rules.h"
#include "wire/spec/spec_json.h"

static enum rc refuse(const struct field_errors *errors, struct arena *arena, struct err *err)
{
    return err_set(err, RC_INVALID, "%.*s", STR_ARG(field_errors_text(errors, arena)));
}

static enum rc read_spec(const struct inbox_rec *rec, struct arena *arena, struct spec *ret_spec,
                         struct err *err)
{
    struct json doc;
    struct field_errors errors = {0};
    TRY(json_parse_by(&json_from_user, rec->body, arena, &doc, err));
    if (spec_parse(&doc, arena, ret_spec, &errors) != RC_OK)
        return refuse(&errors, arena, err);
    if (ret_spec->team.len > 0 && !str_eq(ret_spec->team, rec->name)) {
        field_error(&errors, arena, STR("team"), "is '%.*s' for this SQL role", STR_ARG(rec->name));
        return refuse(&errors, arena, err);
    }
    ret_spec->team = rec->name;
    return RC_OK;
}

static enum rc check_bytes(const char *what, size_t bytes, size_t max, struct err *err)
{
    if (max == 0 || bytes <= max)
        return RC_OK;
    return err_set(err, RC_TOO_LARGE, "the %s has %zu bytes; at most %zu are taken", what, bytes,
                   max);
}

enum rc sql_job_read(const struct sql_job_rule *rule, const struct inbox_rec *rec,
                     struct arena *arena, struct submission *ret_item, struct err *err)
{
    struct spec spec;
    struct rules rules;
    TRY(check_bytes("document", rec->body.len, rule->document_bytes_max, err));
    TRY(read_spec(rec, arena, &spec, err));
    TRY(check_bytes("payload", spec.payload.len, rule->payload_bytes_max, err));
    if (spec.timeout_ms == 0)
        spec.timeout_ms = rule->timeout_ms;
    TRY(rules_make(rule->zones, &spec, arena, &rules, err));
    *ret_item = rules_submission(&spec, &rules, rec->actor, arena);
    ret_item->once = idempotency_in_scope(rec->actor, spec.idempotency_key, ret_item, arena);
    return RC_OK;
}
