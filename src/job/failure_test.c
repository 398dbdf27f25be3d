#include "base/buf.h"

#include "base/test/test.h"
#include "job/failure.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#define ASSERT_STR(got, want)                                                                      \
    do {                                                                                           \
        struct str got_ = (got);                                                                   \
        assert_int_equal(got_.len, strlen(want));                                                  \
        assert_memory_equal(got_.ptr, want, got_.len);                                             \
    } while (0)

static void assert_class(struct failure_facts facts, enum failure_class class, enum permanence how)
{
    struct failure failure = failure_classify(&facts);
    ASSERT_STR(failure_name(failure.class), failure_name(class).ptr);
    assert_int_equal(failure.permanent, how);
}

TEST(names_of_classes_read_back)
{
    enum failure_class back;
    for (int i = FAILURE_NONE + 1; i < FAILURE_CLASSES; i++) {
        assert_true(failure_parse(failure_name((enum failure_class)i), &back));
        assert_int_equal(back, i);
    }
    assert_false(failure_parse(STR("none"), &back));
    assert_false(failure_parse(STR("Timeout"), &back));
}

TEST(what_is_missing_forbidden_or_wrong_is_permanent)
{
    for (int i = FAILURE_NONE; i < FAILURE_CLASSES; i++) {
        bool permanent = i == FAILURE_PERMISSION || i == FAILURE_NOT_FOUND || i == FAILURE_USER;
        assert_int_equal(failure_is_permanent((enum failure_class)i), permanent);
    }
}

TEST(a_target_is_blamed_unless_it_is_the_jobs_own_fault)
{
    for (int i = FAILURE_NONE; i < FAILURE_CLASSES; i++) {
        enum failure_class class = (enum failure_class)i;
        struct failure by_class = {class, PERMANENT_BY_CLASS};
        struct failure passes = {class, PERMANENT_NO}; /* a class that words suggest, too */
        struct failure hopeless = {class, PERMANENT_YES};
        assert_int_equal(failure_blames_target(by_class), !failure_is_permanent(class));
        assert_int_equal(failure_blames_target(passes), class != FAILURE_USER);
        assert_false(failure_blames_target(hopeless));
    }
}

TEST(exit_codes_have_their_classes)
{
    static const struct {
        int code;
        enum failure_class class;
        enum permanence how;
    } rows[] = {
        {1, FAILURE_UNKNOWN, PERMANENT_NO},
        {2, FAILURE_UNKNOWN, PERMANENT_NO},
        {64, FAILURE_USER, PERMANENT_NO},
        {66, FAILURE_NOT_FOUND, PERMANENT_NO},
        {68, FAILURE_NETWORK, PERMANENT_NO},
        {74, FAILURE_DISK, PERMANENT_NO},
        {75, FAILURE_UNKNOWN, PERMANENT_NO},
        {77, FAILURE_PERMISSION, PERMANENT_NO},
        {78, FAILURE_USER, PERMANENT_YES},
        {124, FAILURE_TIMEOUT, PERMANENT_NO},
        {126, FAILURE_PERMISSION, PERMANENT_BY_CLASS},
        {127, FAILURE_NOT_FOUND, PERMANENT_BY_CLASS},
        {128 + SIGKILL, FAILURE_KILLED, PERMANENT_NO},
        {128 + SIGSEGV, FAILURE_CRASHED, PERMANENT_NO},
        {128 + SIGTERM, FAILURE_KILLED, PERMANENT_NO},
        {255, FAILURE_UNKNOWN, PERMANENT_NO},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_class((struct failure_facts){.exit_code = rows[i].code}, rows[i].class, rows[i].how);
}

TEST(a_fact_counts_for_more_than_words)
{
    struct str words = STR("bash: x: Permission denied\n");
    assert_class((struct failure_facts){.exit_code = 127, .tail = words}, FAILURE_NOT_FOUND,
                 PERMANENT_BY_CLASS);
    assert_class((struct failure_facts){.exit_code = 1, .tail = words}, FAILURE_PERMISSION,
                 PERMANENT_NO);
    assert_class((struct failure_facts){.exit_code = -1, .signal = SIGSEGV, .tail = words},
                 FAILURE_CRASHED, PERMANENT_BY_CLASS);
    assert_class((struct failure_facts){.timed_out = true, .exit_code = 127}, FAILURE_TIMEOUT,
                 PERMANENT_BY_CLASS);
}

TEST(a_kill_is_for_memory_when_the_kernel_says_so)
{
    assert_class((struct failure_facts){.exit_code = -1, .signal = SIGKILL}, FAILURE_KILLED,
                 PERMANENT_BY_CLASS);
    assert_class((struct failure_facts){.exit_code = -1, .signal = SIGKILL, .oom_killed = true},
                 FAILURE_OUT_OF_MEMORY, PERMANENT_BY_CLASS);
    assert_class((struct failure_facts){.exit_code = 128 + SIGKILL, .oom_killed = true},
                 FAILURE_OUT_OF_MEMORY, PERMANENT_NO);
    assert_class((struct failure_facts){.exit_code = -1, .signal = SIGTERM, .oom_killed = true},
                 FAILURE_KILLED, PERMANENT_BY_CLASS);
}

TEST(what_could_not_be_started_is_permanent_when_it_is_the_jobs_own_fault)
{
    assert_class((struct failure_facts){.spawn_errno = ENOENT, .spawn_own = true},
                 FAILURE_NOT_FOUND, PERMANENT_BY_CLASS);
    assert_class((struct failure_facts){.spawn_errno = EACCES, .spawn_own = true},
                 FAILURE_PERMISSION, PERMANENT_BY_CLASS);
    assert_class((struct failure_facts){.spawn_errno = ENOEXEC, .spawn_own = true}, FAILURE_USER,
                 PERMANENT_BY_CLASS);
    assert_class((struct failure_facts){.spawn_errno = EAGAIN}, FAILURE_UNKNOWN, PERMANENT_NO);
    assert_class((struct failure_facts){.spawn_errno = ENOENT}, FAILURE_NOT_FOUND, PERMANENT_NO);
    assert_class((struct failure_facts){.spawn_errno = ENOMEM, .spawn_own = true},
                 FAILURE_OUT_OF_MEMORY, PERMANENT_BY_CLASS);
}

TEST(words_suggest_a_class)
{
    assert_int_equal(failure_guess(STR("curl: (7) Failed: Connection refused")), FAILURE_NETWORK);
    assert_int_equal(failure_guess(STR("connect: connection timed out")), FAILURE_NETWORK);
    assert_int_equal(failure_guess(STR("read timed out")), FAILURE_TIMEOUT);
    assert_int_equal(failure_guess(STR("cp: write: No space left on device")), FAILURE_DISK);
    assert_int_equal(failure_guess(STR("java.lang.OutOfMemoryError: heap")), FAILURE_OUT_OF_MEMORY);
    assert_int_equal(failure_guess(STR("all is well")), FAILURE_NONE);
    assert_int_equal(failure_guess(STR("")), FAILURE_NONE);
}

TEST(a_phrase_is_found_wherever_it_stands_in_a_line)
{
    static const struct str phrase = STR_INIT("Segmentation Fault");
    char line[2000];
    for (size_t at = 0; at + phrase.len <= sizeof line; at += 331) {
        memset(line, 's', sizeof line); /* as it begins */
        memcpy(line + at, phrase.ptr, phrase.len);
        assert_int_equal(failure_guess(str_of(line, sizeof line)), FAILURE_CRASHED);
        assert_int_equal(failure_guess(str_of(line, at + phrase.len)), FAILURE_CRASHED);
        assert_int_equal(failure_guess(str_of(line, at + phrase.len - 1)), FAILURE_NONE);
    }
}

TEST(the_weightier_phrase_counts_not_the_first)
{
    assert_int_equal(failure_guess(STR("timed out: out of memory")), FAILURE_OUT_OF_MEMORY);
    assert_int_equal(failure_guess(STR("usage: no such file")), FAILURE_NOT_FOUND);
    assert_int_equal(failure_guess(STR("no such file, see usage:")), FAILURE_NOT_FOUND);
}

static const char python[] = "starting\n"
                             "Traceback (most recent call last):\n"
                             "  File \"/srv/a.py\", line 3, in <module>\n"
                             "    f()\n"
                             "ValueError: no 17 here\n";
static const char java[] = "INFO up\n"
                           "Exception in thread \"main\" java.lang.IllegalStateException: a\n"
                           "\tat com.x.Main.main(Main.java:5)\n"
                           "Caused by: java.io.IOException: disk\n"
                           "\tat com.x.Io.read(Io.java:9)\n"
                           "\t... 1 more\n";
static const char node[] = "/srv/x.js:1\nthrow new Error('x');\n^\n\nError: x\n"
                           "    at Object.<anonymous> (/srv/x.js:1:7)\n\nNode.js v18.19.0\n";
static const char go[] = "panic: boom\n\ngoroutine 1 [running]:\nmain.main()\n"
                         "\t/srv/x.go:4 +0x1d\nexit status 2\n";

TEST(a_stack_trace_is_found)
{
    assert_true(str_starts(failure_trace(str_c(python)), STR("Traceback (most")));
    assert_true(str_starts(failure_trace(str_c(java)), STR("Exception in thread")));
    assert_true(str_starts(failure_trace(str_c(node)), STR("Error: x\n    at ")));
    assert_true(str_starts(failure_trace(str_c(go)), STR("panic: boom")));
    assert_int_equal(failure_trace(STR("one\n  two\nthree at four\n")).len, 0);
    assert_int_equal(failure_trace(STR("")).len, 0);
}

TEST(the_line_that_tells_is_no_frame)
{
    ASSERT_STR(failure_line(str_c(python)), "ValueError: no 17 here");
    ASSERT_STR(failure_line(str_c(java)), "Caused by: java.io.IOException: disk");
    ASSERT_STR(failure_line(str_c(node)), "Error: x");
    ASSERT_STR(failure_line(str_c(go)), "panic: boom");
    ASSERT_STR(failure_line(STR("a\nb\n\n")), "b");
    ASSERT_STR(failure_line(STR("  only this\n")), "only this");
    ASSERT_STR(failure_line(STR("\n")), "");
    ASSERT_STR(failure_line(STR("")), "");
}

TEST(the_last_lines_are_kept)
{
    CLEANUP(buf_free) struct buf text = BUF(1000);
    for (int i = 0; i < 30; i++)
        buf_printf(&text, "l%02d\n", i);
    struct str tail = failure_tail(buf_str(&text));
    assert_true(str_starts(tail, STR("l10\n")));
    assert_int_equal(tail.len, 4 * 20 - 1);
    ASSERT_STR(failure_tail(STR("one\n")), "one");
    ASSERT_STR(failure_tail(STR("\n\n")), "");
    ASSERT_STR(failure_tail(STR("")), "");
}

TEST(a_long_trace_is_kept_whole)
{
    CLEANUP(buf_free) struct buf text = BUF(4096);
    buf_add(&text, STR("noise\nException in thread \"main\" X: y\n"));
    for (int i = 0; i < 60; i++)
        buf_add(&text, STR("\tat com.x.Main.deep(Main.java:5)\n"));
    assert_true(str_starts(failure_tail(buf_str(&text)), STR("Exception in thread")));
}

TEST(a_tail_is_bounded_and_begins_with_a_line)
{
    static char text[3 * FAILURE_TAIL_BYTES_MAX];
    memset(text, 'x', sizeof text);
    assert_int_equal(failure_tail(str_of(text, sizeof text)).len, FAILURE_TAIL_BYTES_MAX);
    text[sizeof text - 100] = '\n';
    assert_int_equal(failure_tail(str_of(text, sizeof text)).len, 99);
}

static void assert_normal(const char *line, const char *want)
{
    char text[FAILURE_LINE_BYTES_MAX];
    ASSERT_STR(failure_normalise(str_c(line), text), want);
}

TEST(what_differs_each_time_is_left_out)
{
    assert_normal("cannot open '/tmp/a17': gone", "cannot open '*': gone");
    assert_normal("can't do it", "can't do it");
    assert_normal("row 17 of 2000", "row # of #");
    assert_normal("at 0x7ffe12ab", "at #");
    assert_normal("2026-11-16T05:30:00.123Z  failed", "#-#-#T#:#:#.#Z failed");
    assert_normal("job 550e8400-e29b-41d4-abcd-446655440000 died", "job #-#-#-#-# died");
    assert_normal("/var/lib/x12/y.db: locked", "/var/lib/x#/y.db: locked");
    assert_normal("key \"a b\" and `c'", "key '*' and '*'");
    assert_normal("exec_0g4k2m9tq3 is stale", "# is stale");
    assert_normal("", "");
}

TEST(a_long_line_is_cut)
{
    char line[1000];
    char text[FAILURE_LINE_BYTES_MAX];
    memset(line, '-', sizeof line);
    assert_int_equal(failure_normalise(str_of(line, sizeof line), text).len,
                     FAILURE_LINE_BYTES_MAX);
}

static uint64_t print_of(enum failure_class class, int code, const char *tail)
{
    return failure_fingerprint(class, code, 0, str_c(tail), STR("exit code 1"));
}

TEST(the_same_failure_has_the_same_fingerprint)
{
    uint64_t print = print_of(FAILURE_NETWORK, 1, "x\nhost 17 refused\n");
    assert_int_equal(print, print_of(FAILURE_NETWORK, 1, "y\nz\nhost 18 refused"));
    assert_int_not_equal(print, print_of(FAILURE_NETWORK, 2, "host 17 refused"));
    assert_int_not_equal(print, print_of(FAILURE_UNKNOWN, 1, "host 17 refused"));
    assert_int_not_equal(print, print_of(FAILURE_NETWORK, 1, "host 17 reset"));
    assert_int_not_equal(print, print_of(FAILURE_NETWORK, 1, ""));
}

TEST(a_fingerprint_never_changes_between_versions)
{
    char text[FAILURE_PRINT_MAX];
    ASSERT_STR(failure_print(print_of(FAILURE_NETWORK, 1, "host 17 refused"), text),
               "f79a27c64359");
    ASSERT_STR(failure_print(1, text), "000000000001");
}
