#include "trace.h"
#include "base/id.h"
#include "plants.h"
#include "world.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char *label_space(void)
{
    static char labels[8][40];
    static unsigned next;
    return labels[next++ % COUNT_OF(labels)];
}

const char *job_label(const struct world *w, uint64_t id)
{
    char *label = label_space();
    const struct model_job *job = model_job(&w->model, id);
    if (job == NULL)
        id_format(label, ID_JOB, id);
    else
        snprintf(label, 40, "j%zu", job->submission);
    return label;
}

const char *exec_label(const struct world *w, uint64_t id)
{
    char *label = label_space();
    const struct model_exec *exec = model_exec(&w->model, id);
    if (exec == NULL)
        id_format(label, ID_EXEC, id);
    else if (exec->number == 1)
        snprintf(label, 40, "x%zu", exec->job->submission);
    else
        snprintf(label, 40, "x%zu/%u", exec->job->submission, exec->number);
    return label;
}

void trace_write(struct world *w, const char *who, const char *format, ...)
{
    va_list args;
    printf("%9.3f %-9s ", (double)w->boot_ms / 1000, who);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
}

static void say_how_to_repeat(const struct world *w)
{
    printf("seed %" PRIu64 ", step %" PRIu64 ", at %.3f s; repeat it with a trace: make sim "
           "SEED=%" PRIu64 "%s%s%s\n",
           w->seed, w->step, (double)w->boot_ms / 1000, w->seed, w->cluster ? " SERVERS=3" : "",
           plant_name()[0] ? " PLANT=" : "", plant_name());
}

void promise_broken(struct world *w, const char *format, ...)
{
    va_list args;
    printf("broken promise: ");
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
    say_how_to_repeat(w);
    fflush(stdout);
    _exit(1);
}

static const struct world *living;

/* The process is lost anyway, so this may use more than a signal handler should. */
static void on_abort(int signum)
{
    (void)signum;
    printf("broken promise: an assert of the program's own failed\n");
    if (living != NULL)
        say_how_to_repeat(living);
    fflush(stdout);
    _exit(1);
}

void trace_catch_aborts(struct world *w)
{
    living = w;
    signal(SIGABRT, on_abort);
}
