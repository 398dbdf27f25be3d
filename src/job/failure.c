#include "job/failure.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

const struct words failure_words = WORDS(
    [FAILURE_TIMEOUT] = "timeout", [FAILURE_OUT_OF_MEMORY] = "out_of_memory",
    [FAILURE_PERMISSION] = "permission_error", [FAILURE_NETWORK] = "network_error",
    [FAILURE_NOT_FOUND] = "not_found", [FAILURE_DISK] = "disk_error", [FAILURE_KILLED] = "killed",
    [FAILURE_CRASHED] = "crashed", [FAILURE_LOST_WORKER] = "lost_worker",
    [FAILURE_USER] = "user_error", [FAILURE_UNKNOWN] = "unknown");

struct str failure_name(enum failure_class class)
{
    return class == FAILURE_NONE ? STR("none") : words_name(&failure_words, class);
}

bool failure_parse(struct str name, enum failure_class *ret_class)
{
    return words_parse(&failure_words, name, ret_class);
}

bool failure_is_permanent(enum failure_class class)
{
    return class == FAILURE_PERMISSION || class == FAILURE_NOT_FOUND || class == FAILURE_USER;
}

bool failure_blames_target(struct failure failure)
{
    if (failure.class == FAILURE_USER || failure.permanent == PERMANENT_YES)
        return false;
    return failure.permanent == PERMANENT_NO || !failure_is_permanent(failure.class);
}

/* ---- facts */

struct number_class {
    int number;
    enum failure_class class;
};

static enum failure_class look_up(const struct number_class *table, size_t count, int number,
                                  enum failure_class otherwise)
{
    for (size_t i = 0; i < count; i++) {
        if (table[i].number == number)
            return table[i].class;
    }
    return otherwise;
}

static enum failure_class errno_class(int error)
{
    static const struct number_class table[] = {
        {EACCES, FAILURE_PERMISSION},    {EPERM, FAILURE_PERMISSION},
        {ENOENT, FAILURE_NOT_FOUND},     {ENOTDIR, FAILURE_NOT_FOUND},
        {ELOOP, FAILURE_NOT_FOUND},      {ENOMEM, FAILURE_OUT_OF_MEMORY},
        {ENOSPC, FAILURE_DISK},          {EIO, FAILURE_DISK},
        {EROFS, FAILURE_DISK},           {EDQUOT, FAILURE_DISK},
        {ECONNREFUSED, FAILURE_NETWORK}, {ETIMEDOUT, FAILURE_NETWORK},
        {ENAMETOOLONG, FAILURE_USER},    {E2BIG, FAILURE_USER},
        {ENOEXEC, FAILURE_USER},         {EISDIR, FAILURE_PERMISSION},
        {EINVAL, FAILURE_USER},
    };
    return look_up(table, COUNT_OF(table), error, FAILURE_UNKNOWN);
}

/* As Linux counts them, whoever reports them: a server may judge what another machine saw. */
enum {
    SIGNAL_ILL = 4,
    SIGNAL_TRAP = 5,
    SIGNAL_ABRT = 6,
    SIGNAL_BUS = 7,
    SIGNAL_FPE = 8,
    SIGNAL_KILL = 9,
    SIGNAL_SEGV = 11,
    SIGNAL_XCPU = 24,
    SIGNAL_XFSZ = 25,
    SIGNAL_SYS = 31,
    SIGNALS = 65,
};

static enum failure_class signal_class(int signum)
{
    static const struct number_class table[] = {
        {SIGNAL_SEGV, FAILURE_CRASHED}, {SIGNAL_BUS, FAILURE_CRASHED},
        {SIGNAL_ABRT, FAILURE_CRASHED}, {SIGNAL_ILL, FAILURE_CRASHED},
        {SIGNAL_FPE, FAILURE_CRASHED},  {SIGNAL_TRAP, FAILURE_CRASHED},
        {SIGNAL_SYS, FAILURE_CRASHED},  {SIGNAL_XCPU, FAILURE_TIMEOUT},
        {SIGNAL_XFSZ, FAILURE_DISK},
    };
    return look_up(table, COUNT_OF(table), signum, FAILURE_KILLED);
}

/* Codes that mean something by convention: sysexits.h, and what timeout(1) says. Other programs use
 * the same numbers for other things (curl has all of them), so they suggest and do not decide. */
static enum failure_class exit_class(int code)
{
    static const struct number_class table[] = {
        {64, FAILURE_USER},     {65, FAILURE_USER},    {66, FAILURE_NOT_FOUND},
        {67, FAILURE_USER},     {68, FAILURE_NETWORK}, {73, FAILURE_DISK},
        {74, FAILURE_DISK},     {76, FAILURE_NETWORK}, {77, FAILURE_PERMISSION},
        {124, FAILURE_TIMEOUT},
    };
    return look_up(table, COUNT_OF(table), code, FAILURE_NONE);
}

static enum failure_class guess_tail(struct str tail)
{
    enum failure_class class = failure_guess(failure_line(tail));
    return class == FAILURE_NONE ? FAILURE_UNKNOWN : class;
}

static struct failure classify_exit(const struct failure_facts *facts)
{
    enum { SHELL_NO_EXEC = 126, SHELL_NOT_FOUND = 127, SHELL_SIGNAL = 128 };
    int code = facts->exit_code;
    enum failure_class class;
    switch (code) {
    case FAILURE_EXIT_PERMANENT: return (struct failure){FAILURE_USER, PERMANENT_YES};
    case SHELL_NO_EXEC: return (struct failure){FAILURE_PERMISSION, PERMANENT_BY_CLASS};
    case SHELL_NOT_FOUND: return (struct failure){FAILURE_NOT_FOUND, PERMANENT_BY_CLASS};
    default: break;
    }
    if (code == SHELL_SIGNAL + SIGNAL_KILL && facts->oom_killed)
        class = FAILURE_OUT_OF_MEMORY;
    else if (code > SHELL_SIGNAL && code < SHELL_SIGNAL + SIGNALS)
        class = signal_class(code - SHELL_SIGNAL);
    else
        class = exit_class(code);
    if (class == FAILURE_NONE)
        class = guess_tail(facts->tail);
    return (struct failure){class, PERMANENT_NO};
}

static struct failure classify_unstarted(const struct failure_facts *facts)
{
    struct failure failure = {.class = errno_class(facts->spawn_errno)};
    if (!facts->spawn_own) /* another worker, or this one a moment later, may have more luck */
        failure.permanent = PERMANENT_NO;
    return failure;
}

struct failure failure_classify(const struct failure_facts *facts)
{
    if (facts->timed_out)
        return (struct failure){.class = FAILURE_TIMEOUT};
    if (facts->spawn_errno != 0)
        return classify_unstarted(facts);
    if (facts->signal == SIGNAL_KILL && facts->oom_killed)
        return (struct failure){.class = FAILURE_OUT_OF_MEMORY};
    if (facts->signal != 0)
        return (struct failure){.class = signal_class(facts->signal)};
    if (facts->exit_code > 0)
        return classify_exit(facts);
    return (struct failure){guess_tail(facts->tail), PERMANENT_NO};
}

/* ---- words */

/* In this order: "connection timed out" is about the network. */
static const struct {
    struct str words;
    enum failure_class class;
} phrases[] = {
    {STR_INIT("out of memory"), FAILURE_OUT_OF_MEMORY},
    {STR_INIT("outofmemory"), FAILURE_OUT_OF_MEMORY},
    {STR_INIT("cannot allocate memory"), FAILURE_OUT_OF_MEMORY},
    {STR_INIT("MemoryError"), FAILURE_OUT_OF_MEMORY},
    {STR_INIT("bad_alloc"), FAILURE_OUT_OF_MEMORY},
    {STR_INIT("no space left"), FAILURE_DISK},
    {STR_INIT("disk quota exceeded"), FAILURE_DISK},
    {STR_INIT("input/output error"), FAILURE_DISK},
    {STR_INIT("read-only file system"), FAILURE_DISK},
    {STR_INIT("connection refused"), FAILURE_NETWORK},
    {STR_INIT("connection reset"), FAILURE_NETWORK},
    {STR_INIT("connection timed out"), FAILURE_NETWORK},
    {STR_INIT("ConnectionError"), FAILURE_NETWORK},
    {STR_INIT("ECONNREFUSED"), FAILURE_NETWORK},
    {STR_INIT("ECONNRESET"), FAILURE_NETWORK},
    {STR_INIT("network is unreachable"), FAILURE_NETWORK},
    {STR_INIT("no route to host"), FAILURE_NETWORK},
    {STR_INIT("could not resolve"), FAILURE_NETWORK},
    {STR_INIT("name resolution"), FAILURE_NETWORK},
    {STR_INIT("name or service not known"), FAILURE_NETWORK},
    {STR_INIT("unknown host"), FAILURE_NETWORK},
    {STR_INIT("broken pipe"), FAILURE_NETWORK},
    {STR_INIT("permission denied"), FAILURE_PERMISSION},
    {STR_INIT("PermissionError"), FAILURE_PERMISSION},
    {STR_INIT("operation not permitted"), FAILURE_PERMISSION},
    {STR_INIT("access denied"), FAILURE_PERMISSION},
    {STR_INIT("no such file"), FAILURE_NOT_FOUND},
    {STR_INIT("command not found"), FAILURE_NOT_FOUND},
    {STR_INIT("ModuleNotFoundError"), FAILURE_NOT_FOUND},
    {STR_INIT("timed out"), FAILURE_TIMEOUT},
    {STR_INIT("TimeoutError"), FAILURE_TIMEOUT},
    {STR_INIT("deadline exceeded"), FAILURE_TIMEOUT},
    {STR_INIT("segmentation fault"), FAILURE_CRASHED},
    {STR_INIT("SyntaxError"), FAILURE_USER},
    {STR_INIT("invalid option"), FAILURE_USER},
    {STR_INIT("unrecognized option"), FAILURE_USER},
    {STR_INIT("usage:"), FAILURE_USER},
};

enum {
    PHRASES = COUNT_OF(phrases),
    PAIRS = 256,
};

/* Which phrases begin with a pair of letters, so that a line is walked once and not once for each
 * of them: programs end with lines of kilobytes, and a storm of failures has many of them. */
struct phrase_index {
    uint8_t first[PAIRS];  /* by pair, the first in the table; PHRASES: none */
    uint8_t next[PHRASES]; /* with the same pair, further down the table */
};

/* The same for small letters and capitals; pairs that share a number cost a comparison. */
static size_t pair_of(const char *letters)
{
    return ((size_t)(letters[0] & 31) << 3 ^ (size_t)(letters[1] & 31)) % PAIRS;
}

/* Made for each line: it takes less time than the line does, and nobody has to keep it. */
static void index_phrases(struct phrase_index *index)
{
    memset(index->first, PHRASES, sizeof index->first);
    for (size_t i = PHRASES; i-- > 0;) {
        size_t pair = pair_of(phrases[i].words.ptr);
        index->next[i] = index->first[pair];
        index->first[pair] = (uint8_t)i;
    }
}

enum failure_class failure_guess(struct str line)
{
    struct phrase_index index;
    size_t best = PHRASES;
    if (line.len == 0)
        return FAILURE_NONE;
    index_phrases(&index);
    for (size_t at = 0; at + 1 < line.len; at++) {
        const char *from = line.ptr + at;
        for (size_t i = index.first[pair_of(from)]; i < best; i = index.next[i]) {
            size_t len = phrases[i].words.len;
            if (len <= line.len - at && str_eq_nocase(str_of(from, len), phrases[i].words))
                best = i;
        }
    }
    return best < PHRASES ? phrases[best].class : FAILURE_NONE;
}
