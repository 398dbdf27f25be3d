#include "server/view/job_warnings.h"

static enum rc read_runs(struct reader *reader, uint64_t job_id, struct arena *arena,
                         struct sketch *ret_took_ms, struct err *err)
{
    struct exec_page page;
    struct filter filter = {.job_id = job_id, .states = FILTER_STATE(EXEC_COMPLETED)};
    *ret_took_ms = (struct sketch){0};
    TRY(reader->ops->execs(reader, &filter, &(struct page){.limit = WARNING_RUNS_MAX}, arena, &page,
                           err));
    for (size_t i = 0; i < page.count; i++) {
        int64_t took_ms = page.execs[i].finished_ms - page.execs[i].started_ms;
        sketch_add(ret_took_ms, took_ms > 0 ? (uint64_t)took_ms : 0);
    }
    return RC_OK;
}

enum rc job_warnings_read(struct reader *reader, uint64_t job_id, const struct spec *spec,
                          struct arena *arena, struct warning **ret_warnings, size_t *ret_count,
                          struct err *err)
{
    struct sketch took_ms;
    *ret_warnings = NULL;
    *ret_count = 0;
    if (!spec_has_slots(spec))
        return RC_OK;
    TRY(read_runs(reader, job_id, arena, &took_ms, err));
    struct schedule schedule =
        spec_schedule(spec, zone_utc()); /* no night on which clocks change */
    struct warning *warning = ARENA_NEW(arena, struct warning);
    if (warning_of_pace(&took_ms, schedule_interval_ms(&schedule), warning)) {
        *ret_warnings = warning;
        *ret_count = 1;
    }
    return RC_OK;
}
