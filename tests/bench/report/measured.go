// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tpsl/tpsl/tests/bench/results"
)

const (
	measuredKey = "measured"
	onlyMark    = ", only "
)

// Everything and Quick are what was measured, as Measured writes it; a command may have other words.
const (
	Everything = "everything"
	Quick      = "quick"
)

// Measured returns the line of a raw file's header that tells what was measured, on so many cores. what "" stands for
// Everything or Quick.
func (o *Options) Measured(what string, cores int) string {
	switch {
	case what != "":
	case o.Quick:
		what = Quick
	default:
		what = Everything
	}
	line := fmt.Sprintf("# %s: %s, %d cores", measuredKey, what, cores)
	if o.Only != nil {
		line += onlyMark + o.Only.String()
	}
	return line
}

// WasMeasured returns what Measured was told, maybe on another machine; "" for an older file.
func WasMeasured(found *results.Set) (what string, cores int) {
	line, _, _ := strings.Cut(found.Setting(measuredKey), onlyMark)
	if _, err := fmt.Sscanf(strings.ReplaceAll(line, ",", ""), "%s %d cores", &what, &cores); err != nil {
		return "", 0
	}
	return what, cores
}

// Due returns the goals that a file has to reach: of a part that -only chose, and of an older file, those with a value.
func Due(found *results.Set, goals []Goal) []Goal {
	if what, _ := WasMeasured(found); what != "" && !strings.Contains(found.Setting(measuredKey), onlyMark) {
		return goals
	}
	return slices.DeleteFunc(slices.Clone(goals), func(g Goal) bool { return !g.Measured(found) })
}
