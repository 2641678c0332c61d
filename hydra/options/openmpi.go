// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// An openMPIOption is an option that Open MPI's mpiexec has and ours has not. What means the same in both is an option of ours.
type openMPIOption struct {
	names []string
	here  func(values ...string) string // what to type in its place; gets the words that follow
}

// is names the same thing whatever follows.
func is(text string) func(...string) string { return func(...string) string { return text } }

// with puts the first word that follows in place of %s.
func with(format, placeholder string) func(...string) string {
	return func(values ...string) string { return fmt.Sprintf(format, cmp.Or(at(values, 0), placeholder)) }
}

// at returns a word, or "" if there are not so many.
func at(values []string, i int) string {
	if i < len(values) {
		return values[i]
	}
	return ""
}

func openMPIOptions() []openMPIOption {
	return []openMPIOption{
		{[]string{"mca", "gmca", "omca", "prtemca", "pmixmca"}, func(values ...string) string {
			return fmt.Sprintf("-genv OMPI_MCA_%s %s", cmp.Or(at(values, 0), "NAME"), cmp.Or(at(values, 1), "VALUE"))
		}},
		{[]string{"x"}, func(values ...string) string {
			if value := at(values, 0); strings.Contains(value, "=") {
				return "-genv " + value
			}
			return "leave it out, as ranks get all variables; -genvlist passes on only some"
		}},
		{[]string{"wd"}, with("-wdir %s", "DIR")},
		{[]string{"app"}, with("-configfile %s", "FILE")},
		{[]string{"npernode"}, with("-ppn %s", "N")},
		{[]string{"pernode"}, is("-ppn 1")},
		{[]string{"bynode"}, is("-rr")},
		{[]string{"byslot"}, is("leave it out, as ranks fill the slots of a host in any case")},
		{[]string{"rankfile", "rf"}, is("-rankmap for the hosts of the ranks, -bind-to user:LIST for their CPUs")},
		{[]string{"rank-by"}, is("-rankmap for the hosts of the ranks")},
		{[]string{"nooversubscribe", "no-oversubscribe"}, is("leave it out, and -n: without it there are as many ranks as slots")},
		{[]string{"cpus-per-proc", "cpus-per-rank"}, with("-bind-to core:%s", "N")},
		{[]string{"bind-to-core"}, is("-bind-to core")},
		{[]string{"bind-to-socket"}, is("-bind-to socket")},
		{[]string{"bind-to-none"}, is("-bind-to none")},
		{[]string{"use-hwthread-cpus"}, is("-bind-to hwthread")},
		{[]string{"display-map", "display-devel-map", "display-allocation"}, is("-print-rank-map")},
		{[]string{"tag-output"}, is("-l")},
		{[]string{"timestamp-output"}, is("-prepend-pattern %t:")},
		{[]string{"output-filename"}, with("-outfile-pattern %s.%%r", "FILE")},
		{[]string{"merge-stderr-to-stdout"}, is("2>&1 at the end of the command")},
		{[]string{"enable-recovery"}, is("-disable-auto-cleanup")},
		{[]string{"prefix"}, is("leave it out; mpiexec has the same path on each host, or -hybrid-hosts finds it by PATH")},
		{[]string{"q", "quiet"}, is("leave it out, as mpiexec speaks only of failures; -silent-abort hides these, too")},
	}
}

// fromOpenMPI explains an option of Open MPI. It returns nil for a name that is none.
func fromOpenMPI(arg, name string, values []string) error {
	for _, option := range openMPIOptions() {
		if slices.Contains(option.names, strings.ToLower(name)) {
			return fmt.Errorf("%s is an option of Open MPI; here: %s", arg, option.here(values...))
		}
	}
	return nil
}

// isHostsOfOpenMPI tells -H HOSTS from our -h, which takes no value.
func isHostsOfOpenMPI(args []string) bool {
	return args[0] == "-H" && len(args) > 1 && !strings.HasPrefix(args[1], "-")
}

// explainMapping adds what to type in place of a word that Open MPI has for -map-by.
func explainMapping(value string, err error) error {
	if err == nil {
		return nil
	}
	words := strings.Split(strings.ToLower(value), ":")
	processors, hasPE := strings.CutPrefix(words[len(words)-1], "pe=")
	here := ""
	switch {
	case words[0] == "slot":
		here = "leave it out, as ranks fill the slots of a host in any case"
	case words[0] == "node":
		here = "-rr"
	case words[0] == "ppr" && len(words) > 2 && words[2] == "node":
		here = "-ppn " + words[1]
	case words[0] == "ppr":
		here = "-ppn N for the ranks of a host, -bind-to for their CPUs"
	case hasPE:
		here = fmt.Sprintf("-bind-to core:%s -map-by %s", processors, words[0])
	case len(words) > 1 && strings.HasSuffix(words[1], "oversubscribe"):
		here = "-map-by " + words[0]
	default:
		return err
	}
	return fmt.Errorf("%s is a value of Open MPI; here: %s", value, here)
}
