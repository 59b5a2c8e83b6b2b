# Warp & Weft: the only build file. The chapter web/pipeline.nw says why it
# is built as it is; `make help` lists the targets.

VERSION := 0.1.0

# ---------------------------------------------------------------------------
# What may be set on the command line.

CONFIG ?= release
TANGLE ?= yes
LINES ?= kept
TESTS ?=
PREFIX ?= /usr/local
DESTDIR ?=
NAME ?=
CUDA_ARCHS ?= 80 90
CXX := $(if $(filter default undefined,$(origin CXX)),g++,$(CXX))
NVCC ?= $(firstword $(shell command -v nvcc) $(wildcard /usr/local/cuda/bin/nvcc))
PYTHON ?= $(firstword $(wildcard /usr/bin/python3) python3)
# Where the tests run their kernels: on the card if there is one, else on the loom.
DEVICE ?= $(if $(and $(NVCC),$(wildcard /dev/nvidiactl /dev/nvhost-gpu /dev/dxg)),cuda,loom)

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
MAKEFLAGS += --no-builtin-rules --no-builtin-variables --no-print-directory
# As many jobs as there are processors, unless the command line says otherwise.
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(shell nproc)
endif
export PYTHONDONTWRITEBYTECODE := 1
.DELETE_ON_ERROR:
.SUFFIXES:
.SECONDARY:

# ---------------------------------------------------------------------------
# The targets that people type.

.PHONY: all help deps tangle build test manual demo bench lint watch \
  install clean component FORCE
.DEFAULT_GOAL := all
FORCE:

all: ## tangle, build and weave everything
tangle: ## write generated/ from the chapters
build: ## compile the library, the tool and the tests
test: ## build, then run every test (TESTS='filter' for some)
manual: ## weave the chapters into build/manual.pdf
demo: ## smooth a real head CT, estimate a wavefront, scan the head; draw all
bench: ## time the library beside its peers
lint: ## check chapters, code, spelling and the manual's log
watch: ## make again whenever a file is saved
install: ## copy headers, library, tool and manual below PREFIX
component: ## lay down a chapter and its tests (NAME=x)
deps: ## install what the rest needs (Debian 12, 13, Ubuntu 24.04)
clean: ## remove generated/ and build/

help: ## list the targets and the variables
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/\1|\2/p' Makefile | \
	  awk -F'|' '{ printf "  make %-10s %s\n", $$1, $$2 }'
	@echo
	@echo "  CONFIG=release|debug|sanitize|coverage   TANGLE=no   LINES=exact"
	@echo "  DEVICE=cuda|loom   CUDA_ARCHS='80 90'   NVCC= (no CUDA)   CXX=   CXXFLAGS=   PREFIX="

clean:
	rm -rf generated build

# Goals that change what make has read stand alone: with others beside them,
# each goal gets a make of its own, in the order given.
GOALS := $(or $(MAKECMDGOALS),all)
ALONE := help deps clean component watch
ifneq ($(and $(filter $(ALONE),$(GOALS)),$(filter-out $(ALONE),$(GOALS))),)
.NOTPARALLEL:
.PHONY: $(GOALS)
SEPARATE := yes
$(filter-out clean help,$(GOALS)):
	@$(MAKE) $@
else
WORK := $(filter-out $(ALONE),$(GOALS))
endif

# ---------------------------------------------------------------------------
# Tangling. Each chapter's list of files is a makefile of its own: make
# remakes it first, by tangling, then starts again with every file in place.

CHAPTERS := $(wildcard web/*.nw tests/*.nw)
BOOTSTRAP := build/bootstrap/tangle.py
both = $(1:%=generated/%) $(1:%=build/plain/%)
missing = $(if $(filter-out $(wildcard $(both)),$(both)),FORCE)
SOURCES :=

ifneq ($(WORK),)
ifeq ($(TANGLE),no)
  SOURCES := $(patsubst generated/%,%,$(wildcard generated/*/*))
  W := generated
  ifeq ($(SOURCES),)
    $(error TANGLE=no, but generated/ is empty)
  endif
else
  ifeq ($(shell command -v notangle),)
    $(error notangle is missing: run `make deps`, or build with TANGLE=no)
  endif
  W := $(if $(filter exact,$(LINES)),generated,build/plain)
  STAMPS := $(CHAPTERS:%.nw=build/tangle/%.mk)
  ORPHANS := $(filter-out $(STAMPS),$(wildcard build/tangle/*/*.mk))
  ifneq ($(ORPHANS),)
    include $(ORPHANS)
    $(shell rm -f $(call both,$(SOURCES)) $(ORPHANS))
    $(shell touch -c -d @0 $(wildcard $(STAMPS)))
    SOURCES :=
  endif
  include $(STAMPS) build/manual/names.mk
endif
endif

build/tangle/%.mk: %.nw $(BOOTSTRAP)
	@echo "tangle $<"
	@$(PYTHON) $(BOOTSTRAP) $< $@

# The names that chapters share with each other, for weaving, keep their file's
# time in the same way.
build/manual/names.mk: $(STAMPS) $(if $(wildcard build/manual/names),,FORCE)
	@mkdir -p $(@D)
	@$(PYTHON) generated/scripts/public_names.py build/manual/names $(CHAPTERS)
	@touch $@

# The driver is tangled plainly; if that fails, the last one says at which line.
BOOTSTRAP_SCRIPTS := chapters.py lines.awk tangle.py
$(BOOTSTRAP): web/pipeline.nw
	@mkdir -p $(@D)/new
	@for script in $(BOOTSTRAP_SCRIPTS); do \
	  notangle -R"[[scripts/$$script]]" $< > $(@D)/new/$$script || { \
	    [ ! -e $@ ] || $(PYTHON) $@ $< build/tangle/web/pipeline.mk; exit 1; }; \
	done
	@mv $(BOOTSTRAP_SCRIPTS:%=$(@D)/new/%) $(@D)

# ---------------------------------------------------------------------------
# Compiling.

ifneq ($(filter-out tangle,$(WORK)),)

# Write a file only where its text changes, so that make sees what changed.
differ = $(or $(subst x$(1),,x$(2)),$(subst x$(2),,x$(1)))
remember = $(if $(call differ,$(file <$(1)),$(2)),$(file >$(1),$(2)))
empty :=
comma := ,
space := $(empty) $(empty)

# Libraries: fmt, FFTW and CLI11 must be there; the formats of files may be missing.
# A header found without pkg-config is linked by the library's usual name.
hash := \#
try = $(if $(shell echo '$(hash)include <$(1)>' | $(CXX) -std=c++20 -E -x c++ - \
  >/dev/null 2>&1 && echo yes),$(2))
HDF5 := $(or $(shell for p in hdf5 hdf5-serial; do \
  pkg-config --exists $$p 2>/dev/null && echo $$p && break; done),hdf5)
PACKAGES := fmt fftw3 fftw3f libpng libtiff-4 $(HDF5) cfitsio
FOUND := $(shell for p in $(PACKAGES) tomlplusplus 'catch2-with-main >= 3'; do \
  pkg-config --exists "$$p" 2>/dev/null && echo "$${p%% *}"; done)
LINKED := $(filter $(PACKAGES),$(FOUND))
ifneq ($(LINKED),)
  LIB_CFLAGS := $(shell pkg-config --cflags $(LINKED))
  LIB_LIBS := $(shell pkg-config --libs $(LINKED))
endif
# Descriptions of systems are read by the tool alone.
ifneq ($(filter tomlplusplus,$(FOUND)),)
  LIB_CFLAGS += $(shell pkg-config --cflags tomlplusplus)
  TOML_LIBS := $(shell pkg-config --libs tomlplusplus)
endif
define look_for
ifeq ($(filter $(1),$(FOUND)),)
  ifneq ($$(call try,$(2),yes),)
    FOUND += $(1)
    $(4) += $(3)
  endif
endif
endef
$(eval $(call look_for,fmt,fmt/format.h,-lfmt,LIB_LIBS))
$(eval $(call look_for,fftw3,fftw3.h,-lfftw3,LIB_LIBS))
$(eval $(call look_for,fftw3f,fftw3.h,-lfftw3f,LIB_LIBS))
$(eval $(call look_for,libpng,png.h,-lpng,LIB_LIBS))
$(eval $(call look_for,libtiff-4,tiffio.h,-ltiff,LIB_LIBS))
$(eval $(call look_for,$(HDF5),hdf5.h,-lhdf5,LIB_LIBS))
$(eval $(call look_for,cfitsio,fitsio.h,-lcfitsio,LIB_LIBS))
$(eval $(call look_for,tomlplusplus,toml++/toml.h,,TOML_LIBS))
ifneq ($(filter catch2-with-main,$(FOUND)),)
  CATCH_LIBS := $(shell pkg-config --libs catch2-with-main)
endif
$(eval $(call look_for,catch2-with-main,catch2/catch_test_macros.hpp,-lCatch2Main -lCatch2,CATCH_LIBS))
ifneq ($(filter-out $(FOUND),fmt fftw3),)
  $(error $(filter-out $(FOUND),fmt fftw3) is missing: run `make deps`)
endif
WITHOUT := $(if $(NVCC),,CUDA (no nvcc)) \
  $(foreach l,libpng libtiff-4 $(HDF5) cfitsio tomlplusplus,$(if $(filter $(l),$(FOUND)),,$(l)))

# The loom weaves with Boost.Context, and transforms with FFTW where it is.
ifeq ($(DEVICE),loom)
  ifeq ($(call try,boost/context/detail/fcontext.hpp,yes),)
    need_boost = $(error Boost.Context is missing: run `make deps`)
  endif
  HAS_FFTW := $(if $(call try,fftw3.h,yes),1,0)
  LOOM_LIBS := -lboost_context $(if $(filter 1,$(HAS_FFTW)),-lfftw3 -lfftw3f) -lpthread
else ifneq ($(DEVICE),cuda)
  $(error DEVICE=$(DEVICE) is unknown: cuda or loom)
else ifeq ($(NVCC),)
  $(error DEVICE=cuda needs nvcc)
endif
need_catch = $(if $(filter catch2-with-main,$(FOUND)),,$(error Catch2 3 is missing: run `make deps`))

has = $(if $(filter $(1),$(FOUND)),1,0)
DEFINES := -DWEFT_VERSION='"$(VERSION)"' -DWEFT_HAS_CUDA=$(if $(NVCC),1,0) \
  -DWEFT_HAS_PNG=$(call has,libpng) -DWEFT_HAS_TIFF=$(call has,libtiff-4) \
  -DWEFT_HAS_HDF5=$(call has,$(HDF5)) -DWEFT_HAS_FITS=$(call has,cfitsio) \
  -DWEFT_HAS_TOML=$(call has,tomlplusplus)

# Configurations, each with a folder of its own.
O := build/$(CONFIG)
ifeq ($(CONFIG),release)
  OPTIMISE := -O3 -g
  TEST_OPTIMISE := -O1 -g
  CUDA_OPTIMISE := -O3 -lineinfo
else ifeq ($(CONFIG),debug)
  OPTIMISE := -Og -g3
  CUDA_OPTIMISE := -O0 -g -G
else ifeq ($(CONFIG),sanitize)
  INSTRUMENT := -fsanitize=address -fsanitize=undefined -fno-sanitize=null \
    -fno-sanitize=vptr -fno-sanitize-recover=all -fno-omit-frame-pointer
  OPTIMISE := -O1 -g1
  CUDA_OPTIMISE := -O1 -g -lineinfo
else ifeq ($(CONFIG),coverage)
  INSTRUMENT := --coverage
  OPTIMISE := -O0 -g
  CUDA_OPTIMISE := -O1 -g -lineinfo
else
  $(error CONFIG=$(CONFIG) is unknown: release, debug, sanitize or coverage)
endif
TEST_OPTIMISE ?= $(OPTIMISE)

CXX_FLAGS := -std=c++20 -Igenerated -fopenmp -Wall -Wextra -Wpedantic -Wno-stringop-overflow -Wno-restrict \
  $(DEFINES) $(LIB_CFLAGS) $(INSTRUMENT)
# On the loom, CUDA's headers are the loom's. Kernels report each access, by the
# calls that the thread sanitizer would get, unless another sanitizer watches.
LOOM_FLAGS := $(filter-out -DWEFT_HAS_CUDA=%,$(CXX_FLAGS)) -Igenerated/loom \
  -DWEFT_HAS_CUDA=1 -DWEFT_LOOM=1 -DWEFT_HAS_FFTW=$(HAS_FFTW) \
  -Wno-psabi -Wno-subobject-linkage
LOOM_WATCH := $(if $(filter sanitize,$(CONFIG)),,-fsanitize=thread \
  --param=tsan-instrument-func-entry-exit=0 -fsanitize=bounds)
LOOM_OPTIMISE := $(if $(filter release,$(CONFIG)),-O1 -g,$(OPTIMISE)) -ffp-contract=off
# Line numbers are enough here: tracking variables takes as long as compiling.
SIMD_FLAGS := $(OPTIMISE) -g1 -ffp-contract=fast -Wno-psabi
ifneq ($(NVCC),)
  CUDA_HOME := $(patsubst %/bin/,%,$(dir $(realpath \
    $(shell command -v $(lastword $(NVCC))))))
  CXX_FLAGS += -isystem $(CUDA_HOME)/include
  CUDA_LIBS := -L$(CUDA_HOME)/lib64 -lcufft -Wl,-rpath,$(CUDA_HOME)/lib64 \
    -lcudart_static -lpthread -ldl -lrt
  NEWEST := $(lastword $(CUDA_ARCHS))
  GENCODE := $(foreach a,$(CUDA_ARCHS),-gencode arch=compute_$(a),code=sm_$(a)) \
    -gencode arch=compute_$(NEWEST),code=compute_$(NEWEST)
  # Products and sums are fused where a kernel says fma, and nowhere else.
  NVCC_FLAGS := -std=c++20 -Igenerated $(GENCODE) $(CUDA_OPTIMISE) -fmad=false \
    $(DEFINES) $(LIB_CFLAGS) -Xcompiler \
    $(subst $(space),$(comma),$(strip -fopenmp -Wall -Wextra $(INSTRUMENT)))
endif

# What is compiled, by folder.
ON_X86 := $(filter x86_64,$(shell uname -m))
ISAS := $(if $(ON_X86),1 3 4,1)
MARCH_1 := $(if $(ON_X86),-march=x86-64)
MARCH_3 := -march=x86-64-v3
# A fused multiply-add is an instruction there, where the processor has it.
LOOM_MARCH := $(if $(and $(ON_X86),$(shell grep -m 1 -w fma /proc/cpuinfo)),$(MARCH_3))
MARCH_4 := -march=x86-64-v4

LIB_SOURCES := $(filter lib/%.cpp,$(SOURCES))
SIMD := $(filter %_simd.cpp,$(LIB_SOURCES))
STUBS := $(filter %_stub.cpp,$(LIB_SOURCES))
PLAIN := $(filter-out $(SIMD) $(STUBS),$(LIB_SOURCES))
GPU_SOURCES := $(if $(NVCC),$(filter lib/%.cu,$(SOURCES)),$(STUBS))
object = $(patsubst %,$(O)/%.o,$(1))
LIB_OBJECTS := $(call object,$(PLAIN) $(GPU_SOURCES)) \
  $(foreach i,$(ISAS),$(SIMD:%.cpp=$(O)/%.isa$(i).o))
TOOL_OBJECTS := $(call object,$(filter tool/%.cpp,$(SOURCES)))
ON := $(if $(filter loom,$(DEVICE)),.loom)
TEST_SOURCES := $(filter tests/%_test.cpp tests/%_test.cu,$(SOURCES))
TEST_OBJECTS := $(TEST_SOURCES:%=$(O)/%$(ON).o)
LOOM_OBJECTS := $(if $(ON),$(patsubst %,$(O)/%.loom.o,\
  $(filter loom/%.cpp lib/%.cu,$(SOURCES))))
PROGRAMS := $(patsubst %.cpp,$(O)/%,\
  $(filter bench/%.cpp demo/%.cpp figures/%.cpp,$(SOURCES)))
LOOM_BENCH_OBJECTS := $(if $(ON),$(patsubst %,$(O)/%.loom.o,\
  $(filter bench/%.cpp,$(SOURCES))))
OBJECTS := $(LIB_OBJECTS) $(TOOL_OBJECTS) $(TEST_OBJECTS) $(LOOM_OBJECTS) \
  $(PROGRAMS:%=%.cpp.o) $(LOOM_BENCH_OBJECTS)

LIBRARY := $(if $(LIB_OBJECTS),$(O)/libweft.a)
TOOL := $(if $(TOOL_OBJECTS),$(O)/weft build/weft)
TEST_BINARY := $(if $(TEST_OBJECTS),$(O)/weft_tests$(subst .,_,$(ON)))

$(shell mkdir -p $(addprefix $(O)/,lib loom tool tests bench demo figures))

# One command a kind of source: the rules and compile_commands.json use it.
cxx_optimise = $(if $(filter tests/%,$(1)),$(TEST_OPTIMISE),$(OPTIMISE))
compile_cpp = $(CXX) $(CXX_FLAGS) $(cxx_optimise) $(CXXFLAGS) -c generated/$(1)
compile_cu = $(NVCC) $(NVCC_FLAGS) $(NVCCFLAGS) -c generated/$(1)
compile_loom = $(CXX) $(LOOM_FLAGS) $(if $(filter %.cu,$(1)),\
  $(LOOM_WATCH) $(LOOM_MARCH) $(LOOM_OPTIMISE),$(cxx_optimise)) \
  $(CXXFLAGS) -x c++ -c generated/$(1)
compile_simd = $(CXX) $(CXX_FLAGS) $(SIMD_FLAGS) $(MARCH_$(2)) \
  -DWEFT_ISA=$(2) $(CXXFLAGS) -c generated/$(1)

# Objects are made again when these flags change.
$(call remember,$(O)/flags,$(call compile_cpp,tests/) $(OPTIMISE) \
  $(call compile_cu) $(call compile_simd,,1) $(if $(ON),$(call compile_loom,x.cu)))
$(call remember,$(O)/objects,$(OBJECTS))

# An object depends on its sources without line directives, which is why the
# names in its list of headers are changed after compiling.
note_headers = -MMD -MP -MF $@.d -o $@ && sed -i 's|generated/|$$(W)/|g' $@.d

$(O)/%.cpp.o: $(W)/%.cpp $(O)/flags
	$(if $(filter tests/%,$*),$(need_catch))@echo "compile $*.cpp"
	@$(call compile_cpp,$*.cpp) $(note_headers)

$(O)/%.cu.o: $(W)/%.cu $(O)/flags
	$(if $(filter tests/%,$*),$(need_catch))@echo "compile $*.cu"
	@$(call compile_cu,$*.cu) $(note_headers)

# On the loom, CUDA sources are C++, read by the host's compiler.
$(O)/%.loom.o: $(W)/% $(O)/flags
	$(if $(filter tests/%,$*),$(need_catch))$(need_boost)@echo "compile $* for the loom"
	@$(call compile_loom,$*) $(note_headers)

define simd_rule
$(O)/%.isa$(1).o: $(W)/%.cpp $(O)/flags
	@echo "compile $$*.cpp for instruction set $(1)"
	@$$(call compile_simd,$$*.cpp,$(1)) $$(note_headers)
endef
$(foreach i,$(ISAS),$(eval $(call simd_rule,$(i))))

$(O)/libweft.a: $(LIB_OBJECTS) $(O)/objects
	@echo "archive $@$(if $(strip $(WITHOUT)), without $(strip $(WITHOUT)))"
	@rm -f $@; ar rcs $@ $(LIB_OBJECTS)

link = $(CXX) -fopenmp $(INSTRUMENT) $(LDFLAGS) -o $@ $(filter %.o,$^) \
  $(LIBRARY) $(1) $(LIB_LIBS) $(CUDA_LIBS)

$(O)/weft: $(TOOL_OBJECTS) $(LIBRARY) $(O)/objects
	@echo "link $@"
	@$(call link,$(TOML_LIBS))

# Functions that many files define, such as those of strings, come from the file
# that is linked first: one of those that are not watched.
WATCHED := %.cu.loom.o
$(O)/weft_tests $(O)/weft_tests_loom: \
  $(filter-out $(WATCHED),$(TEST_OBJECTS) $(LOOM_OBJECTS)) \
  $(filter $(WATCHED),$(TEST_OBJECTS) $(LOOM_OBJECTS)) $(LIBRARY) $(O)/objects
	@echo "link $@"
	@$(call link,$(CATCH_LIBS) $(if $(ON),$(LOOM_LIBS)))

$(PROGRAMS): $(O)/%: $(O)/%.cpp.o $(LIBRARY)
	@echo "link $@"
	@$(link)

# A tool and benchmarks that take the loom for a card, for the tests.
LOOM_TOOL := $(if $(and $(ON),$(TOOL_OBJECTS)),$(O)/weft_loom)
LOOM_BENCH := $(LOOM_BENCH_OBJECTS:.cpp.loom.o=_loom)
$(O)/weft_loom: $(TOOL_OBJECTS)
$(LOOM_BENCH): %_loom: %.cpp.loom.o
$(O)/weft_loom $(LOOM_BENCH): $(filter-out $(WATCHED),$(LOOM_OBJECTS)) \
  $(filter $(WATCHED),$(LOOM_OBJECTS)) $(LIBRARY) $(O)/objects
	@echo "link $@"
	@$(call link,$(LOOM_LIBS) $(TOML_LIBS))

# build/weft is the tool of the configuration that was built last.
ifneq ($(shell readlink build/weft),$(CONFIG)/weft)
.PHONY: build/weft
endif
build/weft: $(O)/weft
	@ln -sfn $(CONFIG)/weft $@

# clangd and its kind look for this file in build/.
escaped = $(subst ",\",$(subst \,\\,$(1)))
entry = {"directory": "$(CURDIR)", "file": "generated/$(1)", "command": "$(call escaped,$(2))"}
entries = $(foreach s,$(PLAIN) $(filter tool/%.cpp tests/%.cpp bench/%.cpp demo/%.cpp figures/%.cpp,$(SOURCES)),$(call entry,$(s),$(call compile_cpp,$(s)))@) \
  $(foreach s,$(SIMD),$(call entry,$(s),$(call compile_simd,$(s),$(lastword $(ISAS))))@) \
  $(foreach s,$(filter %.cu,$(SOURCES)),$(call entry,$(s),$(if $(NVCC),$(call compile_cu,$(s)),$(call compile_loom,$(s))))@)
build/compile_commands.json: $(O)/flags $(O)/objects
	$(file >$@.new,$(entries))
	@(echo '['; sed 's/@ *{/,\n{/g; s/@ *$$//' $@.new; echo ']') > $@; rm $@.new

build: $(LIBRARY) $(TOOL) $(LOOM_TOOL) $(LOOM_BENCH) $(TEST_BINARY) $(PROGRAMS) build/compile_commands.json

# ---------------------------------------------------------------------------
# Testing, and the programs that other chapters bring.

# The pipeline's own tests build small projects of their own, and races take the
# longer the more is watched: once is enough.
PYTHON_TESTS := $(patsubst %,generated/%,$(filter tests/%_test.py,$(SOURCES)))
ifneq ($(CONFIG),release)
  PYTHON_TESTS := $(filter-out %/pipeline_test.py %/bench_test.py,$(PYTHON_TESTS))
endif
export WEFT_BUILD := $(O)
export WEFT_LOOM_TOOL := $(LOOM_TOOL)
# Orders in which the loom runs each kernel: the natural one, then shuffled ones.
export WEFT_LOOM_ORDERS ?= $(if $(filter sanitize,$(CONFIG)),1,3)
export ASAN_OPTIONS ?= protect_shadow_gap=0
export UBSAN_OPTIONS ?= print_stacktrace=1

# Tests on the loom share the processors; a card is used by one at a time.
TEST_JOBS ?= $(if $(ON),$(shell nproc),1)

test: build
	@$(PYTHON) generated/scripts/run_tests.py --jobs $(TEST_JOBS) \
	  --filter='$(TESTS)' --report $(O)/tests.xml \
	  $(TEST_BINARY:%=--binary %) $(PYTHON_TESTS)

demo: build
	@$(PYTHON) generated/demo/demo.py
	@$(PYTHON) generated/demo/wavefront.py
	@$(PYTHON) generated/demo/tomography.py

bench: build
	@$(PYTHON) generated/bench/bench.py

install: build
	install -d $(DESTDIR)$(PREFIX)/{include/weft,lib/pkgconfig,bin,share/doc/weft}
	install -m 644 $(patsubst %,$(W)/%,$(filter weft/%,$(SOURCES))) \
	  $(DESTDIR)$(PREFIX)/include/weft
	install -m 644 $(LIBRARY) $(DESTDIR)$(PREFIX)/lib
	install $(O)/weft $(DESTDIR)$(PREFIX)/bin
	printf '%s\n' 'Name: weft' 'Description: GPU operators for optics and imaging' \
	  'Version: $(VERSION)' 'Cflags: -I$(PREFIX)/include -std=c++20 -fopenmp' \
	  'Libs: -L$(PREFIX)/lib -lweft -fopenmp $(LIB_LIBS) $(CUDA_LIBS)' \
	  > $(DESTDIR)$(PREFIX)/lib/pkgconfig/weft.pc
	install -m 644 LICENSE $(wildcard build/manual.pdf) \
	  $(DESTDIR)$(PREFIX)/share/doc/weft

# ---------------------------------------------------------------------------
# Weaving.

# A program in figures/ writes the data of figures into the folder it is given.
FIGURES := $(patsubst $(O)/figures/%,build/figures/%.drawn,\
  $(filter $(O)/figures/%,$(PROGRAMS)))
build/figures/%.drawn: $(O)/figures/%
	@mkdir -p $(@D)
	@sum=$$(sha256sum < $<); \
	if [ "$$(cat $@ 2>/dev/null)" != "$$sum" ]; then \
	  echo "draw $*"; $< build/figures; fi; echo "$$sum" > $@

build/manual/noweb.sty:
	@iconv -f latin1 -t utf8 $$(kpsewhich noweb.sty) > $@

SCRIPT := $(PYTHON) generated/scripts
WOVEN := $(CHAPTERS:%.nw=build/manual/%.tex)
$(shell mkdir -p build/manual/web build/manual/tests)
build/manual/%.tex: %.nw build/manual/names $(W)/scripts/weave_filter.py
	@echo "weave $<"
	@noweave -n -indexfrom build/manual/names \
	  -filter "$(SCRIPT)/weave_filter.py build/manual/names" $< > $@

build/manual.pdf: $(WOVEN) build/manual/noweb.sty $(FIGURES) $(wildcard tex/*) \
  $(W)/scripts/collect.py $(W)/scripts/typeset.py
	@$(SCRIPT)/collect.py build/manual tex/manual.tex $(CHAPTERS)
	@$(SCRIPT)/typeset.py build/manual tex $@

manual: build/manual.pdf

.PHONY: lint_chapters
lint_chapters: tangle
	@$(SCRIPT)/lint.py $(CHAPTERS)
lint: lint_chapters manual
	@$(SCRIPT)/manual_log.py build/manual

ifeq ($(TANGLE),no)
all: build
else ifeq ($(shell command -v lualatex),)
all: build
	@echo "The manual is not woven: lualatex is missing (make deps)."
else
all: build manual
endif

-include $(OBJECTS:=.d)

endif

# ---------------------------------------------------------------------------
# Working on chapters.

# Once a second, look for a file that is newer than the last time.
GOAL ?= build
watch:
	@echo "make $(GOAL) whenever a chapter is saved; stop with ^C"
	@mkdir -p build; touch -d @0 build/watched
	@while sleep 1; do \
	  if [ -n "$$(find Makefile web tests tex -newer build/watched)" ]; then \
	    touch build/watched; $(MAKE) $(GOAL) || true; \
	  fi; \
	done

ifeq ($(SEPARATE),)
component:
	@[ -n "$(NAME)" ] || { echo "usage: make component NAME=x" >&2; exit 2; }
	@$(MAKE) tangle > /dev/null
	@$(PYTHON) generated/scripts/component.py "$(NAME)"

deps:
	@bash -euc "$$DEPS"
endif

# What is needed: a Debian package, and how to see whether it is there.
define DEPS
needs='
g++                       : command -v g++
pkg-config                : command -v pkg-config
noweb                     : command -v notangle
python3                   : command -v python3
python3-scipy             : $(PYTHON) -c "import numpy, scipy"
libfmt-dev                : pkg-config --exists fmt
libpng-dev                : pkg-config --exists libpng
libtiff-dev               : pkg-config --exists libtiff-4
libhdf5-dev               : pkg-config --exists hdf5 || pkg-config --exists hdf5-serial
libcfitsio-dev            : pkg-config --exists cfitsio
libtomlplusplus-dev       : test -e /usr/include/toml++/toml.h
libcli11-dev              : test -e /usr/include/CLI/CLI.hpp
catch2                    : pkg-config --atleast-version=3 catch2-with-main
clang-format              : command -v clang-format
codespell                 : command -v codespell
libboost-context-dev      : test -e /usr/include/boost/context/detail/fcontext.hpp
libfftw3-dev              : pkg-config --exists fftw3
binutils                  : command -v addr2line
poppler-utils             : command -v pdftotext
texlive-luatex            : command -v lualatex
texlive-latex-recommended : kpsewhich scrbook.cls unicode-math.sty
texlive-pictures          : kpsewhich pgfplots.sty
fonts-texgyre             : kpsewhich texgyrepagella-regular.otf
fonts-texgyre-math        : kpsewhich texgyrepagella-math.otf
fonts-jetbrains-mono      : test -d /usr/share/fonts/truetype/jetbrains-mono
invesalius-examples       : test -d /usr/share/doc/invesalius-examples/examples
'
look() {
  missing=()
  while IFS=: read -r package check; do
    [ -z "$$check" ] || eval "$$check" > /dev/null 2>&1 || missing+=($$package)
  done <<< "$$needs"
}
look
if [ "$${#missing[@]}" = 0 ]; then echo "Everything is there."; exit; fi
echo "Missing: $${missing[*]}"
. /etc/os-release
case "$${ID:-} $${VERSION_ID:-}" in
  "debian 12"|"debian 13"|"ubuntu 24.04") ;;
  *) echo "Please install these: packages are known for Debian 12 and 13 and Ubuntu 24.04." >&2; exit 1 ;;
esac
sudo=
if [ "$$(id -u)" != 0 ]; then
  command -v sudo > /dev/null || { echo "Please install these as root." >&2; exit 1; }
  sudo=sudo
fi
# Debian 12 has Catch2 2; version 3 is in backports, on the mirror that the
# machine's own entry for Debian 12 names, and signed by the same key.
backports=/etc/apt/sources.list.d/bookworm-backports.list
if [ "$$VERSION_ID" = 12 ] && [[ " $${missing[*]} " == *" catch2 "* ]]; then
  targets=$$(apt-get indextargets --no-release-info \
    --format '$$(RELEASE) $$(SITE) $$(SOURCESENTRY)' 'Identifier: Packages')
  if ! grep -q "^bookworm-backports " <<< "$$targets"; then
    read -r release site entry < <(grep -E "^(bookworm|stable|oldstable) " <<< "$$targets")
    key=$$(grep -o -i -m 1 "signed-by[:=] *[^] ]*" "$${entry%:*}" | sed "s/.*[:=] *//") || key=
    echo "deb $${key:+[signed-by=$$key] }$$site bookworm-backports main" | $$sudo tee $$backports
  fi
  missing=("$${missing[@]/%catch2/catch2/bookworm-backports}")
fi
$$sudo apt-get update -q || echo "apt-get update complained; going on." >&2
$$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "$${missing[@]}"
look
[ "$${#missing[@]}" = 0 ] || { echo "Still missing: $${missing[*]}" >&2; exit 1; }
endef
export DEPS
