// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tpsl/tpsl/internal/soname"
	"github.com/tpsl/tpsl/loader"
	"github.com/tpsl/tpsl/process/rankset"
)

// Config returns what both modes want of the instances of a rank set, by the environment. folder is
// where what is installed beside the library lies. Of tools, which the user preloads, each instance gets copies, behind what notes its calls.
func Config(set *rankset.Set, folder string, tools []string, getenv func(string) string) (loader.Config, error) {
	yields, err := set.Yields(folder, getenv)
	if err != nil {
		return loader.Config{}, err
	}
	huge, err := rankset.HugeText(getenv)
	if err != nil {
		return loader.Config{}, err
	}
	return loader.Config{Preload: slices.Concat(notes(set, folder, getenv), tools, yields), Instead: set.Instead(folder), HugeText: huge, Refused: warn, Peers: set.Peers}, nil
}

// notes returns the library that notes the calls of each rank, or counts them as well, if the launcher of the ranks wants that and has not
// put it in front of the process.
func notes(set *rankset.Set, folder string, getenv func(string) string) []string {
	library := soname.Calls
	if getenv("TPSL_COUNTS") != "" {
		library = soname.Profile
	}
	if set.Own != "" || getenv("TPSL_BOARD_FD") == "" || strings.Contains(getenv("LD_PRELOAD"), library) {
		return nil
	}
	return []string{filepath.Join(folder, library)}
}

func warn(err error) { fmt.Fprintln(os.Stderr, "tpsl:", err) }
