// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"fmt"
	"os"

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
	return loader.Config{Preload: yields, HugeText: huge, Refused: warn, Peers: set.Peers}, nil
}

func warn(err error) { fmt.Fprintln(os.Stderr, "tpsl:", err) }
