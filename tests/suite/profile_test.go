// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
	"github.com/tpsl/tpsl/profile"
)

// The calls that a profile counts are those that a PMPI tool counts, which is made of the prototypes of MPICH. In each program one mode is
// tried, and with TPSL_TEST_LARGE all are.
func TestProfileCountsLikeATool(t *testing.T) {
	testsupport.Require(t, "mpicc.mpich")
	testsupport.NothingLeft(t)
	tool, linked := countingTool(t, false), countingTool(t, true)
	forAll(t, func(t *testing.T, i mpiInterface, name, source string) {
		var more []string
		if i.name == "f08" {
			more = append(more, linked)
		}
		p := program{i.compile(t, i.flat, source, more...), i.compile(t, i.threads, source, more...), t.TempDir()}
		modes := []struct {
			options, program string
			env              []string
		}{
			{"", p.flat, oneThread},
			{"-rpp 2 -tpsl private", p.flat, oneThread},
			{"-rpp 4 -genv OUTSIDE 1", p.threads, nil},
		}
		if !testsupport.Large() {
			modes = modes[(slices.Index(areas, filepath.Base(name))+slices.Index(interfaces, i))%len(modes):][:1]
		}
		for number, mode := range modes {
			folder := t.TempDir()
			options := fmt.Sprintf("-genv COUNTS %s -profile=%s %s", folder, filepath.Join(folder, "of"), mode.options)
			if i.name != "f08" {
				options += " -genv LD_PRELOAD " + tool
			} else if !strings.Contains(options, "OUTSIDE") {
				options += " -genv OUTSIDE 1"
			}
			p.runOurs(t, fmt.Sprint("profiled", number), mode.env, options, mode.program).foundNothing(t, name)
			sameCounts(t, folder, name, mode.options)
		}
	})
}

// sameCounts compares what the tool and the profile have counted.
func sameCounts(t *testing.T, folder, program, mode string) {
	t.Helper()
	file, err := os.Open(filepath.Join(folder, "of.json"))
	require.NoError(t, err)
	defer file.Close()
	p, err := profile.Read(file)
	require.NoError(t, err)
	require.Len(t, p.Ranks, 4)
	for rank, r := range p.Ranks {
		ours := map[string]int64{}
		for _, c := range r.Calls {
			ours[c.Function] += c.Calls
		}
		if program == "cxx/info" {
			ours["MPI_Comm_size"]-- // the program calls PMPI_Comm_size, which a tool does not see
		}
		theirs := toolCounts(t, filepath.Join(folder, fmt.Sprint(rank)))
		if program == "f08/requests" && strings.HasPrefix(mode, "-rpp 4") { // a callback calls PMPI functions, which libtpsl counts by their MPI_ names
			theirs["MPI_Status_set_elements"]++
			theirs["MPI_Status_set_cancelled"]++
		}
		for _, counts := range []map[string]int64{ours, theirs} {
			delete(counts, "MPI_Type_free_keyval") // MPICH calls it by this name for itself, in what reads and writes files
		}
		assert.Equal(t, theirs, ours, "rank %d, %s", rank, mode)
	}
}

func toolCounts(t *testing.T, name string) map[string]int64 {
	t.Helper()
	file, err := os.Open(name)
	require.NoError(t, err)
	defer file.Close()
	counts := map[string]int64{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var function string
		var calls int64
		_, err := fmt.Sscan(lines.Text(), &function, &calls)
		require.NoError(t, err)
		counts[function] += calls
	}
	return counts
}

var (
	comment   = regexp.MustCompile(`(?s)/\*.*?\*/`)
	prototype = regexp.MustCompile(`(?s)\bint (MPI_[A-Z][a-z]\w*)\(([^;]*?)\)\s*[A-Z][^;]*;`)
	lastName  = regexp.MustCompile(`(\w+)\s*(?:\[[^\]]*\])*$`)
)

// countingTool compiles a library that counts the calls of each rank, by the prototypes of MPICH. A rank is a process, an instance or a
// thread, so counters belong to threads. It asks for the rank in MPI_Init. In thread ranks it stands in front of what counts for the profile, which therefore counts that as well. MPICH's mpi_f08 calls PMPI functions: pmpi says that these are counted as
// well, where they are not in another call. As the profile asks PMPI functions itself, that tool is linked with the program, and stands in front of the profile.
func countingTool(t *testing.T, pmpi bool) (file string) {
	t.Helper()
	folders, err := filepath.Glob("/usr/include/*-linux-gnu/mpich")
	require.NoError(t, err)
	require.Len(t, folders, 1)
	var source strings.Builder
	source.WriteString(toolBegin)
	n := 0
	for _, header := range []string{"mpi_proto.h", "mpio.h"} {
		text, err := os.ReadFile(filepath.Join(folders[0], header))
		if err != nil {
			require.ErrorIs(t, err, os.ErrNotExist)
			continue
		}
		for _, p := range prototype.FindAllStringSubmatch(comment.ReplaceAllString(string(text), ""), -1) {
			name, parameters := p[1], strings.TrimSpace(p[2])
			if strings.Contains(parameters, "...") || untold.MatchString(name) || strings.Contains(source.String(), " "+name+"(") {
				continue
			}
			var arguments []string
			for _, parameter := range strings.Split(parameters, ",") {
				if parameter != "void" {
					arguments = append(arguments, lastName.FindStringSubmatch(strings.TrimSpace(parameter))[1])
				}
			}
			front := func(symbol, next string, always bool) {
				fmt.Fprintf(&source, "int %s(%s) { %s begin(%d, %q, %t); int e = next(%s); end(%t, %t); return e; }\n",
					symbol, parameters, next, n, name, always, strings.Join(arguments, ", "), name == "MPI_Init" || name == "MPI_Init_thread", name == "MPI_Finalize")
			}
			if pmpi {
				for _, symbol := range []string{name, "P" + name} {
					front(symbol, fmt.Sprintf("static __typeof__(&%s) next; if (!next) next = dlsym(RTLD_NEXT, %q);", symbol, symbol), symbol == name)
				}
			} else {
				front(name, fmt.Sprintf("__typeof__(&%s) next = P%s;", name, name), true)
			}
			n++
		}
	}
	require.Greater(t, n, 350, "prototypes")
	text := filepath.Join(t.TempDir(), "tool.c")
	require.NoError(t, os.WriteFile(text, []byte(source.String()), 0o666))
	made, kind := filepath.Join(t.TempDir(), "tool.so"), "-shared"
	if pmpi {
		made, kind = filepath.Join(t.TempDir(), "tool.o"), "-c"
	}
	_, stderr, code := testsupport.Run(t, limit, nil, "gcc", "-O1", kind, "-fPIC", "-Wno-deprecated-declarations", "-I"+folders[0], text, "-o", made)
	require.Zero(t, code, stderr)
	return made
}

// untold are no calls of programs: defaults of callbacks, and conversions.
var untold = regexp.MustCompile(`^MPI_DUP_FN$|_(f2c|c2f|f082c|c2f08|f2f08|f082f)$`)

const toolBegin = `
#define _GNU_SOURCE
#include <mpi.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static __thread struct { const char *name; long calls; } counts[1000];
static __thread int own_rank = -1, ended;
static void dump(void)
{
    char name[4096];
    snprintf(name, sizeof name, "%s/%d", getenv("COUNTS"), own_rank);
    FILE *f = fopen(name, "w");
    for (int i = 0; i < 1000; i++)
        if (counts[i].calls)
            fprintf(f, "%s %ld\n", counts[i].name, counts[i].calls);
    fclose(f);
}
static __thread int depth;
static void begin(int i, const char *name, bool always)
{
    counts[i].name = name;
    counts[i].calls += always || depth == 0;
    depth++;
}
static void end(bool first, bool last)
{
    if (first)
        PMPI_Comm_rank(MPI_COMM_WORLD, &own_rank);
    if (first && getenv("OUTSIDE"))
        counts[999].name = "MPI_Comm_rank", counts[999].calls = 1;
    depth--;
    ended |= last;
    if (ended)
        dump();
}
`
