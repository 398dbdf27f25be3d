# The whole build of belfry.
#
#   make            builds build/belfry             make check       unit and contract tests
#   make CC=clang   the same, by the other compiler make check-e2e   the real binary, real sockets
#   make check-pg   what needs PostgreSQL alone
#   make san        check under address+undefined   make fuzz        every parser, FUZZ_SECONDS each
#   make tsan       check under thread              make bench       all figures, with targets
#   make sim        simulated days, SEEDS or SEED   make sim-plants  planted bugs are caught
#   make sim-year   a year of a thousand schedules
#   make tidy       layout, layers, banned calls    make tidy-deep   clang-tidy on the program
#   make chaos      minutes of a cluster whose parts die; report in tests/night/chaos.txt
#   make night      hours of all that ./test does in minutes; report in tests/night/last.txt
#   make format     mends the layout                make docs        tables that the program prints
#   make install PREFIX=/usr/local                  make clean
#   make WEB=no     leaves the dashboard out, and needs no node
#
# Every compiler and every variant has an object directory of its own (build/gcc, build/clang,
# build/gcc-san ...), so switching between them rebuilds nothing. `make V=1` shows the commands.

VERSION := 0.1.0
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 10

# make's own default is `cc`, which may be either compiler; we want to know which one it is.
ifeq ($(origin CC),default)
CC := gcc
endif

VARIANT ?= release
B := build/$(notdir $(lastword $(CC)))$(if $(filter-out release,$(VARIANT)),-$(VARIANT))
BIN := $(if $(filter build/gcc,$(B)),build/belfry,$(B)/belfry)

# ---- flags

# Not every compiler knows every flag on every processor, so we ask it.
supported = $(shell $(CC) -Werror $(1) -x c -c /dev/null -o /dev/null 2>/dev/null && echo $(1))

WARN := -Wall -Wextra -Wshadow -Wundef -Wvla -Wformat=2 -Wcast-qual -Wwrite-strings \
        -Wpointer-arith -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition \
        -Wredundant-decls -Wnested-externs -Winit-self -Wimplicit-fallthrough
HARDEN := -fstack-protector-strong $(call supported,-fstack-clash-protection) \
          $(call supported,-fcf-protection)

# Sanitizers confuse the optimiser's guesses about uninitialised and truncated data, so there
# warnings stay warnings; the release builds of both compilers are where they must be clean.
# _FORTIFY_SOURCE hides calls from the sanitizers and is a release matter too.
ifeq ($(VARIANT),release)
OPT := -O2 -Werror -D_FORTIFY_SOURCE=2
else ifeq ($(VARIANT),san)
OPT := -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
else ifeq ($(VARIANT),tsan)
OPT := -O1 -fno-omit-frame-pointer -fsanitize=thread
else ifeq ($(VARIANT),plants)
OPT := -O2 -Werror -D_FORTIFY_SOURCE=2 -DBELFRY_PLANTS
else ifeq ($(VARIANT),fuzz)
OPT := -O1 -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined \
       -fno-sanitize-recover=all
else
$(error VARIANT is one of release, san, tsan, plants, fuzz)
endif

# Asserts state what our own code guarantees; they stay on, so NDEBUG appears nowhere. What is
# ours has names of its own, so that CFLAGS and friends given on the command line add to it.
CFLAGS ?= -g
c_flags := -std=c17 -fPIE -pthread $(OPT) $(WARN) $(HARDEN)
ld_flags := -pie -pthread -Wl,-z,relro,-z,now -Wl,-z,noexecstack $(filter -fsanitize%,$(OPT))

# ---- libraries

PKGS := libuv sqlite3 libpq libsodium libcurl zlib
have_pkgs := $(shell pkg-config --exists $(PKGS) && echo yes)
ifeq ($(have_pkgs)$(filter clean tidy format,$(MAKECMDGOALS)),)
$(error Of $(PKGS) some are missing here; scripts/deps run installs them)
endif

# Debian 13 packages llhttp as a library. Debian 12 ships its C sources within node-llhttp: they
# are compiled here, strict (as the library is), and without our warnings since they are not ours.
ifeq ($(shell pkg-config --exists libllhttp && echo yes),yes)
PKGS += libllhttp
else
LLHTTP_DIR := /usr/share/llhttp
LLHTTP_OBJS := $(patsubst %,$(B)/llhttp/%.o,api http llhttp)
LLHTTP_FLAGS := -isystem /usr/share/include/llhttp -DLLHTTP_STRICT_MODE=1
endif
cpp_flags := -Isrc -I$(B)/gen -D_GNU_SOURCE -DBELFRY_VERSION='"$(VERSION)"' $(LLHTTP_FLAGS) \
             $(shell pkg-config --cflags $(PKGS))
# SQLite is linked in where its development package brings the archive (docs/decisions/0016): calls
# within a shared library go by its table of symbols, which took an eighth of the server's time.
# `make SQLITE=shared` leaves it outside.
SQLITE ?= $(if $(wildcard $(shell pkg-config --variable=libdir sqlite3)/libsqlite3.a),static,shared)
libs := $(patsubst -lsqlite3,$(if $(filter static,$(SQLITE)),-l:libsqlite3.a,-lsqlite3),\
          $(shell pkg-config --libs $(PKGS))) -lm

# ---- sources

# What the engine's tests share: a world to drive it in, linked to each of them and to nothing else.
WORLD_SRCS := $(wildcard src/engine/test/*.c)
# What runs the tests of a program; linked to all of them.
RUNNER_SRCS := $(wildcard src/base/test/*.c)
ALL_SRCS := $(filter-out $(WORLD_SRCS) $(RUNNER_SRCS),$(wildcard src/*/*.c src/*/*/*.c))
SRCS := $(filter-out %_test.c,$(ALL_SRCS))
# Those that take long come first, so that nobody waits for the last one alone.
TEST_SRCS := $(wildcard $(addprefix tests/,$(addsuffix /*_test.c,contract crash day time))) \
             $(filter %_test.c,$(ALL_SRCS))
# What contract tests share: the suite of promises itself, linked to each store's program.
SUITE_SRCS := $(filter-out %_test.c,$(wildcard tests/contract/*.c))
# Engines, workers and a clock, linked to what is measured over a day of them.
DAY_SRCS := $(filter-out %_test.c,$(wildcard tests/day/*.c)) $(WORLD_SRCS)
# The disk that forgets and the day that is lived on it, linked to what cuts the power.
CRASH_SRCS := $(filter-out %_test.c,$(wildcard tests/crash/*.c))
FUZZ_SRCS := $(wildcard tests/fuzz/*_fuzz.c)
BENCH_SRCS := $(wildcard tests/bench/*_bench.c)
SIM_SRCS := $(wildcard tests/sim/*.c)
YEAR_SRCS := $(wildcard tests/year/*.c)

# These start no threads (`make tidy` sees to it in src) or use one store from one thread; to the thread
# sanitizer they say nothing.
ifeq ($(VARIANT),tsan)
TEST_SRCS := $(filter-out src/base/% src/job/% src/engine/% src/wire/% tests/% \
               src/store/sqlite/log_buffer_test.c,$(TEST_SRCS))
endif

# Files that become C: see scripts/embed. store/NAME/sql/*.sql is "store/NAME/statements.h" and the
# table `NAME_statements`, store/NAME/migrations/*.sql the table `NAME_migrations` (and migrations_logs/
# beside it the table `NAME_migrations_logs`), web/openapi.json is `openapi_json`.
#
# Of each store's statements: the enum, what its names begin with, how parameters are written.
STATEMENTS_sqlite := sql SQL_ named
STATEMENTS_postgres := query Q_ numbered
SQL_STORES := $(patsubst src/store/%/sql/,%,$(sort $(dir $(wildcard src/store/*/sql/*.sql))))
$(foreach s,$(SQL_STORES),$(if $(STATEMENTS_$s),,$(error STATEMENTS_$s is missing for src/store/$s/sql)))
STATEMENTS := $(SQL_STORES:%=$(B)/gen/store/%/statements)
MIGRATIONS := $(sort $(dir $(wildcard src/store/*/migrations*/*.sql)))
GEN := $(STATEMENTS:%=%.c) \
       $(patsubst src/%,$(B)/gen/%migrations.c,$(MIGRATIONS)) \
       $(patsubst src/%.json,$(B)/gen/%.c,$(wildcard src/web/openapi.json)) $(B)/gen/web/assets.c

OBJS := $(SRCS:%.c=$(B)/%.o) $(GEN:%.c=%.o) $(LLHTTP_OBJS)
# With planted bugs nothing is built but what the simulator needs, so no program can carry them.
ifeq ($(VARIANT),plants)
OBJS := $(filter $(addprefix $(B)/src/,base/% job/% engine/% store/store% store/mem/% wire/json/% \
          $(addprefix wire/,spec/% message/calendar%) \
          loop/clock% loop/file% loop/zones% \
          $(addprefix server/turn/,rules% turn% bisect% sql_job% idempotency_hash%) \
          $(addprefix server/cluster/,cluster_map% balance% unsure% timing% company%) \
          $(addprefix worker/link/,lease_set% credits% epochs%)),$(OBJS))
endif
# What reads bytes from outside, and what that stands on.
ifeq ($(VARIANT),fuzz)
OBJS := $(filter $(addprefix $(B)/src/,base/% job/% wire/% engine/core/engine_defaults% \
          server/auth/cookie% server/config/settings% cli/crontab%) \
          $(LLHTTP_OBJS),$(OBJS))
endif
TESTS := $(TEST_SRCS:%.c=$(B)/test/%)
FUZZERS := $(FUZZ_SRCS:%.c=$(B)/%)
BENCHES := $(BENCH_SRCS:%.c=$(B)/%)
LIB := $(B)/libbelfry.a
SIM := $(B)/tests/sim/sim
YEAR := $(B)/tests/year/year

# ---- building

Q := $(if $(V),,@)
say = @printf '  %-5s %s\n' $(1) $(2)
compile = $(CC) $(cpp_flags) $(CPPFLAGS) $(c_flags) $(CFLAGS) $(test_flags) -MMD -MP -c $< -o $@
link = $(CC) $(ld_flags) $(CFLAGS) $(LDFLAGS) $(filter %.o,$^) $(LIB) $(libs) $(LDLIBS)

.PHONY: build check check-pg check-e2e san tsan sim sim-plants sim-year run-plant run-plants fuzz run-fuzz bench profile night chaos \
        tidy tidy-deep docs format install \
        clean test tests always web-types web-dev
.DELETE_ON_ERROR:
.SECONDARY:

build: $(BIN)
tests: $(TESTS) $(SIM) $(YEAR)

$(BIN): $(B)/src/main.o
$(FUZZERS) $(BENCHES): %: %.o
$(SIM): $(SIM_SRCS:%.c=$(B)/%.o) $(B)/src/engine/test/delta_text.o
$(YEAR): $(YEAR_SRCS:%.c=$(B)/%.o)
$(BIN) $(FUZZERS) $(BENCHES) $(SIM) $(YEAR): $(LIB)
	$(call say,LINK,$@)
	$(Q)$(link) -o $@

$(B)/tests/bench/json_bench: libs += -lcjson # what it is compared with

# An archive, so that a test carries only the modules it touches. Made anew each time, since ar
# would keep the objects of sources that are gone.
$(LIB): $(OBJS) $(if $(filter %/statements.o,$(OBJS)),$(STATEMENTS:%=%.used))
	$(Q)rm -f $@ && ar rcs $@ $(OBJS)

# Tests wait for the compiler much longer than for their own code: under sanitizers two thirds of it was
# spent on optimising tests. Those in tests/time walk through centuries and are worth it, and so is
# src/engine/test, which looks at everything after every turn of every test.
$(B)/src/%_test.o $(B)/tests/contract/%.o: test_flags := -O0 -U_FORTIFY_SOURCE

# The flags live in this file, so everything is compiled anew when it changes.
$(B)/%.o: %.c Makefile | $(STATEMENTS:%=%.h)
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D) && $(compile)

$(B)/gen/%.o: $(B)/gen/%.c Makefile | $(STATEMENTS:%=%.h)
	$(Q)$(compile)

$(B)/llhttp/%.o: $(LLHTTP_DIR)/%.c Makefile
	$(Q)mkdir -p $(@D) && $(compile) -w

# A directory is a prerequisite of its own: its time changes when a file is removed. The header stays as
# it is while its names do, so that a change of SQL alone compiles nothing else.
.SECONDEXPANSION:
$(B)/gen/store/%/statements.h: src/store/%/sql $$(wildcard src/store/$$*/sql/*.sql) scripts/embed
	$(Q)mkdir -p $(@D) && scripts/embed -h $* $(STATEMENTS_$*) $(filter %.sql,$^) > $@.new && \
	    { cmp -s $@.new $@ && rm $@.new || mv $@.new $@; }

$(B)/gen/store/%/statements.c: src/store/%/sql $$(wildcard src/store/$$*/sql/*.sql) scripts/embed
	$(Q)mkdir -p $(@D) && scripts/embed -s $* $(STATEMENTS_$*) $(filter %.sql,$^) > $@

# Every statement has its use.
$(B)/gen/store/%/statements.used: $(B)/gen/store/%/statements.h $$(wildcard src/store/$$*/*.c) scripts/embed
	$(Q)scripts/embed -u $* $(word 2,$(STATEMENTS_$*)) $< $(filter %.c,$^) && touch $@

$(B)/gen/store/%/migrations.c: src/store/% $$(wildcard src/store/$$*/*.sql) scripts/embed
	$(Q)mkdir -p $(@D) && scripts/embed -t $(subst /,_,$*) $(filter %.sql,$^) > $@

$(B)/gen/web/openapi.c: src/web/openapi.json scripts/embed
	$(Q)mkdir -p $(@D) && scripts/embed $< openapi_json > $@

# ---- the dashboard

# One bundle for all compilers and variants. Packages are fetched when the lock changes, into build/npm what
# it is made of, and into build/npm-test what checks it besides.
WEB_SRCS := $(shell find src/web -name '*.ts' -o -name '*.tsx' -o -name '*.css' -o -name '*.svg' -o -name index.html)
WEB_LOCK := $(addprefix src/web/,package.json package-lock.json .npmrc)
npm_ci = mkdir -p $(@D) && cp $(WEB_LOCK) $(@D) && { (cd $(@D) && npm ci $(1) --ignore-scripts --no-audit --no-fund \
    --fetch-retries=1 --fetch-retry-mintimeout=2000 --fetch-retry-maxtimeout=2000 >npm.log 2>&1) || { tail -20 $(@D)/npm.log; \
    echo 'The packages of the dashboard could not be fetched. make WEB=no builds without it.' >&2; exit 1; }; } && touch $@

build/npm/ok: $(WEB_LOCK)
	$(call say,NPM,src/web)
	$(Q)$(call npm_ci,--omit=dev)

build/npm-test/ok: $(WEB_LOCK)
	$(call say,NPM,'src/web for tests')
	$(Q)$(call npm_ci)

build/web/assets.c: build/npm/ok $(WEB_SRCS) src/web/tools/build.mjs src/web/tools/packages.mjs src/web/tsconfig.json
	$(call say,WEB,src/web)
	$(Q)node src/web/tools/build.mjs

build/web/none.c: Makefile
	$(Q)mkdir -p $(@D) && printf '#include "web/assets.h"\nconst struct web_asset web_assets[1];\n%s\n%s\n%s\n' \
	    'const size_t web_asset_count = 0;' 'const struct str web_page_parts[1];' \
	    'const size_t web_page_part_count = 0;' > $@

# Looked at each time, since WEB may be another than last time; the copy stays as it is while they are equal.
$(B)/gen/web/assets.c: $(if $(filter no,$(WEB)),build/web/none.c,build/web/assets.c) always
	$(Q)mkdir -p $(@D) && { cmp -s $< $@ || cp $< $@; }

# Types of TypeScript; those of the API are made from openapi.json.
web-types: build/npm-test/ok
	$(Q)node src/web/tools/types.mjs && build/npm-test/node_modules/.bin/tsc --noEmit -p src/web

# Live reload against a running server: see src/web/README.md.
web-dev: build/npm/ok
	$(Q)node src/web/tools/dev.mjs

# ---- tests

$(B)/test/%: $(B)/%.o $(RUNNER_SRCS:%.c=$(B)/%.o) $(LIB)
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) && $(link) $(shell pkg-config --libs cmocka) -o $@

$(filter $(B)/test/src/engine/%,$(TESTS)): $(WORLD_SRCS:%.c=$(B)/%.o)
$(filter $(B)/test/tests/contract/%,$(TESTS)): $(SUITE_SRCS:%.c=$(B)/%.o)
$(filter $(B)/test/tests/crash/%,$(TESTS)): $(CRASH_SRCS:%.c=$(B)/%.o)
$(filter $(B)/test/tests/day/%,$(TESTS)): $(DAY_SRCS:%.c=$(B)/%.o)

# Twice as many at a time as there are cores: two thirds of their time they wait for disks and clocks.
check: $(TESTS)
	$(Q)CHECK_JOBS=$$((2 * $$(nproc))) scripts/check $(TESTS)

# They start servers of their own.
check-pg: $(filter $(B)/test/tests/contract/postgres% $(B)/test/src/store/postgres/%,$(TESTS))
	$(Q)scripts/check $^

# E2E chooses: E2E="api http". Those that take long come first.
E2E ?= *
E2E_LONG := $(patsubst %,tests/e2e/test_%.py,cluster postgres split sql_submit failover series feed bench clock slots \
                crew crash rules)
E2E_TESTS = $(sort $(wildcard $(E2E:%=tests/e2e/test_%.py)))
# Six at a time: mostly they wait, each for servers of its own, and they mind no company.
check-e2e: $(BIN) $(if $(filter no,$(WEB)),,$(if $(filter %/test_web.py,$(E2E_TESTS)),build/npm-test/ok))
	$(Q)BELFRY=$(abspath $(BIN)) CHECK_JOBS=6 \
	    scripts/check $(foreach t,$(E2E_LONG),$(filter $t,$(E2E_TESTS))) $(filter-out $(E2E_LONG),$(E2E_TESTS))

san tsan:
	$(Q)$(MAKE) --no-print-directory VARIANT=$@ check

fuzz:
	$(Q)$(MAKE) --no-print-directory CC=clang VARIANT=fuzz run-fuzz

run-fuzz: $(FUZZERS)
	$(Q)FUZZ_SECONDS=$(FUZZ_SECONDS) scripts/check $(FUZZERS)

$(FUZZERS): ld_flags += -fsanitize=fuzzer

# All figures and their targets, in some ten minutes; needs the packages of scripts/deps bench.
bench: $(BIN) $(BENCHES)
	$(Q)BELFRY=$(abspath $(BIN)) BENCH_PROGRAMS=$(abspath $(B)/tests/bench) \
	    PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 tests/bench/bench_figures.py

# Where the time goes; with functions that the compiler would else dissolve into their callers.
profile:
	$(Q)$(MAKE) --no-print-directory B=build/profile BIN=build/profile/belfry \
	    CFLAGS='-g -fno-inline-functions-called-once -fno-inline-small-functions' build
	$(Q)BELFRY=$(abspath build/profile/belfry) BENCH_PROGRAMS= PYTHONDONTWRITEBYTECODE=1 \
	    /usr/bin/python3 tests/bench/profile.py

# The simulator (tests/sim/README.md). `make sim` lives days 1 to SEEDS (or SEEDS=a-b), `make sim
# SEED=n` one of them with a trace; STORE=sqlite puts SQLite behind them, SERVERS=3 lets three servers
# share a store. DIGEST=1 prints a number for all that was decided, which a change that should change
# nothing leaves alone. Planted bugs are compiled
# only into a variant of their own: `make sim SEED=n PLANT=name` shows one being caught.
SEEDS ?= 2000
ifeq ($(PLANT),)
sim: $(SIM)
	$(Q)$(SIM) $(if $(filter sqlite,$(STORE)),--sqlite) $(if $(filter 3,$(SERVERS)),--cluster) \
	    $(if $(DIGEST),--digest) $(if $(SEED),--seed=$(SEED),--seeds=$(SEEDS) --jobs=$(shell nproc))
else
sim:
	$(Q)$(MAKE) --no-print-directory VARIANT=plants PLANT= run-plant NAME=$(PLANT)
endif

run-plant: $(SIM)
	$(Q)$(SIM) --plant=$(NAME) $(if $(filter 3,$(SERVERS)),--cluster) \
	    $(if $(SEED),--seed=$(SEED),--seeds=$(SEEDS))

# A year of a thousand schedules in ten time zones (tests/year/year.c), by SEED.
sim-year: $(YEAR)
	$(Q)$(YEAR) $(SEED)

# Each must be caught within 2,000 days, and the program itself must know nothing of them.
sim-plants: $(BIN)
	$(Q)if nm $(BIN) | grep plant_active; then exit 1; fi
	$(Q)$(MAKE) --no-print-directory VARIANT=plants run-plants

run-plants: $(SIM)
	$(Q)$(SIM) --plants --seeds=2000 --jobs=$(shell nproc)

# ---- the rest

# There is a script of that name, which would make `make test` say that it is up to date.
test:
	./test

# SCENARIOS="kills pause" chooses, CHAOS_SCALE=0.1 makes it shorter: see tests/chaos/chaos.py.
chaos: build
	$(Q)BELFRY=$(CURDIR)/build/belfry CHAOS_REPORT=tests/night/chaos.txt \
	    /usr/bin/python3 tests/chaos/chaos.py $(SCENARIOS)

# STEPS="fuzz soak" chooses, NIGHT_SCALE=0.1 makes it shorter: see scripts/night.
night:
	$(Q)scripts/night $(STEPS)

tidy: $(if $(filter no,$(WEB)),,web-types)
	$(Q)scripts/tidy

# The tables of docs/ that the program prints.
docs: $(BIN)
	$(Q)scripts/docs write

format:
	$(Q)find src tests -name '*.[ch]' | xargs clang-format -i

# A stamp per file, as young as its object: what changed, in it or in its headers, is read again.
# Tests are left to compilers and sanitizers: they would double the time.
TIDY_SRCS := $(wildcard src/main.c) $(filter-out %_test.c,$(ALL_SRCS))
# TIDY_FLAGS=--checks=-clang-analyzer-* leaves out what takes two thirds of the time.
tidy-deep: $(TIDY_SRCS:%.c=$(B)/tidy/%.ok)

# clang-tidy counts suppressed warnings on stderr, which is of interest only when it fails.
$(B)/tidy/%.ok: %.c $(B)/%.o .clang-tidy
	$(call say,TIDY,$<)
	$(Q)mkdir -p $(@D) && { clang-tidy --quiet $(TIDY_FLAGS) $< -- $(cpp_flags) -std=c17 2>$@.err || \
	    { cat $@.err; exit 1; }; } && mv $@.err $@

install: $(BIN)
	install -D -m 755 $(BIN) $(DESTDIR)$(PREFIX)/bin/belfry

clean:
	rm -rf build

-include $(shell [ -d $(B) ] && find $(B) -name '*.d')
