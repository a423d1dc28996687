# Builds lagom and liblagom, tests them, and reproduces the paper's table.
# `make help` lists the targets. Everything made goes under build/; one
# directory per BUILD and compiler, so that their objects never mix.

VERSION := 0.1.0

BUILD  ?= release
PREFIX ?= /usr/local
JOBS   ?= $(shell nproc 2>/dev/null || echo 1)
ifeq ($(origin CC),default)
CC := gcc
endif
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(JOBS)
endif
MAKEFLAGS += --no-builtin-rules --no-print-directory
Q := $(if $(V),,@)

# --- where things go ---------------------------------------------------------

# build/release for cc and gcc, build/release-clang for clang, and so on.
COMPILER := $(firstword $(filter-out -% ccache,$(notdir $(CC))))
DIR      := build/$(BUILD)$(addprefix -,$(filter-out cc gcc,$(COMPILER)))
PROGRAM  := $(if $(filter build/release,$(DIR)),build/lagom,$(DIR)/lagom)
LIBRARY  := $(DIR)/liblagom.a

FOLDERS     := model model/nccl sim search validate validate/replay
SOURCES     := $(filter-out sim/main.c validate/model.c validate/replay/main.c,$(wildcard $(FOLDERS:%=%/*.c)))
OBJECTS     := $(SOURCES:%.c=$(DIR)/%.o)
MAIN        := $(DIR)/sim/main.o
TESTS       := $(wildcard tests/unit/test_*.c tests/property/test_*.c)
TEST_BINS   := $(TESTS:%.c=$(DIR)/%)
SIMGRID_BIN := $(DIR)/tests/simgrid/test_simgrid
MODEL_BIN   := $(DIR)/validate/model
REPLAY_BIN  := $(DIR)/lagom-replay
REPLAY_MAIN := $(DIR)/validate/replay/main.o
CUDA_OBJECTS := $(patsubst %.cu,$(DIR)/%.cu.o,$(wildcard validate/replay/*.cu))
ALL_OBJECTS := $(REPLAY_MAIN) $(OBJECTS) $(MAIN) $(TEST_BINS:%=%.o) $(SIMGRID_BIN).o \
	$(MODEL_BIN).o

# --- flags: ours, then the user's -------------------------------------------

WARN := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wdouble-promotion \
	-Wstrict-prototypes -Wmissing-prototypes -Wundef -Wvla -Wwrite-strings

MODE_release := -O2
MODE_debug   := -O0
MODE_asan    := -O1 -fsanitize=address,undefined -fno-sanitize-recover=all \
	-fno-omit-frame-pointer
MODE_tsan    := -O1 -fsanitize=thread
MODE_cov     := -O0 --coverage
MODE := $(MODE_$(BUILD))
ifeq ($(MODE),)
$(error BUILD=$(BUILD) is not one of release debug asan tsan cov)
endif

# One call and no message: .ci/deps says better what is missing. libcsv has no
# file for pkg-config.
LIBS        := gsl yaml-0.1 jansson expat
LIB_CFLAGS  := $(shell pkg-config --cflags $(LIBS) 2>/dev/null)
LIB_LIBS    := $(shell pkg-config --libs $(LIBS) 2>/dev/null) -lcsv -lm
TEST_CFLAGS := $(shell pkg-config --cflags cmocka 2>/dev/null)
TEST_LIBS   := $(shell pkg-config --libs cmocka 2>/dev/null || echo -lcmocka)

# -ffp-contract=off keeps the fingerprint equal across compilers, the prefix
# map keeps the files equal across directories.
LANG_FLAGS := -std=c11 -D_GNU_SOURCE -I. -Ibuild $(LIB_CFLAGS)
COMPILE = $(CC) $(LANG_FLAGS) $(WARN) $(if $(filter 1,$(WERROR)),-Werror) \
	-g $(MODE) -ffp-contract=off -ffile-prefix-map=$(CURDIR)=. -pthread \
	$(CPPFLAGS) $(CFLAGS)
LINK = $(CC) $(MODE) -pthread $(CFLAGS) $(LDFLAGS)

# --- CUDA, for lagom-replay: CUDA_HOME, NVCC and NCCL_HOME say where ----------

CUDA_HOME ?= $(patsubst %/bin/nvcc,%,$(firstword \
	$(shell command -v nvcc 2>/dev/null) $(wildcard /usr/local/cuda/bin/nvcc)))
NVCC      ?= $(wildcard $(CUDA_HOME)/bin/nvcc)
# Of these, what the compiler knows; newer GPUs translate the code for the first.
CUDA_ARCHS ?= 80 90 100 120
CUDA_KNOWN  = $(patsubst compute_%,%,$(shell $(NVCC) --list-gpu-arch))
CUDA_FOR    = $(filter $(CUDA_KNOWN),$(CUDA_ARCHS))
NVCC_FLAGS  = -std=c++17 -O2 -lineinfo -I. -Xcompiler -Wall,-Wextra,-pthread \
	$(foreach arch,$(CUDA_FOR),-gencode arch=compute_$(arch),code=sm_$(arch)) \
	-gencode arch=compute_$(firstword $(CUDA_FOR)),code=compute_$(firstword $(CUDA_FOR)) \
	$(addprefix -I,$(NCCL_HOME:%=%/include)) $(if $(filter 1,$(WERROR)),-Werror all-warnings)
# STATIC=1: for a machine without our packages.
REPLAY_LIBS = $(if $(STATIC),$(foreach lib,$(filter-out -lm,$(filter -l%,$(LIB_LIBS))),\
	$(shell $(CC) -print-file-name=$(lib:-l%=lib%.a))) -lm,$(LIB_LIBS))

# --- packages, as Debian names them ------------------------------------------

# gcc only recommends libc6-dev, so it is named. Another CC is its own package.
BUILD_PACKAGES := $(or $(filter-out cc,$(COMPILER)),gcc) libc6-dev make \
	pkg-config libgsl-dev libyaml-dev libjansson-dev libexpat1-dev \
	libcsv-dev
CHECK_PACKAGES := $(BUILD_PACKAGES) libcmocka-dev jq
LINT_PACKAGES  := $(BUILD_PACKAGES) clang-format clang-tidy shellcheck
PLOT_PACKAGES  := gnuplot-nox

# --- the paper's table: what workloads quote as published --------------------

REPRODUCE ?= --published --seeds 5 --strategies nccl,autoccl,lagom,lagom+,oracle

# --- targets -----------------------------------------------------------------

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all deps need reproduce check check-long tests bench threads simgrid \
	validate replay measure plots plot-files lint format coverage golden-update install \
	uninstall dist clean help FORCE

all: $(PROGRAM) $(LIBRARY) ## build the program and the library (default)

# Those that need packages install them, then start make anew: the flags above
# were read before the packages were there.

deps: ## install the Debian packages that a build needs, if any is missing
	@.ci/deps $(BUILD_PACKAGES)

reproduce: deps ## print the paper's speedup table, from a bare machine on
	@$(MAKE) all
	$(Q)$(PROGRAM) compare $(REPRODUCE)

check: ## run the unit, property and golden tests
	@.ci/deps $(CHECK_PACKAGES)
	@$(MAKE) all tests
	@BUILD_DIR=$(DIR) tests/run $(TEST_BINS) tests/golden.sh

check-long: ## the same with 20,000 random cases per property
	@LAGOM_CASES=20000 TEST_TIMEOUT=3600 $(MAKE) check

tests: $(TEST_BINS)
	@:

bench: deps ## measure the speed of this build
	@$(MAKE) all
	@BUILD_DIR=$(DIR) tests/bench/bench.sh

threads: $(DIR)/tests/unit/test_threads ## simulations side by side; for BUILD=tsan
	@$<

simgrid: ## compare our sharing of links with SimGrid's, where it is installed
	@.ci/deps $(CHECK_PACKAGES)
	@if pkg-config --exists simgrid; then \
		$(MAKE) $(SIMGRID_BIN) && \
		BUILD_DIR=$(DIR) tests/run $(SIMGRID_BIN); \
	else \
		echo '1..0 # SKIP SimGrid (libsimgrid-dev) is not installed'; \
		echo '0 passed, 0 failed'; \
	fi

validate: deps ## print how near models come to measurements, and the cost model to the simulator
	@$(MAKE) all $(MODEL_BIN)
	@$(PROGRAM) validate --budget tests/accuracy.yaml
	@echo; $(PROGRAM) validate autoccl-a40-allgather --format csv | \
		awk -f validate/peaks.awk
	@echo; BUILD_DIR=$(DIR) validate/calibrated.sh
	@BUILD_DIR=$(DIR) validate/gemm.sh
	@BUILD_DIR=$(DIR) validate/model.sh
	@echo; BUILD_DIR=$(DIR) validate/patterns.sh
	@echo; BUILD_DIR=$(DIR) validate/figure3.sh
	@echo; BUILD_DIR=$(DIR) validate/growth.sh 1 2 4 8 16

replay: ## build lagom-replay, which measures on real GPUs; needs CUDA's nvcc
	@if [ -n "$(NVCC)" ]; then \
		.ci/deps $(BUILD_PACKAGES) && $(MAKE) $(REPLAY_BIN) && \
			ln -sf $(REPLAY_BIN:build/%=%) build/lagom-replay; \
	else \
		echo 'replay: skipped: no nvcc in PATH or /usr/local/cuda/bin; install' \
			'the CUDA toolkit (developer.nvidia.com/cuda-downloads)' \
			'or write CUDA_HOME=...'; \
	fi

measure: ## measure this machine's GPU, fit a GPU file's numbers to it
	@validate/measure.sh

plots: ## draw build/plots/*.svg and *.png from fresh results
	@.ci/deps $(BUILD_PACKAGES) $(PLOT_PACKAGES)
	@$(MAKE) plot-files

lint: ## check format, clang-tidy, layers, names and scripts
	@.ci/deps $(LINT_PACKAGES)
	@$(MAKE) build/version.h
	@LANG_FLAGS='$(LANG_FLAGS)' JOBS=$(JOBS) tests/lint/run

format: ## put every C file into the project's format
	@tests/lint/format.sh -i

coverage: ## run the tests and print the lines they reach, per file
	@find build/cov -name '*.gcda' -delete 2>/dev/null || true
	@$(MAKE) CC=gcc BUILD=cov check
	@find build/cov -name '*.gcda' ! -path '*/tests/*' -exec gcov -n {} + | \
	awk -F"[':]" '/^File/ {file = $$2} /^Lines executed/ && file !~ /^\// && \
		file != "" {print $$2 "\t" file; file = ""}' | sort -n

golden-update: ## rewrite what the golden tests expect
	@$(MAKE) all
	@BUILD_DIR=$(DIR) tests/golden.sh --update

bindir     = $(PREFIX)/bin
libdir     = $(PREFIX)/lib
includedir = $(PREFIX)/include
datadir    = $(PREFIX)/share
# What a user of the library needs, not the rooms behind.
PRIVATE   := model/collective_parts.h model/node_build.h model/node_merge.h model/schema_source.h model/topology_read.h \
	model/nccl/bound.h model/nccl/cut.h model/nccl/channels.h model/nccl/machine.h model/nccl/paths.h \
	model/nccl/search.h model/nccl/walk.h $(wildcard model/nccl/*_parts.h) model/nccl/xml_fit.h model/nccl/xml_build.h \
	model/workload_row.h model/workload_build.h model/transformer.h model/moe.h model/tp.h \
	sim/state.h sim/cli.h sim/cli_table.h sim/load.h sim/report.h sim/cmd_show.h sim/cmd_import.h \
	sim/draw.h sim/nccl_options.h search/perf.h search/compare.h search/uncertainty.h search/explain_nccl.h \
	search/tuned.h search/descent.h search/trial.h search/moves.h search/chosen.h \
	search/explain_change.h search/explain_words.h search/explain_print.h search/paragraph.h search/memo.h \
	search/candidates.h search/forest.h search/lagom_climb.h search/probe.h search/surrogate.h search/surrogate_parts.h \
	sim/window_beside.h sim/window_span.h validate/record_columns.h \
	validate/predict_parts.h validate/verdict_print.h validate/commands.h \
	validate/fit_parts.h validate/calibrate_parts.h validate/calibrate_print.h validate/measured.h \
	validate/log_parts.h validate/import_nccl_tests.h \
	$(wildcard validate/replay/*.h)
HEADERS   := $(filter-out $(PRIVATE),$(wildcard $(FOLDERS:%=%/*.h)))

define PC_FILE
prefix=$(PREFIX)
libdir=$${prefix}/lib
includedir=$${prefix}/include
datadir=$${prefix}/share/lagom

Name: lagom
Description: simulate how collectives and kernels share GPUs
URL: https://arxiv.org/abs/2602.20656
Version: $(VERSION)
Requires: $(LIBS)
Cflags: -I$${includedir}/lagom
Libs: -L$${libdir} -llagom -lcsv -lm -pthread
endef
export PC_FILE

install: all ## install under PREFIX (/usr/local), below DESTDIR if set
	$(Q)install -D -m 755 $(DIR)/lagom $(DESTDIR)$(bindir)/lagom
	$(Q)[ ! -x $(REPLAY_BIN) ] || \
		install -D -m 755 $(REPLAY_BIN) $(DESTDIR)$(bindir)/lagom-replay
	$(Q)install -D -m 644 $(LIBRARY) $(DESTDIR)$(libdir)/liblagom.a
	$(Q)install -d $(DESTDIR)$(libdir)/pkgconfig
	$(Q)printf '%s\n' "$$PC_FILE" >$(DESTDIR)$(libdir)/pkgconfig/lagom.pc
	$(Q)for file in $(HEADERS); do \
		install -D -m 644 $$file $(DESTDIR)$(includedir)/lagom/$$file || \
			exit 1; \
	done
	$(Q)find topologies workloads validate/records -type f -exec install -D -m 644 {} \
		$(DESTDIR)$(datadir)/lagom/{} \;

uninstall: ## remove what install put there
	$(Q)rm -f $(DESTDIR)$(bindir)/lagom $(DESTDIR)$(bindir)/lagom-replay $(DESTDIR)$(libdir)/liblagom.a \
		$(DESTDIR)$(libdir)/pkgconfig/lagom.pc
	$(Q)rm -rf $(DESTDIR)$(includedir)/lagom $(DESTDIR)$(datadir)/lagom

dist: ## pack the last commit as build/lagom-VERSION.tar.gz
	$(Q)mkdir -p build
	$(Q)git archive --prefix=lagom-$(VERSION)/ HEAD | gzip -n \
		>build/lagom-$(VERSION).tar.gz
	@echo build/lagom-$(VERSION).tar.gz

clean: ## remove build/
	$(Q)rm -rf build

help: ## print this list
	@awk -F': .*## |:.*## ' '/^[a-z-]+:.*## / {printf "%-14s %s\n", $$1, $$2}' \
		$(MAKEFILE_LIST)
	@echo
	@echo 'BUILD=release|debug|asan|tsan|cov  CC=gcc|clang  WERROR=1  V=1'

# --- how files are made ------------------------------------------------------

# Stops with one clear line when a tool or library is missing.
need:
	@.ci/deps --check $(BUILD_PACKAGES)

# $(call keep,TEXT): write TEXT to the target, only when it is not there yet,
# so that what depends on it is made anew only when it must be.
quote = '$(subst ','\'',$(1))'
keep = @mkdir -p $(@D) && printf '%s\n' $(call quote,$(1)) >$@.$$$$ && \
	if cmp -s $@.$$$$ $@; then rm $@.$$$$; else mv $@.$$$$ $@; fi

# Only this repository's own commit, not that of one around an unpacked tar.
COMMIT = $(if $(wildcard .git),$(shell GIT_OPTIONAL_LOCKS=0 \
	git describe --always --dirty --exclude='*' 2>/dev/null))

define VERSION_HEADER
#define LAGOM_VERSION "$(VERSION)$(addprefix +,$(COMMIT))"
#define LAGOM_DATA_FOLDER "$(datadir)/lagom"
endef
export VERSION_HEADER

build/version.h: FORCE | need
	@mkdir -p $(@D) && printf '%s\n' "$$VERSION_HEADER" >$@.$$$$ && \
	if cmp -s $@.$$$$ $@; then rm $@.$$$$; else mv $@.$$$$ $@; fi

$(DIR)/flags: FORCE | need
	$(call keep,$(COMPILE) $(LDFLAGS))

# Tells when a source has gone, which no date does.
$(DIR)/objects: FORCE | need
	$(call keep,$(OBJECTS))

$(ALL_OBJECTS): $(DIR)/%.o: %.c $(DIR)/flags | build/version.h
	@mkdir -p $(@D)
	$(if $(V),,@echo '  CC    $@')
	$(Q)$(COMPILE) $(if $(filter tests/%,$<),$(TEST_CFLAGS)) -MMD -MP -c -o $@ $<

$(LIBRARY): $(OBJECTS) $(DIR)/objects
	$(if $(V),,@echo '  AR    $@')
	$(Q)rm -f $@
	$(Q)ar rcsD $@ $(OBJECTS)

$(DIR)/lagom: $(MAIN) $(LIBRARY)
	$(if $(V),,@echo '  LINK  $@')
	$(Q)$(LINK) -o $@ $^ $(LIB_LIBS) $(LDLIBS)

build/lagom: build/release/lagom
	$(Q)ln -sf release/lagom $@

$(SIMGRID_BIN): TEST_LIBS += -lsimgrid

$(MODEL_BIN): %: %.o $(LIBRARY)
	$(if $(V),,@echo '  LINK  $@')
	$(Q)$(LINK) -o $@ $^ $(LIB_LIBS) $(LDLIBS)

$(CUDA_OBJECTS): $(DIR)/%.cu.o: %.cu $(DIR)/nvcc-flags
	@mkdir -p $(@D)
	$(if $(V),,@echo '  NVCC  $@')
	$(Q)$(NVCC) $(NVCC_FLAGS) -MMD -MP -MF $(@:.o=.d) -c -o $@ $<

$(DIR)/nvcc-flags: FORCE | need
	$(call keep,$(NVCC) $(NVCC_FLAGS))

$(REPLAY_BIN): $(REPLAY_MAIN) $(CUDA_OBJECTS) $(LIBRARY)
	$(if $(V),,@echo '  LINK  $@')
	$(Q)$(NVCC) -o $@ $^ $(addprefix -Xcompiler ,$(filter -f%,$(MODE))) \
		$(REPLAY_LIBS) -lcublasLt -ldl \
		-Xlinker -rpath,$(CUDA_HOME)/lib64 $(LDLIBS)

$(TEST_BINS) $(SIMGRID_BIN): %: %.o $(LIBRARY)
	$(if $(V),,@echo '  LINK  $@')
	$(Q)$(LINK) -o $@ $^ $(TEST_LIBS) $(LIB_LIBS) $(LDLIBS)

# A plot is plots/NAME.gp over build/plots/NAME.csv.
PLOTS := $(patsubst plots/%.gp,build/plots/%,$(wildcard plots/*.gp))

plot-files: $(PLOTS:%=%.svg) $(PLOTS:%=%.png)

build/plots/speedup.csv: $(PROGRAM) $(wildcard topologies/*.yaml \
		topologies/gpu/*.yaml topologies/nccl/*.yaml workloads/*.yaml)
	$(Q)mkdir -p $(@D)
	$(Q)$(PROGRAM) compare --format csv $(REPRODUCE) >$@

$(PLOTS:%=%.svg): build/plots/%.svg: plots/%.gp build/plots/%.csv
	@echo '  PLOT  $@'
	$(Q)LC_ALL=C.UTF-8 gnuplot -e "input='build/plots/$*.csv'; output='$@'" $<

$(PLOTS:%=%.png): build/plots/%.png: plots/%.gp build/plots/%.csv
	@echo '  PLOT  $@'
	$(Q)LC_ALL=C.UTF-8 gnuplot -e "input='build/plots/$*.csv'; output='$@'" $<

-include $(ALL_OBJECTS:.o=.d) $(CUDA_OBJECTS:.o=.d)
