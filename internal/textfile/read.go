// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package textfile

import (
	"fmt"
	"io"
	"os"
)

// most bounds how much is read, in bytes, because the file may be a device by mistake.
const most = 64 << 20

// Read returns the text of a file that is meant to be what `as` says, such as "a host file".
func Read(path, as string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, most+1))
	if err != nil {
		return "", err
	}
	if len(text) > most {
		return "", fmt.Errorf("%s: too long for %s", path, as)
	}
	return string(text), nil
}
