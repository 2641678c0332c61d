// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"slices"

	"github.com/tpsl/tpsl/loader/plan"
)

// sum adds up what an instance takes: the private rows.
func (l *looker) sum() {
	s := Instance{StaticMax: l.static, Relocations: map[string]int{}, Rebound: []string{}}
	for _, o := range l.Objects {
		if o.Placement != plan.Private.String() {
			continue
		}
		s.Text += o.Text
		s.Data += o.Data
		s.Static += o.TLS.Static
		s.Init += o.Init
		for kind, n := range o.Relocations {
			s.Relocations[kind] += n
		}
		s.Rebound = append(s.Rebound, o.Rebound...)
	}
	slices.Sort(s.Rebound)
	s.Rebound = slices.Compact(s.Rebound)
	s.Static = max(s.Static, l.Instance.Static) // a plan adds what alignment takes
	l.Instance = s
}
