// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A Load is the time of all processors since the machine started, and of it
// what this process, its children and their ended descendants used.
type Load struct{ busy, stolen, all, ours time.Duration }

// tick is the unit of /proc/stat: sysconf(_SC_CLK_TCK), 100 on Linux wherever
// user programs can see.
const tick = time.Second / 100

// parseStat reads the first line of /proc/stat: proc_stat(5).
func parseStat(text string) (Load, error) {
	line, _, _ := strings.Cut(text, "\n")
	fields := strings.Fields(line)
	const user, idle, iowait, steal = 1, 4, 5, 8
	if len(fields) <= steal || fields[0] != "cpu" {
		return Load{}, fmt.Errorf("/proc/stat begins with %q", line)
	}
	var l Load
	for i := user; i <= steal; i++ { // guest time is within user time
		n, err := strconv.ParseInt(fields[i], 10, 64)
		if err != nil {
			return Load{}, fmt.Errorf("/proc/stat: %w", err)
		}
		d := time.Duration(n) * tick
		l.all += d
		switch i {
		case idle, iowait:
		case steal:
			l.stolen = d
		default:
			l.busy += d
		}
	}
	return l, nil
}

// ReadLoad reads them as they are now.
func ReadLoad() (Load, error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return Load{}, err
	}
	l, err := parseStat(string(text))
	if err != nil {
		return Load{}, err
	}
	for _, who := range []int{unix.RUSAGE_SELF, unix.RUSAGE_CHILDREN} {
		var u unix.Rusage
		if err := unix.Getrusage(who, &u); err != nil {
			return Load{}, err
		}
		l.ours += time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	l.ours += childrenTime()
	return l, nil
}

// childrenTime returns what children that live have used, and what they have waited for.
func childrenTime() (used time.Duration) {
	lists, _ := filepath.Glob("/proc/self/task/*/children")
	for _, list := range lists {
		for _, pid := range strings.Fields(fileText(list)) {
			_, rest, _ := strings.Cut(fileText("/proc/"+pid+"/stat"), ") ") // after the name: proc_pid_stat(5)
			fields := strings.Fields(rest)
			for i := 11; i < min(15, len(fields)); i++ { // utime, stime, cutime, cstime
				n, _ := strconv.ParseInt(fields[i], 10, 64)
				used += time.Duration(n) * tick
			}
		}
	}
	return used
}

// quietBelow is the per cent of the processors' time that others may use on a
// machine that is called quiet.
const quietBelow = 3.0

// Since tells how busy the machine was otherwise, from an earlier load to this one.
func (l Load) Since(e Load) string {
	all := (l.all - e.all).Seconds()
	if all <= 0 {
		return "the run was too short to tell how busy the machine was otherwise"
	}
	others := max(0, (l.busy-e.busy-(l.ours-e.ours)).Seconds()/all*100)
	stolen := (l.stolen - e.stolen).Seconds() / all * 100
	mood := "quiet machine"
	if others+stolen >= quietBelow {
		mood = "BUSY machine"
	}
	return fmt.Sprintf("%s: others used %.1f %% of the processors' time during the run, the hypervisor took %.1f %%", mood, others, stolen)
}
