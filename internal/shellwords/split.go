// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package shellwords

import (
	"errors"
	"strings"
)

// ErrContinued is a backslash at the end of a line.
var ErrContinued = errors.New("a backslash stands at the end")

// Split cuts a line at white space, as a shell does: quotes and backslashes keep it, in single quotes all stands for
// itself, in double quotes a backslash only works before a quote or a backslash, and a word that begins with # starts a comment.
func Split(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	var quote byte
	inWord, escaped := false, false
scan:
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
		case quote == 0 && c == '#' && !inWord:
			break scan
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
	case escaped:
		return nil, ErrContinued
	case quote != 0:
		return nil, errors.New("a quote is not closed")
	case inWord:
		words = append(words, word.String())
	}
	return words, nil
}
