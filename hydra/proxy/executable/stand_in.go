// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package executable

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/internal/installation"
	"github.com/tpsl/tpsl/internal/soname"
)

// preloading returns the variable that makes ld.so load the stand-ins of these names before the program's own libraries, so that an RPATH
// of the program does not matter. What the user preloads stays first: these are tools in front of MPI.
func preloading(env []string, names ...string) ([]string, error) {
	folder, err := standIns()
	if err != nil {
		return nil, err
	}
	var files []string
	if theirs, _ := plan.Getenv(env, "LD_PRELOAD"); theirs != "" {
		files = append(files, theirs)
	}
	for _, name := range names {
		files = append(files, filepath.Join(folder, name))
	}
	return []string{"LD_PRELOAD=" + strings.Join(files, ":")}, nil
}

// finding returns the variable that makes ld.so find the stand-ins first. It is for a script that starts the MPI program,
// and for a program that opens the MPI library later. A preload would load libtpsl into every program that a script starts.
func finding(env []string) ([]string, error) {
	folder, err := standIns()
	if err != nil {
		return nil, err
	}
	if theirs, _ := plan.Getenv(env, "LD_LIBRARY_PATH"); theirs != "" {
		folder += ":" + theirs
	}
	return []string{"LD_LIBRARY_PATH=" + folder}, nil
}

// standIns returns the folder of the stand-ins.
func standIns() (folder string, err error) {
	for _, name := range soname.StandIns {
		file, err := installation.File(name)
		if err != nil {
			return "", fmt.Errorf("-tpsl shared needs a stand-in for the program's MPI library: %w; install tpsl anew", err)
		}
		folder = filepath.Dir(file)
	}
	if strings.ContainsAny(folder, " :;") {
		return "", fmt.Errorf("-tpsl shared cannot name %q to ld.so, which cuts it at a space, colon or semicolon; install tpsl elsewhere", folder)
	}
	return folder, nil
}
