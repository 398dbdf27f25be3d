#include "store/postgres/trails.h"

#include "base/test/test.h"

#include <string.h>

static struct ownership owned(uint64_t epoch)
{
    return (struct ownership){.partitions = 2, .epochs = {3, epoch}};
}

static void keep(struct trails *t, enum change_kind kind, uint64_t id, struct str step)
{
    struct exec_change change = {.kind = kind, .exec.id = id, .step = step};
    trails_keep(t, &(struct delta){.execs = &change, .exec_count = 1});
}

static bool says(const struct trails *t, uint64_t id, const char *text)
{
    struct str trail = trails_get(t, id);
    return text == NULL ? trail.ptr == NULL : str_eq(trail, str_c(text));
}

TEST(steps_add_up_until_the_end)
{
    struct trails t = {0};
    keep(&t, CHANGE_INSERT, 7, STR("made "));
    keep(&t, CHANGE_UPDATE, 7, STR("leased "));
    assert_true(says(&t, 7, "made leased "));
    keep(&t, CHANGE_UPDATE, 8, STR("leased ")); /* its beginning is not known */
    assert_true(says(&t, 8, NULL));
    keep(&t, CHANGE_FINISH, 7, STR("done"));
    assert_true(says(&t, 7, NULL));
    trails_forget(&t);
}

TEST(what_another_owner_may_have_written_is_not_known)
{
    struct trails t = {0};
    struct ownership first = owned(1);
    struct ownership later = owned(3);
    trails_begin(&t, &first);
    keep(&t, CHANGE_INSERT, 7, STR("made "));
    trails_begin(&t, &first);
    assert_true(says(&t, 7, "made "));
    trails_begin(&t, &later);
    assert_true(says(&t, 7, NULL));
    trails_forget(&t);
}

TEST(what_is_long_or_too_many_is_not_remembered)
{
    char long_text[4000];
    struct trails t = {0};
    memset(long_text, 'x', sizeof long_text);
    keep(&t, CHANGE_INSERT, 7, STR("made "));
    keep(&t, CHANGE_UPDATE, 7, str_of(long_text, sizeof long_text));
    assert_true(says(&t, 7, NULL));
    for (uint64_t id = 1; id <= 40000; id++)
        keep(&t, CHANGE_INSERT, id, STR("made "));
    assert_true(says(&t, 1, "made "));
    assert_true(says(&t, 40000, NULL));
    trails_forget(&t);
}
