# SPDX-FileCopyrightText: The tpsl authors
# SPDX-License-Identifier: Apache-2.0

# make                  bin/ and lib/, usable in place
# make install          into $(DESTDIR)$(PREFIX); the installed tree can be moved
# make uninstall        removes what install put there
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
EXTLDFLAGS = -Wl,-soname,libtpsl.so.0 -Wl,--version-script=$(CURDIR)/cmd/libtpsl/libtpsl.map

COMMANDS = mpiexec tpslcc
KIN      = tpslcxx tpslfort
STANDINS = libmpich.so.12 libmpi.so.12
EXAMPLES = $(patsubst examples/%,build/examples/%,$(basename $(wildcard examples/*.c examples/*.f90)))
TO       = $(DESTDIR)$(PREFIX)

all: $(COMMANDS:%=bin/%) $(KIN:%=bin/%) lib/libtpsl.so $(STANDINS:%=lib/tpsl/%) lib/pkgconfig/tpsl.pc

# go build decides itself what is out of date.
bin/%: FORCE
	CGO_ENABLED=0 $(GO) build $(GOFLAGS_BUILD) -ldflags '-X github.com/tpsl/tpsl/hydra.Version=$(VERSION)' -o $@ ./cmd/$*

$(KIN:%=bin/%): bin/tpslcc
	@ln -sfn tpslcc $@

# The header that go build writes beside the library is of no use to a program.
lib/libtpsl.so.0: FORCE
	CGO_ENABLED=1 $(GO) build $(GOFLAGS_BUILD) -buildmode=c-shared -ldflags "-extldflags '$(EXTLDFLAGS)'" -o $@ ./cmd/libtpsl
	@rm -f lib/libtpsl.so.h

lib/libtpsl.so: lib/libtpsl.so.0
	@ln -sfn libtpsl.so.0 $@

# Stand-ins: empty libraries by the names that an MPI library goes by. With one of them there, ld.so does not load the
# real one under a library or program that needs it. libtpsl comes before its stand-in in ld.so's order of lookup
# (DT_AUXILIARY), where the real one would have been.
$(STANDINS:%=lib/tpsl/%): Makefile
	@mkdir -p $(@D)
	$(CC) -shared -nostdlib -Wl,-soname,$(@F) -Wl,--auxiliary=libtpsl.so.0 -Wl,-rpath,'$$ORIGIN/..' -Wl,--enable-new-dtags -x c /dev/null -o $@

# The last thing that tpslcc compiles with is -I and the folder of MPICH's mpi.h.
lib/pkgconfig/tpsl.pc: tpsl.pc.in bin/tpslcc
	@mkdir -p $(@D)
	sed -e 's|@VERSION@|$(VERSION)|' -e "s|-I@MPI_INCLUDE@|$$(bin/tpslcc -compile-info | awk '{ print $$NF }')|" $< >$@

examples: $(EXAMPLES)

build/examples/%: examples/%.c all
	@mkdir -p $(@D)
	bin/tpslcc -fopenmp -O2 $< -o $@

build/examples/%: examples/%.f90 all
	@mkdir -p $(@D)
	bin/tpslfort -fopenmp -O2 $< -o $@

install: all
	install -d $(TO)/bin $(TO)/include $(TO)/lib/pkgconfig $(TO)/lib/tpsl
	install $(COMMANDS:%=bin/%) $(TO)/bin
	for kin in $(KIN); do ln -sfn tpslcc $(TO)/bin/$$kin; done
	install -m 644 include/*.h $(TO)/include
	install lib/libtpsl.so.0 $(TO)/lib
	install $(STANDINS:%=lib/tpsl/%) $(TO)/lib/tpsl
	ln -sfn libtpsl.so.0 $(TO)/lib/libtpsl.so
	install -m 644 lib/pkgconfig/tpsl.pc $(TO)/lib/pkgconfig

uninstall:
	rm -f $(COMMANDS:%=$(TO)/bin/%) $(KIN:%=$(TO)/bin/%) $(STANDINS:%=$(TO)/lib/tpsl/%) $(patsubst %,$(TO)/%,$(wildcard include/*.h))
	rm -f $(TO)/lib/libtpsl.so $(TO)/lib/libtpsl.so.0 $(TO)/lib/pkgconfig/tpsl.pc
	rmdir --ignore-fail-on-non-empty $(TO)/lib/tpsl $(TO)/lib/pkgconfig $(TO)/lib $(TO)/include $(TO)/bin $(TO)

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
	rm -rf bin lib build

FORCE:
.PHONY: all examples install uninstall test generate-check clean FORCE
