# SPDX-FileCopyrightText: The tpsl authors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash

# Rooms: a room is a folder with a Debian of its own, in which a script runs commands.
# clean-room and matrix source this after lib.sh. Rooms need root.

# end_rooms ends what runs in rooms, for the end of a script that is interrupted. Bash would print the command that it killed.
end_rooms() {
	local running
	running=$(jobs -p)
	[[ -z $running ]] || kill -KILL $running || true # some may have ended meanwhile
	wait
} 2>/dev/null

# make_room ROOM SUITE: makes a room with a minimal Debian of a suite. ROOM is there only
# when it is whole.
make_room() {
	local room=$1 suite=$2 mirror
	mirror=$(! command -v apt-get >/dev/null ||
		apt-get indextargets --format '$(SITE)' 'Origin: Debian' 'Label: Debian' | head -n 1)
	mirror=${mirror:-http://deb.debian.org/debian}
	rm -rf --one-file-system "$room.part"
	mkdir -p "$(dirname "$room")"
	debootstrap --variant=minbase "$suite" "$room.part" "$mirror" >"$room.log" 2>&1 ||
		die "cannot make a Debian $suite from $mirror: $(grep -v '^I: ' "$room.log" | tail -n 1); all of debootstrap's words are in $room.log"
	rm "$room.log"
	use_machines_network "$room.part"
	mv "$room.part" "$room"
}

# use_machines_network ROOM: the way to the network is this machine's.
use_machines_network() {
	cp -L /etc/resolv.conf /etc/hosts "$1/etc/"
	! compgen -G '/etc/apt/apt.conf.d/*' >/dev/null || cp /etc/apt/apt.conf.d/* "$1/etc/apt/apt.conf.d/"
	cp -L "${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}" "$1/etc/host-certificates.pem"
}

# room_environment: prints the variables that commands in a room have, one in a line. Go's modules
# come from this machine if they are there, and else from where this machine gets them.
room_environment() {
	local name
	printf '%s\n' HOME=/root PATH=/usr/local/go/bin:/usr/sbin:/usr/bin:/sbin:/bin SSL_CERT_FILE=/etc/host-certificates.pem \
		"GOSUMDB=$(go env GOSUMDB)" "GOPROXY=file:///mnt/cache/download,$(go env GOPROXY)"
	for name in {http,https,ftp,all,no}_proxy {HTTP,HTTPS,FTP,ALL,NO}_PROXY; do
		[[ -z ${!name-} ]] || printf '%s\n' "$name=${!name}"
	done
}

# in_room ROOM [OPTION...] COMMAND ARGUMENT...: runs a command in a room. Its processes, mounts and SysV segments are in
# namespaces of their own, which end with the command, or with this script.
#   -bind FROM TO   a folder of this machine, to write
#   -show FROM TO   a folder of this machine, to read
#   -alone          no network but loopback; the room needs ip
#   -in FOLDER      the working directory
in_room() {
	local room=$1 folder=/ mounts=() own=(--mount --pid --ipc) environment
	shift
	while [[ $1 == -* ]]; do
		case $1 in
		-bind) mounts+=(rw "$2" "$3") && shift 3 ;;
		-show) mounts+=(ro "$2" "$3") && shift 3 ;;
		-alone) own+=(--net) && shift ;;
		-in) folder=$2 && shift 2 ;;
		*) die "in_room: $1 is no option" ;;
		esac
	done
	mapfile -t environment < <(room_environment)
	# unshare itself ignores what would end it, so the kernel is to kill it when this script ends. The shell at the end is the
	# first process of the room, for which signals are special, so that the command is not.
	setpriv --pdeathsig KILL unshare "${own[@]}" --fork --kill-child bash -euo pipefail -c '
		room=$1 own=$2 mounts=$3
		shift 3
		mount -t proc proc "$room/proc"
		mount --rbind /sys "$room/sys"
		mount --rbind /dev "$room/dev"
		mount -t tmpfs tmpfs "$room/dev/shm"
		for ((; mounts > 0; mounts--)); do
			mkdir -p "$room$3"
			mount --bind -o "$1" "$2" "$room$3"
			shift 3
		done
		mount --rbind "$room" "$room" # a root that namespaces can be made of is a mount
		[[ $own != *--net* ]] || chroot "$room" ip link set lo up
		exec chroot "$room" env -i "$@"
	' in_room "$room" "${own[*]}" $((${#mounts[@]} / 3)) "${mounts[@]}" "${environment[@]}" \
		sh -c 'cd "$0" || exit; "$@"; exit $?' "$folder" "$@" </dev/null &
	wait $!
}
