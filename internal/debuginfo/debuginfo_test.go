// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package debuginfo

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// program returns a copy of the program of testdata, which the test may change.
func program(t *testing.T, flags ...string) string {
	t.Helper()
	built, err := os.ReadFile(testsupport.CC(t, "gcc", "testdata/place.c", flags...))
	require.NoError(t, err)
	copied := filepath.Join(t.TempDir(), "place")
	require.NoError(t, os.WriteFile(copied, built, 0o777))
	return copied
}

// addressOf returns the address of the instruction, in one function, that calls another one, as objdump tells it.
func addressOf(t *testing.T, path, in, callee string) uint64 {
	t.Helper()
	text, err := exec.Command("objdump", "-d", "--no-show-raw-insn", path).Output()
	require.NoError(t, err)
	_, body, found := strings.Cut(string(text), "<"+in+">:\n")
	require.True(t, found, string(text))
	call := regexp.MustCompile(`(?m)^ +([0-9a-f]+):\tcall +[0-9a-f]+ <` + callee + `[@>]`).FindStringSubmatch(body)
	require.NotNil(t, call, body)
	address, err := strconv.ParseUint(call[1], 16, 64)
	require.NoError(t, err)
	return address
}

func command(t *testing.T, words ...string) {
	t.Helper()
	out, err := exec.Command(words[0], words[1:]...).CombinedOutput()
	require.NoError(t, err, string(out))
}

func open(t *testing.T, path, debug string) *File {
	t.Helper()
	file, err := Open(path, debug)
	require.NoError(t, err)
	return file
}

// The places of two calls, by each way in which debugging information comes.
func TestAt(t *testing.T) {
	testsupport.Require(t, "objdump", "objcopy", "strip")
	for _, flags := range [][]string{{"-g"}, {"-g", "-gdwarf-4"}, {"-g", "-gz"}, {"-g", "-no-pie"}, {"-g", "-O1"}} {
		t.Run(strings.Join(flags, " "), func(t *testing.T) {
			path := program(t, append(flags, "-Wl,--build-id")...)
			crash, call := addressOf(t, path, "deep", "abort"), addressOf(t, path, "main", "deep")
			exact := func(file *File) {
				t.Helper()
				for address, want := range map[uint64]Place{crash: {Function: "deep", Line: 6}, call: {Function: "main", Line: 13}} {
					at := file.At(address)
					assert.Equal(t, "place.c", filepath.Base(at.Source))
					at.Source, at.Offset = "", 0
					assert.Equal(t, want, at)
				}
			}
			exact(open(t, path, ""))

			debug := t.TempDir()
			separate := filepath.Join(filepath.Dir(path), "place.debug")
			command(t, "objcopy", "--only-keep-debug", path, separate)
			command(t, "strip", path)
			assert.Equal(t, Place{}, open(t, path, debug).At(crash), "nothing says where the debugging information is")

			t.Run("by name", func(t *testing.T) {
				linked := path + ".linked"
				command(t, "objcopy", "--add-gnu-debuglink="+separate, path, linked)
				exact(open(t, linked, debug))
				require.NoError(t, os.WriteFile(separate+".other", []byte("other"), 0o666))
				require.NoError(t, os.Rename(separate, separate+".kept"))
				require.NoError(t, os.Rename(separate+".other", separate))
				assert.Equal(t, Place{}, open(t, linked, debug).At(crash), "the file of that name has another checksum")
				require.NoError(t, os.Rename(separate+".kept", separate))
			})
			t.Run("by build ID", func(t *testing.T) {
				file, err := elf.Open(path)
				require.NoError(t, err)
				id := BuildID(file)
				file.Close()
				require.Len(t, id, 40)
				folder := filepath.Join(debug, ".build-id", id[:2])
				require.NoError(t, os.MkdirAll(folder, 0o777))
				require.NoError(t, os.Rename(separate, filepath.Join(folder, id[2:]+".debug")))
				exact(open(t, path, debug))
			})
		})
	}
}

// Without debugging information there are the functions of the symbol tables.
func TestAtWithoutLines(t *testing.T) {
	testsupport.Require(t, "objdump")
	path := program(t, "-g0")
	at := open(t, path, "").At(addressOf(t, path, "deep", "abort"))
	assert.Equal(t, "deep", at.String())
	assert.Equal(t, Place{}, open(t, path, "").At(1<<40))
	assert.Equal(t, Place{}, open(t, path, "").At(0))
	assert.Equal(t, "?", Place{}.String())
}

func TestOpenRefuses(t *testing.T) {
	_, err := Open(filepath.Join(t.TempDir(), "absent"), "")
	assert.ErrorIs(t, err, os.ErrNotExist)
	_, err = Open("debuginfo.go", "")
	assert.ErrorContains(t, err, "debuginfo.go: bad magic number")
}

// Broken files give an error or less knowledge, and never a panic.
func FuzzOpen(f *testing.F) {
	seed, err := os.ReadFile("/bin/true")
	if err == nil {
		f.Add(seed, uint64(0x2000))
	}
	f.Fuzz(func(t *testing.T, content []byte, address uint64) {
		path := filepath.Join(t.TempDir(), "file")
		if os.WriteFile(path, content, 0o666) != nil {
			return
		}
		if file, err := Open(path, ""); err == nil {
			file.At(address)
		}
	})
}
