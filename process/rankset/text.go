// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package rankset

import "fmt"

// HugeText tells whether TPSL_TEXT wants the text of the ranks' libraries in huge pages.
func HugeText(getenv func(string) string) (bool, error) {
	switch word := getenv("TPSL_TEXT"); word {
	case "", "file":
		return false, nil
	case "huge":
		return true, nil
	default:
		return false, fmt.Errorf("environment: TPSL_TEXT=%q: want file or huge", word)
	}
}
