// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package executable

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// IsELF reports whether the file begins as an ELF file does. sh cannot run such a file, whatever else is wrong with it.
func IsELF(path string) bool { return bytes.HasPrefix(head(path), []byte(elf.ELFMAG)) }

// WhyNotRun explains an error of execve(2) in the folder dir. The error does not say whether it is about the program or about what runs it.
func WhyNotRun(path, dir string, err error) error {
	file, notELF := elf.Open(path)
	if notELF == nil {
		defer file.Close()
	}
	switch {
	case errors.Is(err, unix.ENOEXEC) && notELF == nil && file.Machine != elf.EM_X86_64:
		return fmt.Errorf("it is a program for another machine, %s: %w", strings.TrimPrefix(file.Machine.String(), "EM_"), err)
	case errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EACCES):
		interpreter := scriptInterpreter(path)
		if notELF == nil {
			interpreter = elfInterpreter(file)
		}
		if why := unix.Access(absolute(interpreter, dir), unix.X_OK); interpreter != "" && why != nil {
			return fmt.Errorf("its interpreter %q: %w", interpreter, why)
		}
	}
	return err
}

// scriptInterpreter returns what a script names behind #!, or "".
func scriptInterpreter(path string) string {
	line, _, _ := bytes.Cut(head(path), []byte("\n"))
	rest, isScript := strings.CutPrefix(string(line), "#!")
	if !isScript {
		return ""
	}
	interpreter, _, _ := strings.Cut(strings.TrimLeft(rest, " \t"), " ")
	interpreter, _, _ = strings.Cut(interpreter, "\t")
	return interpreter
}

// elfInterpreter returns the dynamic linker that a program names, or "".
func elfInterpreter(file *elf.File) string {
	for _, segment := range file.Progs {
		if segment.Type == elf.PT_INTERP {
			name, _ := io.ReadAll(io.LimitReader(segment.Open(), unix.PathMax))
			return strings.TrimRight(string(name), "\x00")
		}
	}
	return ""
}

// head returns the part of a file in which the kernel looks for #!: BINPRM_BUF_SIZE in linux/binfmts.h.
func head(path string) []byte {
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	start, _ := io.ReadAll(io.LimitReader(file, 256))
	return start
}
