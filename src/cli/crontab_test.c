#include "base/buf.h"

#include "base/test/test.h"
#include "cli/crontab.h"
#include "cli/crontab_document.h"
#include "wire/spec/spec_json.h"

#include <stdio.h>
#include <string.h>

static struct arena arena;

static int start(void **state)
{
    (void)state;
    arena_reset(&arena);
    return 0;
}

static struct crontab read_as(const char *text, bool system)
{
    struct crontab_options options = {system, STR("Europe/Berlin"), STR("tab")};
    struct crontab crontab;
    struct err err = {0};
    if (crontab_parse(str_c(text), &options, &arena, &crontab, &err))
        fail_msg("%s", err.text);
    return crontab;
}

static struct crontab read_text(const char *text)
{
    return read_as(text, false);
}

/* The only entry of a crontab of which nothing was lost. */
static struct crontab_entry only(const char *text)
{
    struct crontab crontab = read_text(text);
    if (crontab.remark_count > 0)
        fail_msg("%.*s", STR_ARG(crontab.remarks[0].text));
    assert_int_equal(crontab.entry_count, 1);
    return crontab.entries[0];
}

static void expect_str(struct str text, const char *expected)
{
    if (!str_eq(text, str_c(expected)))
        fail_msg("'%.*s' instead of '%s'", STR_ARG(text), expected);
}

/* The value of a variable; it must be there. */
static struct str variable(const struct crontab_entry *entry, const char *name)
{
    for (size_t i = 0; i < entry->env_count; i++) {
        if (str_eq(entry->env[i].key, str_c(name)))
            return entry->env[i].value;
    }
    fail_msg("%s is not set", name);
    return STR("");
}

/* The only remark: about that line, with that word in it. */
static void expect_remark(const char *text, bool refused, size_t line, const char *word)
{
    struct crontab crontab = read_text(text);
    assert_int_equal(crontab.remark_count, 1);
    const struct crontab_remark *remark = &crontab.remarks[0];
    assert_int_equal(remark->refused, refused);
    assert_int_equal(crontab.refused_count, refused);
    assert_int_equal(remark->line, line);
    if (memmem(remark->text.ptr, remark->text.len, word, strlen(word)) == NULL)
        fail_msg("'%.*s' does not say '%s'", STR_ARG(remark->text), word);
}

/* ---- entries */

TEST(an_entry_is_five_fields_and_a_command, start)
{
    struct crontab_entry entry = only("  0\t3  * * 1-5   /usr/bin/backup --all  \n");
    expect_str(entry.cron, "0 3 * * 1-5");
    expect_str(entry.command, "/usr/bin/backup --all  ");
    expect_str(entry.shell, "/bin/sh");
    expect_str(entry.timezone, "Europe/Berlin");
    expect_str(entry.user, "");
    expect_str(entry.input, "");
    expect_str(entry.home, "");
    assert_int_equal(entry.line, 1);
    assert_int_equal(entry.env_count, 0);
}

TEST(a_word_may_stand_for_the_fields, start)
{
    expect_str(only("@daily run\n").cron, "@daily");
    expect_str(only("@every 90s run").cron, "@every 90s");
    expect_str(only("@every 90s run").command, "run");
}

TEST(the_last_line_needs_no_end_and_returns_do_no_harm, start)
{
    struct crontab crontab = read_text("A=1\r\n\r\n@daily one\r\n@hourly two");
    assert_int_equal(crontab.entry_count, 2);
    assert_int_equal(crontab.remark_count, 0);
    expect_str(variable(&crontab.entries[0], "A"), "1");
    expect_str(crontab.entries[0].command, "one");
    expect_str(crontab.entries[1].command, "two");
}

TEST(a_dash_in_front_asks_for_silence_and_is_no_part_of_the_minute, start)
{
    expect_str(only("-*/15 * * * * run").cron, "*/15 * * * *");
}

TEST(a_system_crontab_has_users, start)
{
    struct crontab crontab =
        read_as("17 * * * * root  cd / && run\n@daily root x\n@daily web y\n", true);
    assert_int_equal(crontab.entry_count, 3);
    expect_str(crontab.entries[0].user, "root");
    expect_str(crontab.entries[0].command, "cd / && run");
    assert_int_equal(crontab.remark_count, 2); /* one for each user */
    assert_int_equal(crontab.refused_count, 0);
    assert_int_equal(crontab.remarks[1].line, 3);
}

TEST(a_crontab_without_entries_is_one, start)
{
    assert_int_equal(read_text("").entry_count, 0);
    assert_int_equal(read_text("\n\n# nothing\n").remark_count, 0);
}

/* ---- variables */

TEST(variables_are_for_the_entries_below_them, start)
{
    struct crontab crontab = read_text("A=1\n@daily one\nA=2\nB=3\n@daily two\n");
    assert_int_equal(crontab.entries[0].env_count, 1);
    expect_str(variable(&crontab.entries[0], "A"), "1");
    assert_int_equal(crontab.entries[1].env_count, 2);
    expect_str(variable(&crontab.entries[1], "A"), "2");
    expect_str(variable(&crontab.entries[1], "B"), "3");
}

TEST(a_variable_may_have_blanks_and_quotes_around_it, start)
{
    struct crontab_entry entry = only("A = b c \n\"B\"=' d '\nC=\nD=it's\nE=x=y\n@daily run");
    expect_str(variable(&entry, "A"), "b c");
    expect_str(variable(&entry, "B"), " d ");
    expect_str(variable(&entry, "C"), "");
    expect_str(variable(&entry, "D"), "it's");
    expect_str(variable(&entry, "E"), "x=y");
}

TEST(an_assignment_inside_a_command_is_no_variable, start)
{
    expect_str(only("0 5 * * * A=1 run").command, "A=1 run");
    expect_str(only("@daily A=1 run").command, "A=1 run");
}

TEST(shell_and_home_say_how_and_where, start)
{
    struct crontab_entry entry = only("SHELL=/bin/bash\nHOME=/srv\nPATH=/bin\n@daily run");
    expect_str(entry.shell, "/bin/bash");
    expect_str(entry.home, "/srv");
    expect_str(variable(&entry, "SHELL"), "/bin/bash");
    expect_str(variable(&entry, "HOME"), "/srv");
    expect_str(variable(&entry, "PATH"), "/bin");
    expect_remark("SHELL=\n@daily run", true, 1, "SHELL");
}

TEST(cron_tz_is_the_zone_and_no_variable, start)
{
    struct crontab crontab = read_text("CRON_TZ=Asia/Tokyo\n@daily one\nCRON_TZ=\n@daily two\n");
    expect_str(crontab.entries[0].timezone, "Asia/Tokyo");
    assert_int_equal(crontab.entries[0].env_count, 0);
    expect_str(crontab.entries[1].timezone, "Europe/Berlin");
    expect_remark("CRON_TZ=Asia/Tokyo 0 3 * * * run", true, 1, "line of its own");
}

TEST(tz_is_both_and_gives_way_to_cron_tz, start)
{
    struct crontab crontab = read_text("TZ=Asia/Tokyo\n@daily one\nCRON_TZ=UTC\n@daily two\n");
    expect_str(crontab.entries[0].timezone, "Asia/Tokyo");
    expect_str(variable(&crontab.entries[0], "TZ"), "Asia/Tokyo");
    expect_str(crontab.entries[1].timezone, "UTC");
    expect_remark("TZ=Asia/Tokyo\n@daily one\nTZ=UTC\n", false, 1, "CRON_TZ");
}

TEST(mail_is_not_kept_which_is_said_once, start)
{
    expect_remark("A=1\nMAILTO=me\n@daily one\nMAILTO=you\n@daily two\n", false, 2, "MAILTO");
    assert_int_equal(only("MAILTO=\"\"\n@daily run").env_count, 0);
}

TEST(variables_are_counted, start)
{
    CLEANUP(buf_free) struct buf text = BUF(1 << 16);
    for (int i = 0; i <= CRONTAB_VARIABLES_MAX; i++)
        buf_printf(&text, "V%d=%d\n", i, i);
    buf_printf(&text, "V1=again\n@daily run\n%c", '\0');
    struct crontab crontab = read_text(text.ptr);
    assert_int_equal(crontab.refused_count, 1);
    assert_int_equal(crontab.remarks[0].line, CRONTAB_VARIABLES_MAX + 1);
    assert_int_equal(crontab.entries[0].env_count, CRONTAB_VARIABLES_MAX);
    expect_str(variable(&crontab.entries[0], "V1"), "again");
}

/* ---- percent signs */

TEST(the_first_percent_sign_ends_the_command, start)
{
    struct crontab_entry entry = only("@daily mail me%Hello,%%bye");
    expect_str(entry.command, "mail me");
    expect_str(entry.input, "Hello,\n\nbye\n");
    expect_str(only("@daily cat%a%").input, "a\n");
    expect_str(only("@daily cat%").input, "");
    expect_str(only("@daily cat%%").input, "\n");
}

TEST(an_escaped_percent_sign_is_one, start)
{
    struct crontab_entry entry = only("@daily date +\\%F \\n%50\\% \\n");
    expect_str(entry.command, "date +%F \\n");
    expect_str(entry.input, "50% \\n\n");
}

TEST(a_backslash_that_is_escaped_escapes_nothing, start)
{
    struct crontab_entry entry = only("@daily echo a\\\\%b");
    expect_str(entry.command, "echo a\\\\");
    expect_str(entry.input, "b\n");
    expect_str(only("@daily echo \\").command, "echo \\");
}

/* ---- names and descriptions */

TEST(names_come_from_programs_and_are_unique, start)
{
    struct crontab crontab =
        read_text("@daily /opt/x/run.sh a\n@daily run.sh\n@hourly A=1 php x\n"
                  "@hourly php y\n@hourly (cd /)\n@hourly [ -x /a ] && b\n"
                  "@daily cd /srv && A=1 ./go\n@daily cd /srv; stop\n@daily cd /\n");
    static const char *const names[] = {"tab:run.sh", "tab:run.sh#2", "tab:php",
                                        "tab:php#2",  "tab:cd",       "tab:command",
                                        "tab:go",     "tab:stop",     "tab:cd#2"};
    assert_int_equal(crontab.entry_count, COUNT_OF(names));
    for (size_t i = 0; i < COUNT_OF(names); i++)
        expect_str(crontab.entries[i].name, names[i]);
}

TEST(a_line_elsewhere_changes_no_name, start)
{
    struct crontab before = read_text("@daily one\n@daily two\n");
    struct crontab after = read_text("# new\n@hourly zero\n\n@daily one\n@daily two\n");
    assert_true(str_eq(before.entries[1].name, after.entries[2].name));
}

TEST(the_comment_right_above_describes_an_entry, start)
{
    struct crontab crontab = read_text("# The file.\n\n# Saves\n##   all.\n@daily one\n@daily two\n"
                                       "# Not for the next.\nA=1\n@daily three\n");
    expect_str(crontab.entries[0].description, "Saves\nall.");
    expect_str(crontab.entries[1].description, "");
    expect_str(crontab.entries[2].description, "");
}

TEST(titles_and_entries_that_are_switched_off_describe_nothing, start)
{
    struct crontab_entry entry = only("# Edit this file.\n#\n# m h  dom mon dow   command\n"
                                      "# 0 4 * * * old\n#@daily older\n0 3 * * * run\n");
    expect_str(entry.description, "");
    expect_str(only("# Runs:\n# 0 4 * * * old\n0 3 * * * run\n").description, "Runs:");
}

TEST(a_long_comment_is_cut_at_a_line, start)
{
    CLEANUP(buf_free) struct buf text = BUF(1 << 20);
    for (int i = 0; i < 5000; i++)
        buf_add(&text, STR("# twelve bytes\n"));
    buf_printf(&text, "@daily run%c", '\0');
    struct str description = only(text.ptr).description;
    assert_true(description.len <= SPEC_TEXT_MAX && description.len > SPEC_TEXT_MAX - 13);
    expect_str(str_from(description, description.len - 12), "twelve bytes");
}

/* ---- refusals */

TEST(what_makes_no_sense_is_refused_with_its_line, start)
{
    expect_remark("\n\n61 * * * * run", true, 3, "minute: 61");
    expect_remark("@daily ok\n@reboot run", true, 2, "belfry submit");
    expect_remark("@fortnightly run", true, 1, "@fortnightly");
    expect_remark("hello", true, 1, "fields");
    expect_remark("* * * * *", true, 1, "the command is missing");
    expect_remark("@daily   ", true, 1, "the command is missing");
    expect_remark("@daily %input", true, 1, "the command is missing");
    expect_remark("0 0 31 2 * never", true, 1, "never comes");
    expect_remark("@daily caf\xe9", true, 1, "UTF-8");
    assert_int_equal(read_text("0 0 31 2 * no\n@daily ok\n61 * * * * no").entry_count, 1);
}

TEST(a_user_alone_is_no_command, start)
{
    struct crontab crontab = read_as("@daily root\n", true);
    assert_int_equal(crontab.entry_count, 0);
    assert_int_equal(crontab.refused_count, 1);
}

TEST(too_much_is_refused_as_a_whole, start)
{
    struct crontab_options options = {.timezone = STR("UTC"), .prefix = STR("tab")};
    struct crontab crontab;
    struct err err;
    CLEANUP(buf_free) struct buf text = BUF(CRONTAB_BYTES_MAX + 1);
    for (int i = 0; i < CRONTAB_ENTRIES_MAX; i++)
        buf_add(&text, STR("@daily x\n"));
    assert_int_equal(crontab_parse(buf_str(&text), &options, &arena, &crontab, &err), RC_OK);
    assert_int_equal(crontab.entry_count, CRONTAB_ENTRIES_MAX);
    buf_add(&text, STR("@daily x\n"));
    assert_int_equal(crontab_parse(buf_str(&text), &options, &arena, &crontab, &err), RC_TOO_LARGE);
    while (!text.overflow)
        buf_add_char(&text, '\n');
    assert_int_equal(crontab_parse(buf_str(&text), &options, &arena, &crontab, &err), RC_TOO_LARGE);
}

/* ---- documents */

static struct spec spec_of(const char *text)
{
    struct crontab_entry entry = only(text);
    struct spec spec;
    struct err err = {0};
    if (spec_read(crontab_document(&entry, &arena), &arena, &spec, &err))
        fail_msg("%s", err.text);
    return spec;
}

TEST(a_job_behaves_as_its_entry_did, start)
{
    struct spec spec = spec_of("SHELL=/bin/bash\nHOME=/srv\n# Why.\n0 3 * * 1 run \"$x\"\n");
    expect_str(spec.name, "tab:run");
    expect_str(spec.description, "Why.");
    assert_int_equal(spec.argc, 3);
    expect_str(spec.argv[0], "/bin/bash");
    expect_str(spec.argv[1], "-c");
    expect_str(spec.argv[2], "run \"$x\"");
    expect_str(spec.working_dir, "/srv");
    expect_str(spec.zone, "Europe/Berlin");
    assert_int_equal(spec.env_count, 2);
    assert_int_equal(spec.when, WHEN_CRON);
    assert_int_equal(spec.retry.max_retries, 0);
    assert_int_equal(spec.overlap, OVERLAP_PARALLEL);
    assert_int_equal(spec.misfire.policy, MISFIRE_SKIP);
}

TEST(input_is_fed_by_a_shell_in_front, start)
{
    struct spec spec = spec_of("@daily cat -n%one%%$two `three`");
    assert_int_equal(spec.argc, 6);
    expect_str(spec.argv[0], "/bin/sh");
    expect_str(spec.argv[3], "/bin/sh");
    expect_str(spec.argv[4], "cat -n");
    expect_str(spec.argv[5], "one\n\n$two `three`");
}

static int end(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

TEST_GROUP(NULL, end)
