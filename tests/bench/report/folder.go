// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// newFolder makes the folder of one run's results in parent: 2026-11-21-amd-epyc-2-cpus,
// with "-2" and so on after it when it is there already.
func newFolder(parent string, day time.Time, cpu string, cpus int, suffix string) (string, error) {
	if err := os.MkdirAll(parent, 0o777); err != nil {
		return "", err
	}
	name := fmt.Sprintf("%s-%s-%d-cpus%s", day.Format(time.DateOnly), plain(cpu), cpus, suffix)
	for n := 1; ; n++ {
		path := filepath.Join(parent, name)
		if n > 1 {
			path += fmt.Sprintf("-%d", n)
		}
		err := os.Mkdir(path, 0o777)
		if !errors.Is(err, fs.ErrExist) {
			return path, err
		}
	}
}

var (
	noise   = regexp.MustCompile(`\((r|tm)\)|\b(cpu|processor|[0-9]+-core)\b|@.*`)
	unusual = regexp.MustCompile(`[^a-z0-9]+`)
)

// plain makes a file's name of a processor's: "Intel(R) Xeon(R) Platinum 8375C CPU @
// 2.90GHz" becomes "intel-xeon-platinum-8375c".
func plain(cpu string) string {
	name := noise.ReplaceAllString(strings.ToLower(cpu), " ")
	return strings.Trim(unusual.ReplaceAllString(name, "-"), "-")
}
