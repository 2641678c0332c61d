// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"regexp"
	"strings"
)

// A variable of a module in LLVM's assembly language has one line at the left margin:
//
//	@name = [linkage etc.] [thread_local] [unnamed_addr] global|constant TYPE VALUE, ...
//
// Variables at file scope and static ones in functions alike.
var variable = regexp.MustCompile(`(?m)^@([\w.$]+) = ((?:[a-z_]+ )*?)((?:local_)?unnamed_addr )?(global|constant) (.*)$`)

var (
	literal    = regexp.MustCompile(`c"[^"]*"`)
	nameUsed   = regexp.MustCompile(`@([\w.$]+)`)
	mainOfTest = regexp.MustCompile(`@main\(`)
)

// A module is what clang makes of one source.
type module struct {
	text string
	// Names of the variables that the module defines and may write to: all, and
	// those of them that other modules can use.
	own, exported map[string]bool
}

func newModule(text string) module {
	m := module{text: text, own: map[string]bool{}, exported: map[string]bool{}}
	for _, v := range variable.FindAllStringSubmatch(text, -1) {
		name, linkage, kind := v[1], v[2], v[4]
		if kind == "constant" || hasWord(linkage, "external") || strings.HasPrefix(name, "llvm.") {
			continue
		}
		m.own[name] = true
		if !hasWord(linkage, "internal") && !hasWord(linkage, "private") {
			m.exported[name] = true
		}
	}
	return m
}

func hasWord(s, word string) bool { return strings.Contains(" "+s, " "+word+" ") }

// perRank makes m's own variables, and those of others that it uses, thread-local and
// renames main, which every rank calls. A variable whose first value is the address of
// such a one cannot be rewritten: the address is another for each rank.
func (m module) perRank(others map[string]bool) (string, error) {
	local := func(name string) bool { return m.own[name] || others[name] }
	var refused error
	text := variable.ReplaceAllStringFunc(m.text, func(line string) string {
		v := variable.FindStringSubmatch(line)
		if strings.HasPrefix(v[1], "llvm.") {
			return line
		}
		for _, used := range nameUsed.FindAllStringSubmatch(literal.ReplaceAllString(v[5], ""), -1) {
			if local(used[1]) && refused == nil {
				refused = fmt.Errorf("%s begins as an address in %s, which each rank has elsewhere", v[1], used[1])
			}
		}
		if v[4] == "constant" || !local(v[1]) {
			return line
		}
		return fmt.Sprintf("@%s = %sthread_local %sglobal %s", v[1], v[2], v[3], v[5])
	})
	return mainOfTest.ReplaceAllString(text, "@tpsl_test_main("), refused
}
