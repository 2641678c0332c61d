// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package job

import (
	"bufio"
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
)

// A card is what a process tells the others about itself.
type card struct {
	ports     int
	host      string   // equal if and only if two processes can share memory
	name      string   // of the socket at which the first process of a host meets the others
	carrier   string   // between hosts
	rails     int      // virtual ones, of verbs
	addresses []string // where it listens for others: several are rails
}

func (c card) String() string {
	return strings.Join([]string{strconv.Itoa(c.ports), c.host, c.name, c.carrier, strconv.Itoa(c.rails), strings.Join(c.addresses, ",")}, "/")
}

func parseCard(text string) (c card, err error) {
	words := strings.Split(text, "/")
	if len(words) == 6 {
		c = card{host: words[1], name: words[2], carrier: words[3], addresses: strings.Split(words[5], ",")}
		var failed error
		c.ports, err = strconv.Atoi(words[0])
		c.rails, failed = strconv.Atoi(words[4])
		if err == nil && failed == nil && c.ports >= 1 && c.rails >= 0 && c.rails <= c.ports {
			return c, nil
		}
	}
	return c, fmt.Errorf("its card is %q: run the same version in all processes", text)
}

// pack makes a short text of the cards of all processes, in which only the first process of each host has a name: the others of the
// host ask for no other one.
func pack(all []card) string {
	var packed bytes.Buffer
	w, _ := flate.NewWriter(&packed, flate.BestCompression) // the level is one that there is
	named := map[string]bool{}
	for _, c := range all {
		if named[c.host] {
			c.name = ""
		}
		named[c.host] = true
		_, _ = fmt.Fprintln(w, c) // into memory
	}
	_ = w.Close()
	return base64.RawURLEncoding.EncodeToString(packed.Bytes())
}

// longest is more than the bytes of any card.
const longest = 1024

// unpack returns the cards of so many processes.
func unpack(text string, count int) (all []card, err error) {
	lines := bufio.NewScanner(io.LimitReader(flate.NewReader(base64.NewDecoder(base64.RawURLEncoding, strings.NewReader(text))), int64(count)*longest))
	for lines.Scan() {
		c, err := parseCard(lines.Text())
		if err != nil {
			return nil, fmt.Errorf("process %d: %w", len(all), err)
		}
		all = append(all, c)
	}
	if lines.Err() != nil || len(all) != count {
		return nil, fmt.Errorf("the table of process 0 has %d of %d processes: run the same version in all processes", len(all), count)
	}
	return all, nil
}

// hostID says which processes this one can share memory with: those of this user who run on this
// kernel and see the same processes and the same network.
func hostID() (string, error) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", err
	}
	id := fmt.Sprintf("%s %d", boot, os.Geteuid())
	for _, space := range []string{"net", "pid"} {
		link, err := os.Readlink("/proc/self/ns/" + space)
		if err != nil {
			return "", err
		}
		id += " " + link
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:16]), nil
}

// hostAddresses returns the addresses at which other hosts reach this one: those of TPSL_RAILS, or the one of hostAddress.
func hostAddresses(getenv func(string) string) (all []string, err error) {
	rails := getenv("TPSL_RAILS")
	if rails == "" {
		address, err := hostAddress(getenv)
		return []string{address}, err
	}
	for _, name := range strings.Split(rails, ",") {
		address, err := addressOf(name)
		if err != nil {
			return nil, fmt.Errorf("environment: TPSL_RAILS=%q: %w", rails, err)
		}
		if slices.Contains(all, address) {
			return nil, fmt.Errorf("environment: TPSL_RAILS=%q: %s is there twice: name each network once", rails, address)
		}
		all = append(all, address)
	}
	return all, nil
}

// addressOf returns the address of a network interface of this host, by its name or by the address itself.
func addressOf(name string) (string, error) {
	if wanted := net.ParseIP(name); wanted != nil {
		own, err := net.InterfaceAddrs()
		if err != nil {
			return "", err
		}
		for _, a := range own {
			if n, isNet := a.(*net.IPNet); isNet && n.IP.Equal(wanted) {
				return wanted.String(), nil
			}
		}
		return "", fmt.Errorf("%s is no address of this host", name)
	}
	i, err := net.InterfaceByName(name)
	if err != nil {
		return "", fmt.Errorf("%q is no network interface or address of this host: ip addr lists them", name)
	}
	own, err := i.Addrs()
	if err != nil {
		return "", err
	}
	for _, a := range own {
		if n, isNet := a.(*net.IPNet); isNet && (n.IP.IsGlobalUnicast() || n.IP.IsLoopback()) {
			return n.IP.String(), nil
		}
	}
	return "", fmt.Errorf("network interface %s has no address", name)
}

// hostAddress returns the address at which other hosts reach this one: that of the name by which the launcher, or else
// the host itself, calls it, or of the first network interface that is up; the loopback's if there is none.
func hostAddress(getenv func(string) string) (string, error) {
	own, err := net.InterfaceAddrs()
	if err != nil {
		return "", err
	}
	isOurs := func(ip net.IP) bool {
		for _, a := range own {
			if n, isNet := a.(*net.IPNet); isNet && n.IP.Equal(ip) {
				return ip.IsGlobalUnicast()
			}
		}
		return false
	}
	names := []string{getenv("PMI_HOSTNAME")}
	if name, err := os.Hostname(); err == nil {
		names = append(names, name)
	}
	for _, name := range names {
		addresses, err := net.LookupIP(name)
		if err != nil {
			continue
		}
		for _, ip := range addresses {
			if isOurs(ip) {
				return ip.String(), nil
			}
		}
	}
	for _, a := range own {
		if n, isNet := a.(*net.IPNet); isNet && n.IP.IsGlobalUnicast() {
			return n.IP.String(), nil
		}
	}
	return "127.0.0.1", nil
}
