// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// %[1]s is the mode.
const ledgerHead = `# SPDX-FileCopyrightText: The tpsl authors
# SPDX-License-Identifier: Apache-2.0
test	directory	ranks	arguments	flat	%[1]s	flat seconds	%[1]s seconds	note
`

// What in a note differs from machine to machine: folders, hosts and process ids.
var local = regexp.MustCompile(`/(tmp|[^ ]*/build)/[^ :,]*/|\[[^ ]+:\d+:\d+:\d+\] `)

// String is r's line of the ledger.
func (r result) String() string {
	note := local.ReplaceAllString(strings.Join(strings.Fields(r.note), " "), "")
	return strings.Join([]string{
		r.program, r.dir, strconv.Itoa(r.ranks), strings.Join(r.options(), " "), r.flat, r.ours,
		fmt.Sprintf("%.2f", r.flatSeconds), fmt.Sprintf("%.2f", r.oursSeconds), note,
	}, "\t")
}

// readLedger returns a ledger's results by their tests' names; of two lines about one
// test the later counts. A file that is not there is an empty ledger.
func readLedger(path string) (map[string]result, error) {
	text, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	results := map[string]result{}
	for n, line := range strings.Split(string(text), "\n") {
		f := strings.Split(line, "\t")
		if line == "" || line[0] == '#' || f[0] == "test" && f[1] == "directory" {
			continue
		}
		if len(f) != 9 {
			return nil, fmt.Errorf("%s:%d: %d columns, not 9", path, n+1, len(f))
		}
		r := result{test: test{program: f[0], dir: f[1]}, flat: f[4], ours: f[5], note: f[8]}
		for _, option := range strings.Fields(f[3]) {
			if e, ok := strings.CutPrefix(option, "env="); ok {
				r.env = append(r.env, e)
			} else {
				r.args = append(r.args, option)
			}
		}
		r.ranks, _ = strconv.Atoi(f[2])
		r.flatSeconds, _ = strconv.ParseFloat(f[6], 64)
		r.oursSeconds, _ = strconv.ParseFloat(f[7], 64)
		results[r.name()] = r
	}
	return results, nil
}

// appendLedger adds a line, and the head to the new file of a mode.
func appendLedger(path, mode string, r result) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	defer f.Close()
	if at, err := f.Seek(0, 2); err == nil && at == 0 {
		if _, err := fmt.Fprintf(f, ledgerHead, mode); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintln(f, r)
	return err
}
