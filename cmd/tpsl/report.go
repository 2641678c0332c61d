// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/tpsl/tpsl/internal/flags"
	"github.com/tpsl/tpsl/profile"
)

const reportUsage = `usage: tpsl report [-html FILE] A.json [B.json]

Says what the ranks of a job did in MPI: which rank is slow, which lines wait,
who sends to whom, and what to change. A.json is what mpiexec -profile wrote.
With a second profile it compares the two; ratios are those of B to A.

  -html FILE  write the page of A to FILE, and no text
`

// reportProfile runs tpsl report.
func reportProfile(args []string, to streams) int {
	var out bytes.Buffer
	page, err := report(args, &out)
	switch {
	case errors.Is(err, flags.ErrHelp):
		fmt.Fprint(to.out, reportUsage)
		return 0
	case err == nil && page != "":
		err = os.WriteFile(page, out.Bytes(), 0o666)
	case err == nil:
		fmt.Fprint(to.out, out.String())
	}
	if err != nil {
		fmt.Fprintf(to.err, "tpsl report: %v\n", err)
		return exitUsage
	}
	return 0
}

// report writes what args ask for. page is the file that it is for; "": it is for the terminal.
func report(args []string, w io.Writer) (page string, err error) {
	set := flags.New("report")
	set.StringVar(&page, "html", "", "")
	files, err := parseFiles(set, args)
	if err != nil {
		return "", err
	}
	htmlGiven := false
	set.Visit(func(*flag.Flag) { htmlGiven = true })
	switch {
	case len(files) == 0:
		return "", errors.New("no profile given; want the file that mpiexec -profile wrote")
	case len(files) > 2:
		return "", fmt.Errorf("%d profiles given; want one, or two to compare", len(files))
	case htmlGiven && page == "":
		return "", errors.New("-html: no file named")
	case page != "" && len(files) == 2:
		return "", errors.New("-html writes the page of one profile, and two are given")
	case page != "" && isSame(page, files[0]):
		return "", fmt.Errorf("-html %s: that is the profile itself", page)
	}
	var profiles []*profile.Profile
	for _, name := range files {
		p, err := readProfile(name)
		if err != nil {
			return "", err
		}
		profiles = append(profiles, p)
	}
	switch {
	case len(profiles) == 2:
		return "", profile.Compare(profiles[0], profiles[1], w)
	case page != "":
		return page, profiles[0].Page(w)
	}
	return "", profiles[0].Text(w)
}

// parseFiles reads options, which may stand behind files, too. Words behind -- are files.
func parseFiles(set *flag.FlagSet, args []string) (files []string, err error) {
	for {
		if err := flags.Parse(set, args); err != nil {
			return nil, err
		}
		rest := set.Args()
		if last := len(args) - len(rest) - 1; len(rest) == 0 || last >= 0 && args[last] == "--" {
			return append(files, rest...), nil
		}
		files, args = append(files, rest[0]), rest[1:]
	}
}

func isSame(a, b string) bool {
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}

func readProfile(name string) (*profile.Profile, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	p, err := profile.Read(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return p, nil
}
