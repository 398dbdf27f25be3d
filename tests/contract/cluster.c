#include "cluster.h"
#include "base/err.h"
#include "base/mem.h"

#include <assert.h>
#include <ftw.h>
#include <glob.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <libpq-fe.h>

struct cluster {
    char dir[256];
    char bin[256]; /* where the programs are */
    char url[512];
    pid_t server;
};

static void give_up(const char *why)
{
    fprintf(stderr, "cannot start PostgreSQL for this test: %s\n", why);
    exit(EXIT_FAILURE);
}

static void find_bin(struct cluster *c)
{
    glob_t found;
    if (glob("/usr/lib/postgresql/*/bin/initdb", 0, NULL, &found) != 0)
        give_up("it is not installed; scripts/deps test installs it");
    const char *newest = found.gl_pathv[found.gl_pathc - 1];
    snprintf(c->bin, sizeof c->bin, "%.*s", (int)(strrchr(newest, '/') - newest), newest);
    globfree(&found);
}

/* The child becomes somebody who may run a server, and goes with us. */
static pid_t start(char *const argv[], const char *output)
{
    pid_t pid = fork();
    assert(pid >= 0);
    if (pid > 0)
        return pid;
    struct passwd *user = getuid() == 0 ? getpwnam("postgres") : NULL;
    if (user != NULL &&
        (initgroups(user->pw_name, user->pw_gid) || setgid(user->pw_gid) || setuid(user->pw_uid)))
        _exit(126);
    prctl(PR_SET_PDEATHSIG, SIGQUIT);
    if (freopen("/dev/null", "r", stdin) == NULL || freopen(output, "a", stdout) == NULL ||
        dup2(STDOUT_FILENO, STDERR_FILENO) < 0)
        _exit(126);
    execv(argv[0], argv);
    _exit(127);
}

static void run_initdb(struct cluster *c)
{
    char program[300];
    char data[300];
    char log[300];
    int status;
    snprintf(program, sizeof program, "%s/initdb", c->bin);
    snprintf(data, sizeof data, "%s/data", c->dir);
    snprintf(log, sizeof log, "%s/log", c->dir);
    char *argv[] = {program,
                    (char[]){"-D"},
                    data,
                    (char[]){"-Atrust"},
                    (char[]){"-Upostgres"},
                    (char[]){"--no-sync"},
                    (char[]){"--no-locale"},
                    (char[]){"-EUTF8"},
                    NULL};
    pid_t pid = start(argv, log);
    if (waitpid(pid, &status, 0) != pid || status != 0)
        give_up("initdb failed");
}

static void run_server(struct cluster *c)
{
    char program[300];
    char data[300];
    char log[300];
    char sockets[320];
    snprintf(program, sizeof program, "%s/postgres", c->bin);
    snprintf(data, sizeof data, "%s/data", c->dir);
    snprintf(log, sizeof log, "%s/log", c->dir);
    snprintf(sockets, sizeof sockets, "unix_socket_directories=%s", c->dir);
    char *argv[] = {program,
                    (char[]){"-D"},
                    data,
                    (char[]){"-c"},
                    sockets,
                    (char[]){"-clisten_addresses="},
                    (char[]){"-cfsync=off"},
                    (char[]){"-cfull_page_writes=off"},
                    NULL};
    c->server = start(argv, log);
}

static PGconn *connect_to(const struct cluster *c)
{
    PGconn *conn = PQconnectdb(c->url);
    if (PQstatus(conn) == CONNECTION_OK)
        return conn;
    PQfinish(conn);
    return NULL;
}

static void await(struct cluster *c)
{
    for (int i = 0; i < 300; i++) {
        PGconn *conn = connect_to(c);
        PQfinish(conn);
        if (conn != NULL)
            return;
        usleep(100000);
    }
    give_up("it does not answer");
}

static struct cluster *running;

static void stop_running(void)
{
    if (running != NULL)
        cluster_stop(running);
}

struct cluster *cluster_start(void)
{
    struct cluster *c = MEM_NEW(struct cluster);
    const char *base = getenv("TMPDIR");
    snprintf(c->dir, sizeof c->dir, "%s/belfry-pg-XXXXXX", base != NULL ? base : "/tmp");
    find_bin(c);
    if (mkdtemp(c->dir) == NULL || chmod(c->dir, 0755) != 0)
        give_up("no temporary directory");
    struct passwd *user = getpwnam("postgres");
    if (getuid() == 0 && (user == NULL || chown(c->dir, user->pw_uid, user->pw_gid) != 0))
        give_up("there is no user postgres");
    snprintf(c->url, sizeof c->url, "postgres://postgres@/postgres?host=%s", c->dir);
    run_initdb(c);
    run_server(c);
    running = c;
    atexit(stop_running); /* a test that fails hard ends the program */
    await(c);
    return c;
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *walk)
{
    (void)info;
    (void)type;
    (void)walk;
    return remove(path);
}

void cluster_stop(struct cluster *c)
{
    running = NULL;
    kill(c->server, SIGQUIT);
    waitpid(c->server, NULL, 0);
    nftw(c->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(c);
}

const char *cluster_url(const struct cluster *c)
{
    return c->url;
}

void cluster_sql(struct cluster *c, const char *sql)
{
    PGconn *conn = connect_to(c);
    PGresult *result = PQexec(conn, sql);
    ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
        give_up(PQerrorMessage(conn));
    PQclear(result);
    PQfinish(conn);
}
