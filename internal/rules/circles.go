// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var (
	commentOrString = regexp.MustCompile(`(?s)/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"`)
	headOfFunction  = regexp.MustCompile(`(?m)^[^\s#{}][^;{}]*\)\n\{`)
	ownName         = regexp.MustCompile(`\b(?:tpsl|TPSL)_\w+\(`)
	callInMacro     = strings.NewReplacer("TPSL_INSIDE;", "tpsl_gate_enter();") // loader.h
)

// called returns which of the files with a function a file may call: those of its own folder, or else all.
func called(from string, homes []string) []string {
	var near []string
	for _, home := range homes {
		if filepath.Dir(home) == filepath.Dir(from) {
			near = append(near, home)
		}
	}
	if near != nil {
		return near
	}
	return homes
}

// checkCircles returns a line for each circle of C files, by name, that call functions of one another. An address in
// a table is no call.
func checkCircles(files map[string]string) (circles []string) {
	code, homes := map[string]string{}, map[string][]string{} // homes are the files that have a function of this name
	for name, text := range files {
		code[name] = callInMacro.Replace(commentOrString.ReplaceAllString(text, " "))
		for _, head := range headOfFunction.FindAllString(code[name], -1) {
			if function := ownName.FindString(head); function != "" && !strings.Contains(head, "static ") {
				homes[function] = append(homes[function], name)
			}
		}
	}
	calls := map[string][]string{}
	for name, text := range code {
		for _, call := range ownName.FindAllString(text, -1) {
			for _, to := range called(name, homes[call]) {
				if to != name && !slices.Contains(calls[name], to) {
					calls[name] = append(calls[name], to)
				}
			}
		}
		slices.Sort(calls[name])
	}
	done := map[string]bool{}
	var visit func(way []string)
	visit = func(way []string) {
		at := way[len(way)-1]
		for _, to := range calls[at] {
			if i := slices.Index(way, to); i >= 0 {
				circles = append(circles, strings.Join(append(slices.Clone(way[i:]), to), " -> "))
			} else if !done[to] {
				visit(append(way, to))
			}
		}
		done[at] = true
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !done[name] {
			visit([]string{name})
		}
	}
	return circles
}
