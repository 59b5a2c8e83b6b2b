# Warp & Weft: the only build file. `make help` lists the targets.

VERSION := 0.1.0

# What may be set on the command line.
CONFIG ?= release
TANGLE ?= yes
LINES ?= kept
TESTS ?=
PREFIX ?= /usr/local
CUDA_ARCHS ?= 80 90
CXX := $(if $(filter default undefined,$(origin CXX)),g++,$(CXX))
NVCC ?= $(firstword $(shell command -v nvcc) $(wildcard /usr/local/cuda/bin/nvcc))

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
MAKEFLAGS += --no-builtin-rules --no-builtin-variables --no-print-directory
.DELETE_ON_ERROR:
.SUFFIXES:
.SECONDARY:

all: build

FORCE:
.PHONY: FORCE all help deps tangle build test manual demo bench lint watch install clean component

tangle: ## write generated/ from the chapters

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/\1|\2/p' Makefile | awk -F'|' '{printf "  %-10s %s\n", $$1, $$2}'

clean: ## remove generated/ and build/
	rm -rf generated build

# ---------------------------------------------------------------- tangling
# Each chapter's list of files is a makefile of its own: make remakes it
# first, by tangling, and then starts again with every file in its place.
CHAPTERS := $(wildcard web/*.nw tests/*.nw)
GOALS := $(or $(MAKECMDGOALS),all)
WORK := $(filter-out help deps clean component,$(GOALS))
BOOTSTRAP := build/bootstrap/tangle.py

missing = $(if $(filter-out $(wildcard $(1:%=generated/%) $(1:%=build/plain/%)),$(1:%=generated/%) $(1:%=build/plain/%)),FORCE)

ifneq ($(WORK),)
ifeq ($(TANGLE),no)
  SOURCES := $(patsubst generated/%,%,$(wildcard generated/*/*))
  W := generated
else
  SOURCES :=
  W := $(if $(filter exact,$(LINES)),generated,build/plain)
  STAMPS := $(CHAPTERS:%.nw=build/tangle/%.mk)
  include $(STAMPS)
endif
endif

build/tangle/%.mk: %.nw $(BOOTSTRAP)
	@mkdir -p $(@D)
	@echo "tangle $<"
	@python3 $(BOOTSTRAP) $< $@

$(BOOTSTRAP): web/pipeline.nw
	@mkdir -p $(@D)
	@for script in chapters.py lines.awk tangle.py; do \
	   notangle -R"[[scripts/$$script]]" $< > $(@D)/$$script; done

# --------------------------------------------------------------- libraries
ifneq ($(filter-out tangle,$(WORK)),)
OPTIONAL := libpng libtiff-4 hdf5
PACKAGES := fmt $(OPTIONAL) fftw3 fftw3f catch2-with-main
FOUND := $(shell for p in $(PACKAGES); do pkg-config --exists $$p && echo $$p; done)
LINKED := $(filter-out catch2-with-main,$(FOUND))
LIB_CFLAGS := $(if $(LINKED),$(shell pkg-config --cflags $(LINKED)))
LIB_LIBS := $(if $(LINKED),$(shell pkg-config --libs $(LINKED)))
has = $(if $(filter $(1),$(FOUND)),1,0)
DEFINES := -DWEFT_VERSION='"$(VERSION)"' -DWEFT_HAS_CUDA=$(if $(NVCC),1,0) \
  -DWEFT_HAS_PNG=$(call has,libpng) -DWEFT_HAS_TIFF=$(call has,libtiff-4) -DWEFT_HAS_HDF5=$(call has,hdf5)

# ------------------------------------------------------------------- flags
ifeq ($(CONFIG),release)
  OPTIMISE := -O3 -g
  TEST_OPTIMISE := -O1 -g
  CUDA_OPTIMISE := -O3 -lineinfo
else ifeq ($(CONFIG),debug)
  OPTIMISE := -Og -g3
  CUDA_OPTIMISE := -O0 -g -G
else ifeq ($(CONFIG),sanitize)
  SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
  OPTIMISE := -O1 -g $(SANITIZE)
  CUDA_OPTIMISE := -O1 -g -lineinfo
else
  $(error CONFIG=$(CONFIG) is unknown: release, debug or sanitize)
endif

empty :=
comma := ,
space := $(empty) $(empty)
O := build/$(CONFIG)
CXX_ALL := -std=c++20 -Igenerated -fopenmp -Wall -Wextra -Wpedantic $(DEFINES) $(LIB_CFLAGS)
SIMD_FLAGS := -O3 -ffp-contract=fast -Wno-psabi

ifneq ($(NVCC),)
  CUDA_HOME := $(patsubst %/bin/,%,$(dir $(realpath $(shell command -v $(lastword $(NVCC))))))
  CXX_ALL += -isystem $(CUDA_HOME)/include
  NEWEST := $(lastword $(sort $(CUDA_ARCHS)))
  GENCODE := $(foreach a,$(CUDA_ARCHS),-gencode arch=compute_$(a),code=sm_$(a)) -gencode arch=compute_$(NEWEST),code=compute_$(NEWEST)
  NVCC_ALL := -std=c++20 -Igenerated $(GENCODE) $(CUDA_OPTIMISE) $(DEFINES) $(LIB_CFLAGS) \
    -Xcompiler $(subst $(space),$(comma),$(strip -fopenmp -Wall -Wextra $(SANITIZE)))
  CUDA_LIBS := -L$(CUDA_HOME)/lib64 -lcudart_static -lpthread -ldl -lrt
endif

# ----------------------------------------------------------------- objects
SIMD := $(filter %_simd.cpp,$(filter lib/%,$(SOURCES)))
STUB := $(filter %_stub.cpp,$(filter lib/%,$(SOURCES)))
ISAS := $(if $(filter x86_64,$(shell uname -m)),1 3 4,1)
MARCH_1 := $(if $(filter x86_64,$(shell uname -m)),-march=x86-64)
MARCH_3 := -march=x86-64-v3
MARCH_4 := -march=x86-64-v4

LIB_OBJECTS := $(patsubst %,$(O)/%.o,\
  $(filter-out $(SIMD) $(STUB),$(filter lib/%.cpp,$(SOURCES))) \
  $(if $(NVCC),$(filter lib/%.cu,$(SOURCES)),$(STUB))) \
  $(foreach i,$(ISAS),$(SIMD:%.cpp=$(O)/%.isa$(i).o))
TOOL_OBJECTS := $(patsubst %,$(O)/%.o,$(filter tool/%.cpp,$(SOURCES)))
TEST_OBJECTS := $(patsubst %,$(O)/%.o,$(filter tests/%_test.cpp,$(SOURCES)))
PROGRAMS := $(patsubst %.cpp,$(O)/%,$(filter bench/%.cpp demo/%.cpp figures/%.cpp,$(SOURCES)))
PROGRAM_OBJECTS := $(PROGRAMS:%=%.cpp.o)
OBJECTS := $(LIB_OBJECTS) $(TOOL_OBJECTS) $(TEST_OBJECTS) $(PROGRAM_OBJECTS)

LIBRARY := $(if $(LIB_OBJECTS),$(O)/libweft.a)
TOOL := $(if $(TOOL_OBJECTS),$(O)/weft build/weft)
TEST_BINARY := $(if $(TEST_OBJECTS),$(O)/weft_tests)

$(shell mkdir -p $(O)/lib $(O)/tool $(O)/tests $(O)/bench $(O)/demo $(O)/figures)

# An object depends on its source without line directives: see the chapter.
after_compile = sed -i 's|generated/|$$(W)/|g' $@.d
$(O)/%.cpp.o: $(W)/%.cpp
	@echo "compile $*.cpp"
	@$(CXX) $(CXX_ALL) $(if $(filter tests/%,$*),$(or $(TEST_OPTIMISE),$(OPTIMISE)),$(OPTIMISE)) $(CXXFLAGS) -MMD -MP -MF $@.d -c generated/$*.cpp -o $@
	@$(after_compile)

define simd_rule
$(O)/%.isa$(1).o: $(W)/%.cpp
	@echo "compile $$*.cpp for instruction set $(1)"
	@$$(CXX) $$(CXX_ALL) $$(OPTIMISE) $$(SIMD_FLAGS) $$(MARCH_$(1)) -DWEFT_ISA=$(1) $$(CXXFLAGS) -MMD -MP -MF $$@.d -c generated/$$*.cpp -o $$@
	@$$(after_compile)
endef
$(foreach i,$(ISAS),$(eval $(call simd_rule,$(i))))

$(O)/%.cu.o: $(W)/%.cu
	@echo "compile $*.cu"
	@$(NVCC) $(NVCC_ALL) $(NVCCFLAGS) -MMD -MP -MF $@.d -c generated/$*.cu -o $@
	@$(after_compile)

$(O)/libweft.a: $(LIB_OBJECTS)
	@echo "archive $@$(if $(NVCC),, (no nvcc found: without CUDA))"
	@rm -f $@; ar rcs $@ $^

link = $(CXX) -fopenmp $(SANITIZE) $(LDFLAGS) -o $@ $(filter %.o,$^) $(LIBRARY)
$(O)/weft: $(TOOL_OBJECTS) $(LIBRARY)
	@echo "link $@"
	@$(link) $(LIB_LIBS) $(CUDA_LIBS)

$(O)/weft_tests: $(TEST_OBJECTS) $(LIBRARY)
	@echo "link $@"
	@$(link) $(shell pkg-config --libs catch2-with-main) $(LIB_LIBS) $(CUDA_LIBS)

$(PROGRAMS): $(O)/%: $(O)/%.cpp.o $(LIBRARY)
	@echo "link $@"
	@$(link) $(LIB_LIBS) $(CUDA_LIBS)

ifneq ($(shell readlink build/weft),$(CONFIG)/weft)
.PHONY: build/weft
endif
build/weft: $(O)/weft
	@ln -sfn $(CONFIG)/weft $@

build: $(LIBRARY) $(TOOL) $(TEST_BINARY) $(PROGRAMS) ## compile library, tool and tests (CONFIG=release|debug|sanitize)

test: $(TEST_BINARY) $(TOOL) ## run the tests (TESTS='filter')
	@$(O)/weft_tests $(TESTS)

-include $(OBJECTS:=.d)
endif
