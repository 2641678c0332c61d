// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"fmt"
	"slices"
)

// addTool puts the first tool that is for a rank of the set in front of its program.
func (p *proxy) addTool(s *start) error {
	for _, tool := range p.host.Tools {
		if !tool.Ranks.HoldAny(s.set.Ranks) {
			continue
		}
		path, err := lookPath(tool.Command[0], "", s.env, s.dir)
		if err != nil {
			return fmt.Errorf("option -%s: cannot run %s on %s: %w", tool.Option, tool.Command[0], p.host.Name, err)
		}
		s.args = slices.Concat(tool.Command, []string{s.path}, s.args[1:])
		s.path = path
		return nil
	}
	return nil
}
