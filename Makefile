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
EXAMPLES = $(patsubst examples/%.c,build/examples/%,$(wildcard examples/*.c))
TO       = $(DESTDIR)$(PREFIX)

all: $(COMMANDS:%=bin/%) lib/libtpsl.so lib/pkgconfig/tpsl.pc

# go build decides itself what is out of date.
bin/%: FORCE
	CGO_ENABLED=0 $(GO) build $(GOFLAGS_BUILD) -ldflags '-X github.com/tpsl/tpsl/hydra.Version=$(VERSION)' -o $@ ./cmd/$*

# The header that go build writes beside the library is of no use to a program.
lib/libtpsl.so.0: FORCE
	CGO_ENABLED=1 $(GO) build $(GOFLAGS_BUILD) -buildmode=c-shared -ldflags "-extldflags '$(EXTLDFLAGS)'" -o $@ ./cmd/libtpsl
	@rm -f lib/libtpsl.so.h

lib/libtpsl.so: lib/libtpsl.so.0
	@ln -sfn libtpsl.so.0 $@

# The last thing that tpslcc compiles with is -I and the folder of MPICH's mpi.h.
lib/pkgconfig/tpsl.pc: tpsl.pc.in bin/tpslcc
	@mkdir -p $(@D)
	sed -e 's|@VERSION@|$(VERSION)|' -e "s|-I@MPI_INCLUDE@|$$(bin/tpslcc -compile-info | awk '{ print $$NF }')|" $< >$@

examples: $(EXAMPLES)

build/examples/%: examples/%.c all
	@mkdir -p $(@D)
	bin/tpslcc -fopenmp -O2 $< -o $@

install: all
	install -d $(TO)/bin $(TO)/include $(TO)/lib/pkgconfig
	install $(COMMANDS:%=bin/%) $(TO)/bin
	install -m 644 include/*.h $(TO)/include
	install lib/libtpsl.so.0 $(TO)/lib
	ln -sfn libtpsl.so.0 $(TO)/lib/libtpsl.so
	install -m 644 lib/pkgconfig/tpsl.pc $(TO)/lib/pkgconfig

uninstall:
	rm -f $(COMMANDS:%=$(TO)/bin/%) $(patsubst %,$(TO)/%,$(wildcard include/*.h))
	rm -f $(TO)/lib/libtpsl.so $(TO)/lib/libtpsl.so.0 $(TO)/lib/pkgconfig/tpsl.pc
	rmdir --ignore-fail-on-non-empty $(TO)/lib/pkgconfig $(TO)/lib $(TO)/include $(TO)/bin $(TO)

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
