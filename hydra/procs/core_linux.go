// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package procs

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// CoreFile returns the core that a process has left in dir, its working directory. It returns "" if it finds none, because the
// kernel may pipe cores to a program (core(5)).
func CoreFile(pid int, dir string, since time.Time) string {
	pattern, _ := os.ReadFile("/proc/sys/kernel/core_pattern")
	usesPID, _ := os.ReadFile("/proc/sys/kernel/core_uses_pid")
	glob := coreGlob(strings.TrimSpace(string(pattern)), strings.TrimSpace(string(usesPID)) == "1", pid)
	if glob == "" {
		return ""
	}
	if !filepath.IsAbs(glob) {
		glob = filepath.Join(globEscape(dir), glob)
	}
	paths, _ := filepath.Glob(glob) // the pattern is well formed
	for _, path := range paths {
		info, err := os.Lstat(path)
		if err == nil && info.Mode().IsRegular() && !info.ModTime().Before(since) {
			return path
		}
	}
	return ""
}

// coreGlob turns core_pattern into a pattern for the core of one process. Parts that are not known match any text.
func coreGlob(pattern string, usesPID bool, pid int) string {
	if pattern == "" || pattern[0] == '|' || pattern[0] == '@' {
		return ""
	}
	var b strings.Builder
	named := false
	for i := 0; i < len(pattern); i++ {
		if pattern[i] != '%' {
			b.WriteString(globEscape(pattern[i : i+1]))
			continue
		}
		if i++; i == len(pattern) {
			break
		}
		switch pattern[i] {
		case '%':
			b.WriteByte('%')
		case 'p':
			named = true
			b.WriteString(strconv.Itoa(pid))
		default:
			b.WriteByte('*')
		}
	}
	if usesPID && !named {
		b.WriteString("." + strconv.Itoa(pid))
	}
	return b.String()
}

func globEscape(text string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(text)
}
