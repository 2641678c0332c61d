# SPDX-FileCopyrightText: The tpsl authors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash

# What the scripts share: each sources it first, and is then in the repository's
# root folder.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# To build, and to compile programs; then what the tests add.
build_packages=(ca-certificates gcc gfortran libc6-dev libmpich-dev make)
test_packages=(bash-completion busybox-static clang cmake environment-modules eztrace g++ gdb git iproute2 libarpack2-dev libbpf-dev libcln-dev libginac-dev libhdf5-mpich-dev
	libibverbs-dev libnetcdf-dev libopenmpi-dev libpmix-dev libpython3-dev libscalapack-mpich-dev libucx-dev linux-perf llvm man-db mandoc mpich munge openssh-client openssh-server pkg-config
	procps python3-h5py python3-pandas python3-scipy qemu-system-x86 slurm-client slurmctld slurmd strace xz-utils zsh)

say() {
	printf '\n== %s\n' "$*"
}

die() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

# kill_jobs ends what the script has running in the background.
kill_jobs() {
	local running
	running=$(jobs -p)
	[[ -z $running ]] || kill $running 2>/dev/null || true # some may have ended meanwhile
}

as_root() {
	if [[ $(id -u) == 0 ]]; then
		"$@"
	else
		sudo "$@"
	fi
}

# install_packages NAME...: those of Debian's packages that are not installed.
install_packages() {
	local name missing=()
	command -v apt-get >/dev/null || die "this is not Debian: install what these packages hold, then run make: $*"
	for name; do
		[[ $(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null) == installed ]] || missing+=("$name")
	done
	[[ ${#missing[@]} == 0 ]] && return
	say "install ${missing[*]}"
	as_root apt-get update -q
	as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"
}

# A go command is new enough if it accepts go.mod; else it may fetch one that is.
go_works() {
	go list -m >/dev/null 2>&1 && return
	export GOTOOLCHAIN=auto
	go list -m >/dev/null 2>&1
}

# need_go puts a go command that can build this module in PATH.
need_go() {
	go_works && return
	local list=/etc/apt/sources.list.d/tpsl-backports.list release
	release=$(. /etc/os-release && echo "$VERSION_CODENAME-backports")
	if ! apt-get indextargets --format '$(RELEASE)' | grep -qx "$release"; then
		say "add $release to the package sources, for Go"
		as_root tee "$list" <<<"deb $(apt-get indextargets --format '$(SITE)' | head -n 1) $release main"
		as_root apt-get update -q
	fi
	say "install Go from $release"
	as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends -t "$release" golang-go || true
	go_works || die "$(sed -n 's/^go /needs Go /p' go.mod) or newer: install it from https://go.dev/dl and put it in PATH"
}
