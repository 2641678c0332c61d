// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package testsupport

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Require is Unable when one of the tools is not in PATH.
func Require(t testing.TB, tools ...string) {
	t.Helper()
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err == nil {
			continue
		}
		Unable(t, "%s is not installed", tool)
	}
}

// Unable ends a test for which the machine lacks something: skipped, but where CI=true it fails, so that CI cannot miss
// what it must run.
func Unable(t testing.TB, format string, a ...any) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf(format+", and CI must have it", a...)
	}
	t.Skipf(format, a...)
}

// Root returns the repository's root folder.
func Root(t testing.TB) string {
	t.Helper()
	dir, err := root()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// The tests of a package run in its folder, so the root is above it.
var root = sync.OnceValues(func() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("find repository root: no go.mod above the working directory")
		}
		dir = parent
	}
})

// Build runs make, once per test binary and one at a time among all of them, unless TPSL_TEST_BUILT
// says that this tree is built. It returns the repository's root folder, which then has bin/ and lib/.
func Build(t testing.TB) string {
	t.Helper()
	Require(t, "make", "gcc")
	dir, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

var build = sync.OnceValues(func() (string, error) {
	dir, err := root()
	if err != nil || dir == os.Getenv("TPSL_TEST_BUILT") {
		return dir, err
	}
	locked, err := lock(dir, "lock")
	if err != nil {
		return "", err
	}
	defer locked.Close()
	if out, err := exec.Command("make", "-s", "-C", dir, "all").CombinedOutput(); err != nil {
		return "", fmt.Errorf("make: %w\n%s", err, out)
	}
	return dir, nil
})

// lock takes a lock, a file in build/, that only one process at a time has. Closing the file gives it back.
func lock(root, name string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Join(root, "build"), 0o777); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(root, "build", name), os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX); err != nil {
		file.Close()
		return nil, fmt.Errorf("lock %s: %w", file.Name(), err)
	}
	return file, nil
}

// Benchmarks has a test wait for its turn to build or run the benchmarks in
// build/bench: several commands make the same programs there.
func Benchmarks(t testing.TB) {
	t.Helper()
	Limit(t, 10*time.Minute) // for the others' turns
	locked, err := lock(Root(t), "bench.lock")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { locked.Close() })
}

var fixtures sync.Map // key -> func() error

// CC compiles a C source, named relative to the test's folder, as
// "compiler src flags... -o path", once per test binary, and returns the path.
// tpslcc and its kin are the ones that Build makes; any other compiler must be
// in PATH.
func CC(t testing.TB, compiler, src string, flags ...string) string {
	t.Helper()
	dir := Root(t)
	if strings.HasPrefix(compiler, "tpsl") {
		compiler = filepath.Join(Build(t), "bin", compiler)
	} else {
		Require(t, compiler)
	}
	src, err := filepath.Abs(src)
	if err != nil {
		t.Fatal(err)
	}
	key := fmt.Sprintf("%q %q %q", compiler, src, flags)
	name := strings.TrimSuffix(filepath.Base(src), filepath.Ext(src))
	path := filepath.Join(dir, "build", "fixtures", fmt.Sprintf("%x", sha256.Sum256([]byte(key)))[:12], name)
	once, _ := fixtures.LoadOrStore(key, sync.OnceValue(func() error {
		return compile(dir, compiler, src, flags, path)
	}))
	if err := once.(func() error)(); err != nil {
		t.Fatal(err)
	}
	return path
}

// compile writes beside path first, and leaves a file there that is the same: another test binary may be running it. Of a file that is
// replaced, /proc says that it was deleted, and the loader refuses to map it once more.
func compile(root, compiler, src string, flags []string, path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	tmp := fmt.Sprintf("%s.%d", path, os.Getpid())
	args := append(append([]string{src}, flags...), "-o", tmp)
	if out, err := exec.Command(compiler, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", compiler, strings.Join(args, " "), err, out)
	}
	locked, err := lock(root, "fixtures.lock") // what is compared here is what others put here
	if err != nil {
		return err
	}
	defer locked.Close()
	made, err := os.ReadFile(tmp)
	if err != nil {
		return err
	}
	if there, err := os.ReadFile(path); err == nil && bytes.Equal(made, there) {
		return os.Remove(tmp)
	}
	return os.Rename(tmp, path)
}
