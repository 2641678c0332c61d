// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package guest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A kernel is a folder in the user's cache: vmlinux, and folder modules with what a guest loads, in that order.
type kernel struct{ dir string }

func (k kernel) image() string { return filepath.Join(k.dir, "vmlinux") }

// modules returns the modules' files in the order to load them.
func (k kernel) modules() ([]string, error) {
	return filepath.Glob(filepath.Join(k.dir, "modules", "*.ko"))
}

// findKernel returns Debian's present kernel, fetched if the cache has it not. Of several processes that need it at once, one
// fetches and the others wait; a folder that is there is whole.
func findKernel(ctx context.Context) (kernel, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return kernel{}, err
	}
	return findKernelIn(ctx, filepath.Join(cache, "tpsl", "kernels"))
}

func findKernelIn(ctx context.Context, cache string) (kernel, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, fetchLimit, fmt.Errorf("no kernel within %v", fetchLimit))
	defer cancel()
	name, err := packageName(ctx)
	if err != nil {
		return kernel{}, err
	}
	k := kernel{filepath.Join(cache, name)}
	if err := os.MkdirAll(cache, 0o777); err != nil {
		return kernel{}, err
	}
	lock, err := os.OpenFile(filepath.Join(cache, "lock"), os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return kernel{}, err
	}
	defer lock.Close()
	if err := waitForLock(ctx, lock); err != nil {
		return kernel{}, err
	}
	if _, err := os.Stat(k.dir); !errors.Is(err, fs.ErrNotExist) {
		return k, err
	}
	if err := removeOthers(cache); err != nil {
		return kernel{}, err
	}
	work, err := os.MkdirTemp(cache, "work")
	if err != nil {
		return kernel{}, err
	}
	defer os.RemoveAll(work)
	if err := fetchKernel(ctx, name, work); err != nil {
		return kernel{}, fmt.Errorf("fetch Debian's package %s: %w", name, err)
	}
	return k, os.Rename(filepath.Join(work, "kernel"), k.dir)
}

// fetchLimit is how long it may take to have a kernel, that of another process's fetch included.
const fetchLimit = 5 * time.Minute

// waitForLock locks a file for this process, for as long as it is open.
func waitForLock(ctx context.Context, file *os.File) error {
	for {
		err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR):
			return fmt.Errorf("lock %s: %w", file.Name(), err)
		case ctx.Err() != nil:
			return fmt.Errorf("lock %s: %w", file.Name(), context.Cause(ctx))
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// removeOthers removes kernels that Debian has replaced, and what a fetch has left that was killed. Preconditions: the cache is
// locked; the present kernel is not in it.
func removeOthers(cache string) error {
	folders, err := filepath.Glob(filepath.Join(cache, "*"))
	for _, folder := range folders {
		if filepath.Base(folder) != "lock" {
			err = errors.Join(err, os.RemoveAll(folder))
		}
	}
	return err
}

// packageName is what linux-image-amd64 depends on.
func packageName(ctx context.Context) (string, error) {
	ask := exec.CommandContext(ctx, "apt-cache", "depends", "linux-image-amd64")
	ask.Env = append(os.Environ(), "LC_ALL=C") // it translates its words
	out, err := output(ask)
	if err != nil {
		return "", fmt.Errorf("look for Debian's kernel: %w", err)
	}
	for line := range strings.Lines(out) {
		if name, found := strings.CutPrefix(strings.TrimSpace(line), "Depends: "); found && !strings.ContainsAny(name, "/<") {
			return name, nil
		}
	}
	return "", errors.New("look for Debian's kernel: apt-cache knows no linux-image-amd64: run apt-get update")
}

// fetchKernel leaves in folder work a folder kernel.
func fetchKernel(ctx context.Context, name, work string) error {
	get := exec.CommandContext(ctx, "apt-get", "download", name)
	get.Dir = work
	if _, err := output(get); err != nil {
		return fmt.Errorf("%w (run apt-get update)", err)
	}
	found, _ := filepath.Glob(filepath.Join(work, "*.deb"))
	if len(found) != 1 {
		return fmt.Errorf("apt-get download left %d packages", len(found))
	}
	tree := filepath.Join(work, "tree")
	if _, err := output(exec.CommandContext(ctx, "dpkg", "-x", found[0], tree)); err != nil {
		return err
	}
	return keep(tree, filepath.Join(work, "kernel"))
}

// keep copies what a guest needs from an unpacked package.
func keep(tree, to string) error {
	images, _ := filepath.Glob(filepath.Join(tree, "boot", "vmlinuz-*"))
	if len(images) != 1 {
		return fmt.Errorf("%d kernels in it", len(images))
	}
	if err := os.MkdirAll(filepath.Join(to, "modules"), 0o777); err != nil {
		return err
	}
	modules, err := findModules(filepath.Join(tree, "lib", "modules"))
	if err != nil {
		return err
	}
	for i, path := range modules {
		content, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(filepath.Join(to, "modules", fmt.Sprintf("%02d-%s", i, filepath.Base(path))), content, 0o666)
		}
		if err != nil {
			return err
		}
	}
	image, err := os.ReadFile(images[0])
	if err != nil {
		return err
	}
	if image, err = decompressKernel(image); err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(images[0]), err)
	}
	return os.WriteFile(filepath.Join(to, "vmlinux"), image, 0o666)
}

// output runs a command, whose complaint is part of the error.
func output(cmd *exec.Cmd) (string, error) {
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && len(exit.Stderr) > 0 {
		err = fmt.Errorf("%w: %s", err, strings.TrimSpace(string(exit.Stderr)))
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", filepath.Base(cmd.Path), err)
	}
	return string(out), nil
}
