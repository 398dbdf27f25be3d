/* model_versions.c - definitions that jobs had: the newest ones of a job that was edited, beginning
 * with the one that it had before; none of a job that never was, or that was deleted. */
#include "coverage.h"
#include "model.h"
#include "wire/spec/spec_json.h"
#include "world.h"

#include <inttypes.h>

enum { MANY = 1 << 20 };

static void remove_oldest(struct model_job *job)
{
    job->versions.len--;
    for (size_t i = 0; i < job->versions.len; i++)
        job->versions.items[i] = job->versions.items[i + 1];
    saw(SAW_VERSION_TRIMMED);
}

void versions_keep(struct world *w, struct model_job *job, const struct job_rec *to, size_t wish,
                   const struct turn_view *view)
{
    struct model *m = &w->model;
    const struct job_rec *was = &job->rec;
    if (job->versions.len == 0)
        *VEC_PUSH(m->arena, &job->versions) = (struct model_version){
            .version = was->version,
            .at_ms = was->created_ms,
            .actor = was->owner,
            .spec = was->spec,
            .payload = was->payload,
            .wish = job->definition,
        };
    *VEC_PUSH(m->arena, &job->versions) = (struct model_version){
        .version = to->version,
        .at_ms = view->now.wall_ms,
        .actor = STR("key:admin"),
        .spec = m->wishes.items[wish].spec,
        .payload = m->wishes.items[wish].payload,
        .wish = wish,
    };
    while (job->versions.len > w->scene.engine.versions_keep)
        remove_oldest(job);
    if (m->wishes.items[wish].back)
        saw(SAW_ROLLED_BACK);
}

static bool same(const struct version_rec *got, const struct model_version *want)
{
    return got->version == want->version && got->at_ms == want->at_ms &&
           str_eq(got->actor, want->actor) && str_eq(got->spec, want->spec) &&
           str_eq(got->payload, want->payload);
}

void versions_check(struct world *w, const struct model_job *job)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct version_rec *got;
    size_t count;
    struct err err;
    size_t want = job->forgotten_turn != 0 ? 0 : job->versions.len;
    PROMISE(w,
            w->reader->ops->versions(w->reader, job->rec.id, UINT32_MAX, MANY, &arena, &got, &count,
                                     &err) == RC_OK,
            "the versions of %s cannot be read: %s", job_label(w, job->rec.id), err.text);
    PROMISE(w, count == want, "%s has %zu versions, and %zu should be there",
            job_label(w, job->rec.id), count, want);
    for (size_t i = 0; i < count; i++) /* newest first */
        PROMISE(w, same(&got[i], &job->versions.items[count - 1 - i]),
                "version %" PRIu32 " of %s is not as it was kept", got[i].version,
                job_label(w, job->rec.id));
}

/* Another rhythm, or another moment. */
static bool same_time(const struct wish *a, const struct wish *b)
{
    return a->when == b->when && a->when_ms == b->when_ms && str_eq(a->cron, b->cron) &&
           a->seconds == b->seconds;
}

/* The document as its reader understands it, all of it and nothing else. */
static struct str read_document(struct world *w, const struct model_job *job,
                                const struct model_version *to, struct str *ret_payload)
{
    struct arena *arena = w->model.arena;
    struct version_rec *got;
    size_t count;
    struct spec spec;
    struct err err;
    enum rc rc =
        w->reader->ops->versions(w->reader, job->rec.id, to->version, 1, arena, &got, &count, &err);
    PROMISE(w, rc == RC_OK && count == 1 && got->version == to->version,
            "version %" PRIu32 " of %s is not there", to->version, job_label(w, job->rec.id));
    PROMISE(w, spec_read(got->spec, arena, &spec, &err) == RC_OK,
            "version %" PRIu32 " of %s is no document: %s", to->version, job_label(w, job->rec.id),
            err.text);
    *ret_payload = got->payload;
    return spec_text(&spec, arena);
}

struct wish versions_wish_back(struct world *w, const struct model_job *job,
                               const struct model_version *to)
{
    const struct wish *now = model_wish(&w->model, job);
    struct wish wish = w->model.wishes.items[to->wish];
    wish.replan = !same_time(now, &wish);
    wish.back = true;
    wish.edits = job->rec.id;
    wish.version = job->rec.version;
    wish.wait_count = 0;
    wish.spec = read_document(w, job, to, &wish.payload);
    PROMISE(w, str_eq(wish.spec, to->spec), "version %" PRIu32 " of %s reads as another document",
            to->version, job_label(w, job->rec.id));
    return wish;
}
