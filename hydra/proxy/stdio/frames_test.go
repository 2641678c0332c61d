// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package stdio

import (
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/internal/testsupport"
)

func addressOf(t *testing.T, path, function string) uint64 {
	t.Helper()
	file, err := elf.Open(path)
	require.NoError(t, err)
	defer file.Close()
	symbols, err := file.Symbols()
	require.NoError(t, err)
	for _, s := range symbols {
		if s.Name == function {
			return s.Value
		}
	}
	t.Fatalf("%s has no %s", path, function)
	return 0
}

// Frames get names. All other text is as it was.
func TestFrameNames(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "place.c")
	require.NoError(t, os.WriteFile(source, []byte("int first(void) { return 1; }\n\nint main(void)\n{\n    return first();\n}\n"), 0o666))
	program := testsupport.CC(t, "gcc", source, "-g")
	bare := testsupport.CC(t, "gcc", source, "-g0")
	at := addressOf(t, program, "main")
	fifo := filepath.Join(dir, "fifo")
	require.NoError(t, unix.Mkfifo(fifo, 0o666))
	long := fmt.Sprintf("+%#x", at)

	var n frameNamer
	for line, want := range map[string]string{
		"tpsl:   #0 " + program + long + " (main+0x0)\n":    "tpsl:   #0 main place.c:4 (place" + long + ")\n",
		"tpsl:   #12 " + program + long + "\n":              "tpsl:   #12 main place.c:4 (place" + long + ")\n",
		"tpsl:   #1 " + bare + long + "\n":                  "tpsl:   #1 main (place" + long + ")\n",
		"tpsl:   #1 " + bare + long + " (other+0x3)\n":      "tpsl:   #1 place" + long + " (other+0x3)\n",
		"tpsl:   #1 " + program + "+0xffffffffffff\n":       "tpsl:   #1 place+0xffffffffffff\n",
		"tpsl:   #1 " + program + "+0xfffffffffffffffff\n":  "tpsl:   #1 place+0xfffffffffffffffff\n",
		"tpsl:   #2 /no such/lib.so+0x10 (f+0x1)\n":         "tpsl:   #2 lib.so+0x10 (f+0x1)\n",
		"tpsl:   #2 " + fifo + "+0x10\n":                    "tpsl:   #2 fifo+0x10\n",
		"tpsl:   #3 0x10, which is in no library\n":         "tpsl:   #3 0x10, which is in no library\n",
		"tpsl:   #3 relative+0x10\n":                        "tpsl:   #3 relative+0x10\n",
		"see tpsl:   #0 " + program + long + "\n":           "see tpsl:   #0 " + program + long + "\n",
		"tpsl:   #0 " + program + long + " and more text\n": "tpsl:   #0 " + program + long + " and more text\n",
		"text\ntpsl:   #2 /x/lib.so+0x10\nmore":             "text\ntpsl:   #2 lib.so+0x10\nmore",
		"tpsl:   #4 /x/lib.so+0x10":                         "tpsl:   #4 lib.so+0x10",
		"":                                                  "",
	} {
		assert.Equal(t, want, string(n.name([]byte(line), dir)))
	}
	elsewhere := string(n.name([]byte("tpsl:   #0 "+program+long+"\n"), "/elsewhere"))
	assert.Equal(t, "tpsl:   #0 main "+source+":4 (place"+long+")\n", elsewhere)
}
