// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tpsl/tpsl/internal/soname"
	"github.com/tpsl/tpsl/loader"
	"github.com/tpsl/tpsl/process/rankset"
)

// Config returns what both modes want of the instances of a rank set, by the environment. folder is
// where what is installed beside the library lies.
func Config(set *rankset.Set, folder string, getenv func(string) string) (loader.Config, error) {
	yields, err := set.Yields(folder, getenv)
	if err != nil {
		return loader.Config{}, err
	}
	huge, err := rankset.HugeText(getenv)
	if err != nil {
		return loader.Config{}, err
	}
	return loader.Config{Preload: append(notes(folder, getenv), yields...), Instead: set.Instead(folder), HugeText: huge, Refused: warn, Peers: set.Peers}, nil
}

// notes returns the library that notes the calls of each rank, if the launcher wants them and has not put it in front of the process.
func notes(folder string, getenv func(string) string) []string {
	if getenv("TPSL_BOARD_FD") == "" || strings.Contains(getenv("LD_PRELOAD"), soname.Calls) {
		return nil
	}
	return []string{filepath.Join(folder, soname.Calls)}
}

func warn(err error) { fmt.Fprintln(os.Stderr, "tpsl:", err) }
