// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package stdio

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/tpsl/tpsl/internal/debuginfo"
)

// A frameNamer gives names to the frames of crash reports (process/crash.c). The process that crashes writes files and
// offsets, as it can trust nothing of itself. What else is on stderr passes as it is.
type frameNamer struct {
	mu    sync.Mutex
	files map[string]*debuginfo.File // by path; nil: it says nothing
}

// frameLine is "tpsl:   #NUMBER PATH+0xOFFSET (SYMBOL+0xOFFSET)"; the part in parentheses may be missing.
var frameLine = regexp.MustCompile(`^(tpsl:   #\d+ )(/.*)\+0x([0-9a-f]+)( \([^()]+\+0x[0-9a-f]+\))?(\n?)$`)

// name rewrites the frames among some lines: function, source line and offset as far as they are known. Paths below the
// folder dir are given as seen from there.
func (n *frameNamer) name(lines []byte, dir string) []byte {
	if !bytes.Contains(lines, []byte("tpsl:   #")) {
		return lines
	}
	var out []byte
	for line := range bytes.Lines(lines) {
		if words := frameLine.FindSubmatch(line); words != nil {
			line = fmt.Appendf(nil, "%s%s%s", words[1], n.frame(string(words[2]), string(words[3]), string(words[4]), dir), words[5])
		}
		out = append(out, line...)
	}
	return out
}

func (n *frameNamer) frame(path, offset, symbol, dir string) string {
	where := filepath.Base(path) + "+0x" + offset
	address, err := strconv.ParseUint(offset, 16, 64)
	file := n.file(path)
	if err != nil || file == nil {
		return where + symbol
	}
	place := file.At(address)
	if rel, err := filepath.Rel(dir, place.Source); err == nil && place.Source != "" && !strings.HasPrefix(rel, "../") {
		place.Source = rel
	}
	if place.Source == "" && (symbol != "" || place.Function == "") {
		return where + symbol
	}
	return fmt.Sprintf("%v (%s)", place, where)
}

// file returns what a file says about its code, or nil. Opening anything but a regular file might wait.
func (n *frameNamer) file(path string) *debuginfo.File {
	n.mu.Lock()
	defer n.mu.Unlock()
	file, known := n.files[path]
	if known {
		return file
	}
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		file, _ = debuginfo.Open(path, debuginfo.Folder) // the report says less if it cannot be read
	}
	if n.files == nil {
		n.files = map[string]*debuginfo.File{}
	}
	n.files[path] = file
	return file
}
