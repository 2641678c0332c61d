# SPDX-FileCopyrightText: The tpsl authors
# SPDX-License-Identifier: Apache-2.0

# make                  bin/ and lib/, usable in place
# make install          into $(DESTDIR)$(PREFIX); the installed tree can be moved
# make uninstall        removes what install put there
# make deb              build/tpsl_VERSION_amd64.deb, for Debian 12
# make dist             build/tpsl-VERSION.tar.gz, of what is committed
# make examples         build/examples/
# make test             go test ./...
# make generate-check   generated files are what go generate makes
# make clean            removes bin/ lib/ build/

VERSION = 0.1.0
# A prefix of its own: $(PREFIX)/include/mpi.h is the wrapper, not MPICH's header.
PREFIX  ?= /opt/tpsl
DESTDIR ?=
GO      ?= go

# No VCS stamp: it would relink everything at each commit.
GOFLAGS_BUILD = -trimpath -buildvcs=false
# What the C library lacks is found out here, and not when a program is loaded (-z defs). Functions are bound at the start (-z now):
# a handler of a crash calls some for the first time, and the thread may be too broken for ld.so.
EXTLDFLAGS = -Wl,-soname,libtpsl.so.0 -Wl,--version-script=libtpsl.map -Wl,-z,defs,-z,now
HOSTLDFLAGS = -Wl,-soname,libtpslhost.so -Wl,--version-script=libtpslhost.map -Wl,-z,defs,-z,now
MSGLDFLAGS = -Wl,-soname,libtpslmsg.so.0 -Wl,--version-script=libtpslmsg.map -Wl,-z,defs
# What tells the version of a library's file.
STAMP = -X 'github.com/tpsl/tpsl/internal/version.Stamp=tpsl_version=$(VERSION);'
CFLAGS_OWN = -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -Wno-unused-parameter -Werror

COMMANDS = mpiexec tpsl tpslcc
KIN      = tpslcxx tpslfort
# What programs are linked with, made to fit the MPI libraries of this machine.
IMPORTS  = lib/libtpsl.so lib/tpsl/libmpich.so.12 lib/tpsl/libmpi.so.12 lib/tpsl/abi/libtpsl.so lib/tpsl/libmpi_abi.so.1
# The helper of mpiexec for PMIx, where there is a libpmix to build it with.
PMIX     = $(if $(shell pkg-config --exists pmix 2>/dev/null && echo yes),lib/tpsl/pmix)
PRIVATE  = lib/tpsl/host lib/tpsl/libtpslhost.so lib/tpsl/libtpslshim.so lib/tpsl/python
YIELD    = lib/tpsl/libtpslyield.so
WITNESS  = lib/tpsl/libtpslwitness.so
CALLS    = lib/tpsl/libtpslcalls.so lib/tpsl/libtpslprofile.so
XPMEM    = lib/tpsl/libtpslxpmem.so
ARRAYS   = lib/tpsl/libtpslarrays.so
# Messages without MPI, for programs in C: the library, and what the linker finds.
MESSAGES = lib/libtpslmsg.so.0 lib/libtpslmsg.so
EXAMPLES = $(patsubst examples/%,build/examples/%,$(basename $(wildcard examples/*.c examples/*.f90)))
# Made from the file of the same path under packaging/.
GENERATED = lib/pkgconfig/tpsl.pc lib/pkgconfig/tpslmsg.pc lib/cmake/tpsl/tpsl-config.cmake lib/cmake/tpsl/tpsl-config-version.cmake share/modulefiles/tpsl
DOCS     = LICENSE CHANGELOG.md
BUILT = $(COMMANDS:%=bin/%) $(KIN:%=bin/%) lib/libtpsl.so.0 lib/libtpsl.so.0-gdb.py $(IMPORTS) $(GENERATED) \
	$(DOCS:%=share/doc/tpsl/%) share/doc/tpsl/THIRD_PARTY $(PRIVATE) $(YIELD) $(WITNESS) $(CALLS) $(XPMEM) $(ARRAYS) $(MESSAGES) $(PMIX)
# What make install puts under PREFIX, by the same paths.
INSTALLED = $(sort $(BUILT) $(shell find include share ! -type d ! -path "*/__pycache__/*"))

all: $(BUILT)

# A C library that tpsl is not made for is named before the first error of a compiler.
$(BUILT): | build/libc-checked

build/libc-checked: scripts/need-libc
	@mkdir -p $(@D)
	@CC='$(CC)' scripts/need-libc
	@touch $@

# go build decides itself what is out of date.
bin/%: FORCE
	CGO_ENABLED=0 $(GO) build $(GOFLAGS_BUILD) -ldflags '-X github.com/tpsl/tpsl/internal/version.Version=$(VERSION)' -o $@ ./cmd/$*

$(KIN:%=bin/%): bin/tpslcc
	@ln -sfn tpslcc $@

# ld finds the version script in LIBRARY_PATH: as an option its folder would be in the build ID, and no two builds alike.
# The header that go build writes beside the library is of no use to a program.
lib/libtpsl.so.0: FORCE
	@test $@ -nt cmd/libtpsl/libtpsl.map || rm -f $@ # go build links only for changes that it sees
	LIBRARY_PATH=$(CURDIR)/cmd/libtpsl CGO_ENABLED=1 $(GO) build $(GOFLAGS_BUILD) -buildmode=c-shared -ldflags "$(STAMP) -extldflags '$(EXTLDFLAGS)'" -o $@ ./cmd/libtpsl
	@rm -f lib/libtpsl.so.h

# gdb looks for commands of a library beside it.
lib/libtpsl.so.0-gdb.py:
	@mkdir -p $(@D)
	@ln -sfn ../share/tpsl/tpsl-gdb.py $@

# Import libraries: what the linker gets in libtpsl's place, with the names that the MPI library has. Stand-ins: libraries by
# the names that an MPI library goes by. With one of them there, ld.so does not load the real one under a library or program
# that needs it.
$(IMPORTS) &: lib/libtpsl.so.0 bin/tpsl
	CC="$(CC)" bin/tpsl names

# The last thing that tpslcc compiles with is -I and the folder of MPICH's mpi.h. pkg-config links with its flags, by a
# folder that it finds itself. Made aside, by a name of the shell's own: tests install while others build.
$(GENERATED): %: packaging/%.in bin/tpslcc Makefile
	@mkdir -p $(@D) build
	@sed -e 's|@VERSION@|$(VERSION)|' -e "s|-I@MPI_INCLUDE@|$$(bin/tpslcc -compile-info | awk '{ print $$NF }')|" \
		-e "s|@LIBS@|$$(bin/tpslcc -link-info | cut -d ' ' -f 2-)|" -e 's|$(realpath .)/lib|$${libdir}|g' $< >build/$(@F).$$$$ && \
		mv build/$(@F).$$$$ $@

# Private mode: the host of programs, the Go library behind it, and what each rank has in front of libc.
lib/tpsl/libtpslhost.so: FORCE
	@test $@ -nt cmd/libtpslhost/libtpslhost.map || rm -f $@
	LIBRARY_PATH=$(CURDIR)/cmd/libtpslhost CGO_ENABLED=1 $(GO) build $(GOFLAGS_BUILD) -buildmode=c-shared -ldflags "$(STAMP) -extldflags '$(HOSTLDFLAGS)'" -o $@ ./cmd/libtpslhost
	@rm -f lib/tpsl/libtpslhost.h

lib/libtpslmsg.so.0: FORCE
	@test $@ -nt cmd/libtpslmsg/libtpslmsg.map || rm -f $@
	LIBRARY_PATH=$(CURDIR)/cmd/libtpslmsg CGO_ENABLED=1 $(GO) build $(GOFLAGS_BUILD) -buildmode=c-shared -ldflags "$(STAMP) -extldflags '$(MSGLDFLAGS)'" -o $@ ./cmd/libtpslmsg
	@rm -f lib/libtpslmsg.so.h

lib/libtpslmsg.so:
	@mkdir -p $(@D)
	@ln -sfn libtpslmsg.so.0 $@

# Not again for each new library, which only its names bind it to: tests of another package may be running it.
lib/tpsl/host: host/exec/main.c | lib/tpsl/libtpslhost.so
	$(CC) $(CFLAGS_OWN) -fPIE -pie $< -Llib/tpsl -l:libtpslhost.so -Wl,-rpath,'$$ORIGIN' -Wl,--enable-new-dtags -o $@

lib/tpsl/libtpslshim.so: $(wildcard host/shim/*.[ch])
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_OWN) -fPIC -fno-builtin -fexceptions -shared -Wl,-soname,$(@F) $(filter %.c,$^) -lm -o $@

# A Python that can be loaded once per rank.
lib/tpsl/python: host/python/main.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_OWN) -fPIE -pie $< -o $@

# What stands in front of UCX where ranks are more than CPUs: each rank has a copy, so its data are on one page.
lib/tpsl/libtpslyield.so: $(wildcard tpsl/yield/*.c) tpsl/long_wait.h process/behind.h
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_OWN) -fPIC -shared -Wl,-soname,$(@F) -Wl,-z,noseparate-code,-z,norelro $(filter %.c,$^) -o $@

# What stands in front of an MPI library that may not speak PMI.
$(WITNESS): hydra/witness/witness.c process/behind.h
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_OWN) -fPIC -fvisibility=hidden -shared -Wl,-soname,$(@F) $< -o $@

# What notes the MPI calls of a rank, and what counts them as well: in front of its MPI library.
lib/tpsl/libtpslprofile.so: CFLAGS_OWN += -DTPSL_PROFILE
$(CALLS): $(wildcard calls/front/*.[ch]) process/behind.h
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_OWN) -fPIC -fexceptions -fvisibility=hidden -ftls-model=initial-exec -shared -Wl,-soname,$(@F) $(filter %.c,$^) -o $@

# What instances get in place of XPMEM's library.
$(XPMEM): process/xpmem/xpmem.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_OWN) -fPIC -shared -Wl,-soname,$(@F) $< -o $@

# What the Python package keeps of the arrays that ranks share: one copy for all ranks of a process.
$(ARRAYS): process/arrays/arrays.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_OWN) -fPIC -shared -Wl,-soname,$(@F) $< -o $@

# With -z now a libpmix that lacks a function is found out at the start.
lib/tpsl/pmix: $(wildcard hydra/pmix/*.[ch])
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_OWN) -fPIE -pie -Wl,-z,now $(filter %.c,$^) $$(pkg-config --cflags --libs pmix) -o $@

$(DOCS:%=share/doc/tpsl/%): share/doc/tpsl/%: %
	@mkdir -p $(@D)
	@cp $< $@

share/doc/tpsl/THIRD_PARTY: scripts/notices go.mod
	@mkdir -p $(@D) build
	scripts/notices >build/$(@F).$$$$ && mv build/$(@F).$$$$ $@

examples: $(EXAMPLES)

# This one needs no MPI library, and no tpslcc.
build/examples/farm: examples/farm.c all
	@mkdir -p $(@D)
	$(CC) -pthread -O2 -Iinclude $< -o $@ -Llib -ltpslmsg -Wl,-rpath,'$$ORIGIN/../../lib'

build/examples/%: examples/%.c all
	@mkdir -p $(@D)
	bin/tpslcc -fopenmp -O2 $< -o $@

build/examples/%: examples/%.f90 all
	@mkdir -p $(@D)
	bin/tpslfort -fopenmp -O2 $< -o $@

# Root may have no go: what the user built is then installed.
install: $(if $(shell command -v $(GO) 2>/dev/null),all)
	@scripts/place '$(DESTDIR)' '$(PREFIX)' $(INSTALLED)

uninstall:
	@scripts/place '$(DESTDIR)' '$(PREFIX)'

deb: all
	@mkdir -p build
	@scripts/deb $(VERSION) $(INSTALLED)

# git archive gives every file the commit's time.
dist:
	@mkdir -p build
	@git archive --prefix=tpsl-$(VERSION)/ HEAD | gzip -n9 >build/tpsl-$(VERSION).tar.gz

test: all
	$(GO) test ./...

# Compares with the state before, so that work in progress is no difference.
generate-check:
	@mkdir -p build
	@git diff >build/before.diff; git ls-files -o --exclude-standard >>build/before.diff
	$(GO) generate ./...
	@git diff >build/after.diff; git ls-files -o --exclude-standard >>build/after.diff
	@diff build/before.diff build/after.diff || { echo 'generate-check: commit what go generate changed' >&2; exit 1; }

clean:
	rm -rf bin lib build share/doc share/modulefiles

FORCE:
.PHONY: all examples install uninstall deb dist test generate-check clean FORCE
