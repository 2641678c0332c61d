// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"errors"
	"strings"
)

// splitWords cuts a line at white space. Quotes and backslashes keep it, as in a shell: in single quotes all stands for
// itself, in double quotes a backslash only works before a quote or a backslash.
func splitWords(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	var quote byte
	inWord, escaped := false, false
	for i := range len(line) {
		c := line[i]
		switch {
		case escaped:
			if quote == '"' && c != '"' && c != '\\' {
				word.WriteByte('\\')
			}
			word.WriteByte(c)
			escaped = false
		case c == '\\' && quote != '\'':
			inWord, escaped = true, true
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			inWord, quote = true, c
		case quote == 0 && strings.IndexByte(" \t\r\n", c) >= 0:
			if inWord {
				words = append(words, word.String())
			}
			word.Reset()
			inWord = false
		default:
			inWord = true
			word.WriteByte(c)
		}
	}
	switch {
	case quote != 0:
		return nil, errors.New("a quote is not closed")
	case escaped:
		return nil, errors.New("a backslash stands at the end")
	case inWord:
		words = append(words, word.String())
	}
	return words, nil
}
