// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hosts

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// show writes hosts as a list that ParseList reads. Properties that only a file can give follow in braces.
func show(list []Host) string {
	var parts []string
	for _, h := range list {
		part := fmt.Sprintf("%s:%d", h.Name, h.Slots)
		if h.Binding != "" || h.User != "" {
			part += "{" + h.Binding + "," + h.User + "}"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, " ")
}

func TestParseList(t *testing.T) {
	for text, want := range map[string]string{
		"a":                         "a:1",
		"a:2,b,c:3":                 "a:2 b:1 c:3",
		" a , b:2 ":                 "a:1 b:2",
		"n[1-3]":                    "n1:1 n2:1 n3:1",
		"n[01-03,7]:4":              "n01:4 n02:4 n03:4 n7:4",
		"n[098-101]":                "n098:1 n099:1 n100:1 n101:1",
		"n[8-11]":                   "n8:1 n9:1 n10:1 n11:1",
		"r[1-2]n[3-4]":              "r1n3:1 r1n4:1 r2n3:1 r2n4:1",
		"r[1-2]n[3,05]x.site":       "r1n3x.site:1 r1n05x.site:1 r2n3x.site:1 r2n05x.site:1",
		"[1-2]a":                    "1a:1 2a:1",
		"a,b,a,c:2,a":               "a:3 b:1 c:2", // repeated hosts are one
		"n[1-2],n[2-3]":             "n1:1 n2:2 n3:1",
		"10.0.0.1:2,10.0.0.[2-3]":   "10.0.0.1:2 10.0.0.2:1 10.0.0.3:1",
		"fe80::1,[2001:db8::2]:4":   "fe80::1:1 2001:db8::2:4",
		"node-1.cluster.site_a.org": "node-1.cluster.site_a.org:1",
	} {
		list, err := ParseList(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, show(list), text)
	}
}

func TestListErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                           `"": no host name; expected NAME[:SLOTS] or ranges, as in n[01-03,7]:4`,
		"a,,b":                       `"": no host name`,
		"a:":                         `"a:": "" is not a number of slots from 1 to`,
		"a:0":                        `"a:0": "0" is not a number of slots`,
		"a:b":                        `"b" is not a number of slots`,
		"a:99999999":                 `"99999999" is not a number of slots`,
		"-oProxyCommand=x":           `host name "-oProxyCommand=x" begins with a dash`,
		"a b":                        `host name "a b" has ' ' in it`,
		"a;b":                        `host name "a;b" has ';' in it`,
		"u@h":                        `host name "u@h" has '@' in it`,
		"n[1-2":                      `"n[1-2": [ without ]`,
		"n1-2]":                      `"n1-2]": ] without [`,
		"n[1-[2]]":                   `[ inside [`,
		"n[]":                        `"" is not a range of numbers`,
		"n[a-b]":                     `"a-b" is not a range of numbers`,
		"n[3-1]":                     `"3-1" is not a range of numbers`,
		"n[1-2-3]":                   `"1-2-3" is not a range of numbers`,
		"n[-1]":                      `"-1" is not a range of numbers`,
		"a[0-999999999]":             `[0-999999999] is more than 131072 hosts`,
		"a[0-9999]b[0-9999]":         `[0-9999] is more than 131072 hosts`,
		"a[0-99999],b[0-99999]":      `more than 131072 hosts`,
		"a[0-99999999999999999999]":  `is not a range of numbers`,
		strings.Repeat("x", 254):     `host name longer than 253 characters`,
		strings.Repeat("[0-9]", 300): `is more than 131072 hosts`,
		strings.Repeat("[7]", 300):   `host name longer than 253 characters`,
	} {
		list, err := ParseList(text)
		assert.ErrorContains(t, err, want, text)
		assert.NotContains(t, fmt.Sprint(err), "\n")
		assert.Nil(t, list)
	}
}

func TestReadFile(t *testing.T) {
	for text, want := range map[string]string{
		"a\nb\n":                                    "a:1 b:1",
		"a:2\r\nb":                                  "a:2 b:1",
		"# c\n\na:2 # two\n \n#b\n":                 "a:2",
		"a:2 binding=core user=eve\nb user=al":      "a:2{core,eve} b:1{,al}",
		"a slots=4 BINDING=user:0+1,2":              "a:4{user:0+1,2,}",
		"a\na\nb\na":                                "a:3 b:1",
		"n[01-02]:2 user=u":                         "n01:2{,u} n02:2{,u}",
		"HYDRA_USE_LOCALHOST:3\nb":                  "self:3 b:1",
		"HYDRA_USE_LOCALHOST":                       "self:1",
		"a\na binding=none":                         "a:2{none,}",
		"# " + strings.Repeat("x", 1<<20) + "\na":   "a:1",
		"a" + strings.Repeat(" ", 1<<20) + "user=u": "a:1{,u}",
	} {
		list, err := parseFile("f", text, "self")
		require.NoError(t, err, text)
		assert.Equal(t, want, show(list), text)
	}
}

func TestFileErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                       "f: names no host",
		"# a\n":                  "f: names no host",
		"a\n\nb:x\n":             `f:3: "b:x": "x" is not a number of slots from 1 to 1048576; expected NAME[:SLOTS] or ranges`,
		"a slots":                `f:1: "slots" is not slots=N, binding=B or user=U`,
		"a max_slots=4":          `f:1: "max_slots=4" is not slots=N, binding=B or user=U`,
		"a user=":                `f:1: "user=" is not`,
		"a user=-x":              `f:1: "user=-x" is not`,
		"a slots=0":              `f:1: "0" is not a number of slots`,
		"n[0-99999]\nm[0-99999]": `f:2: more than 131072 hosts`,
	} {
		_, err := parseFile("f", text, "self")
		assert.ErrorContains(t, err, want, text)
	}
	_, err := ReadFile(filepath.Join(t.TempDir(), "absent"), "self")
	assert.ErrorIs(t, err, os.ErrNotExist)
	_, err = ReadFile("/dev/zero", "self")
	assert.EqualError(t, err, "/dev/zero: too long for a host file")
}

// checkHosts holds for whatever a parser returns.
func checkHosts(t *testing.T, list []Host, err error) {
	if (err == nil) != (len(list) > 0) {
		t.Fatalf("%d hosts, error %v", len(list), err)
	}
	names := map[string]bool{}
	for _, h := range list {
		if checkName(h.Name) != nil || h.Slots < 1 || h.Slots > MaxSlots || names[h.Name] || strings.HasPrefix(h.User, "-") {
			t.Fatalf("bad host %+v", h)
		}
		names[h.Name] = true
	}
}

// A list is either refused, or read as hosts of which each is there once.
func FuzzParseList(f *testing.F) {
	f.Add("a:2,b,n[01-03,7]:4")
	f.Add("r[1-2]n[3-4]x,[2001:db8::2]:4,::1")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := ParseList(text)
		checkHosts(t, list, err)
	})
}

func FuzzParseFile(f *testing.F) {
	f.Add("a:2 binding=core user=u # c\nHYDRA_USE_LOCALHOST slots=3\nn[1-2]\n")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := parseFile("f", text, "self")
		checkHosts(t, list, err)
	})
}

// What is written is read back, and is short.
func TestFormatList(t *testing.T) {
	for names, want := range map[string]string{
		"":                        "",
		"a":                       "a",
		"b a":                     "b,a",
		"n1":                      "n1",
		"n3 n1 n2 n7":             "n[1-3,7]",
		"n08 n09 n10 n100":        "n[08-10],n100",
		"n8 n9 n10":               "n[8-10]",
		"r1c1 r1c2 r2c1":          "r1c[1-2],r2c1",
		"10.0.0.1 10.0.0.2":       "10.0.0.1,10.0.0.2",
		"n99999999999999999999 n": "n99999999999999999999,n",
	} {
		text := FormatList(strings.Fields(names))
		assert.Equal(t, want, text)
		if names == "" {
			continue
		}
		list, err := ParseList(text)
		require.NoError(t, err)
		var back []string
		for _, host := range list {
			back = append(back, host.Name)
		}
		assert.ElementsMatch(t, strings.Fields(names), back)
	}
}
