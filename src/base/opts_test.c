#include "base/opts.h"

#include "base/test/test.h"

#include <string.h>

struct args {
    bool force;
    int64_t depth;
    const char *into;
    struct opt_list tags;
    unsigned format;
    bool help;
};

static const struct opt table[] = {
    {"force", 'f', OPT_FLAG, NULL, offsetof(struct args, force), "replace what exists"},
    {"depth", 0, OPT_NUMBER, "N", offsetof(struct args, depth), "levels to go down"},
    {"into", 0, OPT_TEXT, "DIR", offsetof(struct args, into), "where to"},
    {"tag", 0, OPT_LIST, "K=V", offsetof(struct args, tags), "a mark, many times"},
    {"output", 'o', OPT_CHOICE, "table|json", offsetof(struct args, format), "how to print"},
    {"cron", 0, OPT_LATER, "EXPR", 0, NULL},
    OPT_HELP(struct args, help),
};

static const struct opts opts = {"copy", "[options] FILE...", "Copies files.", table,
                                 COUNT_OF(table)};

/* What one command line gives. */
struct outcome {
    enum rc rc;
    struct args args;
    struct opt_words words;
    struct err err;
};

static struct arena arena;

/* A NULL ends the words; argv[0] is added here. */
static struct outcome parse(const char *const *given)
{
    static char *argv[16];
    int argc = 1;
    argv[0] = arena_zstr(&arena, STR("copy"));
    for (; given[argc - 1] != NULL; argc++)
        argv[argc] = arena_zstr(&arena, str_c(given[argc - 1]));
    struct outcome out = {.args = {.depth = 3}};
    out.rc = opts_parse(&opts, argc, argv, &out.args, &out.words, &arena, &out.err);
    return out;
}

#define PARSE(...) parse((const char *const[]){__VA_ARGS__, NULL})

TEST(values_stand_behind_a_blank_or_an_equals_sign)
{
    struct outcome out = PARSE("--into", "a", "--depth=4");
    assert_int_equal(out.rc, RC_OK);
    assert_string_equal(out.args.into, "a");
    assert_int_equal(out.args.depth, 4);
    assert_string_equal(PARSE("--into=b=c").args.into, "b=c");
    assert_string_equal(PARSE("--into=").args.into, "");
}

TEST(letters_take_values_beside_or_behind_them)
{
    assert_int_equal(PARSE("-o", "json").args.format, 1);
    assert_int_equal(PARSE("-otable").args.format, 0);
    struct outcome out = PARSE("-fojson");
    assert_true(out.args.force);
    assert_int_equal(out.args.format, 1);
}

TEST(what_is_not_given_keeps_its_default)
{
    struct outcome out = PARSE("file");
    assert_int_equal(out.args.depth, 3);
    assert_null(out.args.into);
    assert_false(out.args.force);
}

TEST(options_and_words_may_be_mixed)
{
    struct outcome out = PARSE("one", "-f", "-", "--into", "-x");
    assert_int_equal(out.rc, RC_OK);
    assert_int_equal(out.words.count, 2);
    assert_string_equal(out.words.items[1], "-");
    assert_string_equal(out.args.into, "-x");
    assert_int_equal(out.words.dashes_at, 2);
}

TEST(two_dashes_end_the_options)
{
    struct outcome out = PARSE("one", "--", "--into", "--");
    assert_int_equal(out.words.count, 3);
    assert_int_equal(out.words.dashes_at, 1);
    assert_string_equal(out.words.items[2], "--");
    assert_null(out.args.into);
}

TEST(lists_keep_every_value_in_order)
{
    struct outcome out = PARSE("--tag", "a=1", "x", "--tag=b=2");
    assert_int_equal(out.args.tags.count, 2);
    assert_string_equal(out.args.tags.items[0], "a=1");
    assert_string_equal(out.args.tags.items[1], "b=2");
}

/* The first value was dropped without a word: `jobs --tag a=1 --tag b=2` listed those with b=2. */
TEST(a_second_value_for_one_is_refused)
{
    struct outcome out = PARSE("--into", "a", "--into=a");
    assert_int_equal(out.rc, RC_INVALID);
    assert_string_equal(out.err.text, "--into is given twice, and takes one value");
    assert_int_equal(PARSE("--depth=1", "--depth=2").rc, RC_INVALID);
    assert_int_equal(PARSE("-ojson", "--output", "table").rc, RC_INVALID);
    assert_int_equal(PARSE("-f", "--force", "--into", "a", "--depth", "2").rc, RC_OK);
}

TEST(a_refused_option_is_named)
{
    assert_string_equal(PARSE("--nope=3").err.text, "unknown option --nope");
    assert_string_equal(PARSE("-fx").err.text, "unknown option -x");
    assert_string_equal(PARSE("--into").err.text, "--into needs a value: DIR");
    assert_string_equal(PARSE("--force=yes").err.text, "--force takes no value");
    assert_string_equal(PARSE("--output", "xml").err.text, "--output takes table|json, not 'xml'");
    assert_string_equal(PARSE("--depth", "1x").err.text, "--depth takes a whole number, not '1x'");
    assert_int_equal(PARSE("--depth", "-1").rc, RC_INVALID);
}

TEST(a_promised_option_says_that_it_comes_later)
{
    struct outcome out = PARSE("--cron", "* * * * *");
    assert_int_equal(out.rc, RC_UNSUPPORTED);
    assert_string_equal(out.err.text, "--cron is not supported by this version yet");
}

TEST(the_help_page_comes_from_the_table)
{
    CLEANUP(buf_free) struct buf out = BUF(4096);
    opts_help(&opts, &out);
    buf_add_char(&out, '\0');
    assert_non_null(strstr(out.ptr, "usage: belfry copy [options] FILE...\n\nCopies files.\n"));
    assert_non_null(strstr(out.ptr, "\n  -f, --force               replace what exists\n"));
    assert_non_null(strstr(out.ptr, "\n      --depth N             levels to go down\n"));
    assert_null(strstr(out.ptr, "--cron"));
}

static int drop_arena(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

TEST_GROUP(NULL, drop_arena)
