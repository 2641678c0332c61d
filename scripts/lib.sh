# SPDX-FileCopyrightText: The tpsl authors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash

# What the scripts share: each sources it first, and is then in the repository's
# root folder.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# To build, and to compile programs; then what the tests add.
build_packages=(ca-certificates gcc gfortran libc6-dev libmpich-dev make)
test_packages=(bash-completion busybox-static chromium-headless-shell clang cmake environment-modules eztrace g++ gdb git iproute2 libarpack2-dev libbpf-dev libcln-dev libginac-dev libhdf5-mpich-dev
	libibverbs-dev libnetcdf-dev libopenmpi-dev libpmix-dev libpython3-dev libscalapack-mpich-dev libucx-dev linux-perf llvm man-db mandoc mpich munge openssh-client openssh-server pkg-config
	procps python3-h5py python3-matplotlib python3-mpi4py python3-pandas python3-scipy python3-venv qemu-system-x86 slurm-client slurmctld slurmd strace tmux xz-utils zsh)

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

# how_to_install: the commands that bring what build_packages have, and Go, where there is no apt-get.
how_to_install() {
	if command -v dnf >/dev/null; then
		echo "    dnf install gcc gcc-gfortran glibc-devel golang make mpich-devel"
		echo "    export LD_LIBRARY_PATH=/usr/lib64/mpich/lib"
	elif command -v zypper >/dev/null; then
		echo "    zypper install gcc gcc-fortran glibc-devel go make mpich-devel"
		echo "    export LD_LIBRARY_PATH=/usr/lib64/mpi/gcc/mpich/lib64 TPSL_MPI_INCLUDE=/usr/lib64/mpi/gcc/mpich/include"
	elif command -v pacman >/dev/null; then
		echo "    pacman -S gcc gcc-fortran go make, and mpich from the AUR"
		echo "    export LD_LIBRARY_PATH=/opt/mpich/lib TPSL_MPI_INCLUDE=/opt/mpich/include"
	else
		echo "    gcc, gfortran, make, Go, and MPICH with its headers: https://www.mpich.org/downloads"
	fi
}

# need_tools: dies where there is no apt-get and something is missing to build with, and says how to install it.
need_tools() {
	local tool missing=()
	for tool in gcc gfortran go make; do
		command -v "$tool" >/dev/null || missing+=("$tool")
	done
	[[ ${#missing[@]} == 0 ]] || die "this is not Debian, and these are missing: ${missing[*]}. Install them, then run this again:
$(how_to_install)"
}

# apt_get ARGUMENT...: runs apt-get as root.
apt_get() {
	as_root env DEBIAN_FRONTEND=noninteractive apt-get -q "$@"
}

# install_packages NAME...: those of Debian's packages that are not installed. Other distributions have other names for
# them: there it is enough that one can build.
install_packages() {
	local name missing=()
	if ! command -v apt-get >/dev/null; then
		need_tools
		return
	fi
	for name; do
		[[ $(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null) == installed ]] || missing+=("$name")
	done
	[[ ${#missing[@]} == 0 ]] && return
	say "install ${missing[*]}"
	{ apt_get update && apt_get install -y --no-install-recommends "${missing[@]}"; } ||
		die "apt-get could not install packages. Without a network, install these by other means, then run this again: ${missing[*]}"
}

# asks_for_help [ARGUMENT...]: tells whether an option asks for help, for which nothing needs to be installed but Go.
asks_for_help() {
	local word
	for word; do
		[[ $word != -h && $word != -help && $word != --help ]] || return 0
	done
	return 1
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
	! command -v apt-get >/dev/null || install_go
	go_works || die "$(sed -n 's/^go /needs Go /p' go.mod) or newer: install it from https://go.dev/dl and put it in PATH"
}

# install_go installs the Go of Debian's backports, if it can.
install_go() {
	local list=/etc/apt/sources.list.d/tpsl-backports.list release
	release=$(. /etc/os-release && echo "$VERSION_CODENAME-backports")
	if ! apt-get indextargets --format '$(RELEASE)' | grep -qx "$release"; then
		say "add $release to the package sources, for Go"
		as_root tee "$list" <<<"deb $(apt-get indextargets --format '$(SITE)' | head -n 1) $release main"
		apt_get update || return 0
	fi
	say "install Go from $release"
	apt_get install -y --no-install-recommends -t "$release" golang-go || true
}
