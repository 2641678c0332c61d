// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package executable

import (
	"errors"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra/plan"
)

// LookPath finds a program as execvp(3) does, in the environment and the directory that it will run in. The folders of
// first, with colons between them, come before those of PATH.
func LookPath(name, first string, env []string, dir string) (string, error) {
	if strings.Contains(name, "/") {
		path := absolute(name, dir)
		return path, executable(path)
	}
	search, _ := plan.Getenv(env, "PATH")
	if first != "" {
		search = first + ":" + search
	}
	result := error(unix.ENOENT)
	for entry := range strings.SplitSeq(search, ":") {
		path := absolute(entry, dir) + "/" + name
		err := executable(path)
		if err == nil {
			return path, nil
		}
		if errors.Is(err, unix.EACCES) {
			result = err
		}
	}
	return "", result
}

func absolute(path, dir string) string {
	if strings.HasPrefix(path, "/") {
		return path
	}
	return dir + "/" + path
}

func executable(path string) error {
	var stat unix.Stat_t
	if err := unix.Stat(path, &stat); err != nil {
		return err
	}
	switch stat.Mode & unix.S_IFMT {
	case unix.S_IFREG:
	case unix.S_IFDIR:
		return unix.EISDIR
	default:
		return unix.EACCES
	}
	return unix.Access(path, unix.X_OK)
}
