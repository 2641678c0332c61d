// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"bufio"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/tpsl/tpsl/internal/version"
)

// A Secret is what mpiexec and its proxies know, and nobody else. It is made for one job and travels only on the standard
// input of proxies.
type Secret [32]byte

// NewSecret makes a job's secret.
func NewSecret() (s Secret) {
	_, _ = rand.Read(s[:]) // never fails
	return s
}

const (
	order  = "tpsl-job "    // begins the line to a proxy: secret, ID, interval of beats, login after an equals sign
	answer = "+tpsl-proxy " // begins the line that the proxy answers: version, proof
	// maxChatter bounds how much the start-up files of a shell may print before the proxy's line.
	maxChatter = 1 << 20
)

func (s Secret) order(id int, beat time.Duration, login string) string {
	return fmt.Sprintf("%s%x %d %s login=%s\n", order, s, id, beat, login)
}

// An Order is the first message to a proxy.
type Order struct {
	Secret Secret
	ID     int
	Beat   time.Duration // it sends a Beat frame at this interval
	Login  string        // the ssh connection of the process that started it; "" if it was not started by ssh
}

// proof shows that a proxy knows the secret. A reader of the line does not learn the secret.
func (s Secret) proof(id int) string {
	mac := hmac.New(sha256.New, s[:])
	fmt.Fprintf(mac, "proxy %d", id)
	return hex.EncodeToString(mac.Sum(nil))
}

// Obey is the proxy's side of the greeting. It reads the order from in and answers on out. The answer is always a separate line,
// even if a shell has printed something before.
func Obey(in *bufio.Reader, out io.Writer) (o Order, err error) {
	line, err := readLine(in, 512)
	if err != nil {
		return o, fmt.Errorf("read mpiexec's order: %w", err)
	}
	words := strings.Fields(strings.TrimPrefix(line, order))
	if len(words) != 4 || !strings.HasPrefix(line, order) {
		return o, errors.New("standard input has no order of mpiexec; a proxy is started by mpiexec only")
	}
	secret, err := hex.DecodeString(words[0])
	id, err2 := strconv.Atoi(words[1])
	beat, err3 := time.ParseDuration(words[2])
	if errors.Join(err, err2, err3) != nil || len(secret) != len(o.Secret) || beat <= 0 {
		return o, errors.New("mpiexec's order is damaged")
	}
	o = Order{Secret(secret), id, beat, strings.TrimPrefix(words[3], "login=")}
	_, err = fmt.Fprintf(out, "\n%s%s %s\n", answer, version.Version, o.Secret.proof(id))
	return o, err
}

// greet reads a proxy's answer. It also returns the text that came before the answer.
func (s Secret) greet(in *bufio.Reader, id int) (chatter []byte, err error) {
	for len(chatter) < maxChatter {
		line, err := readLine(in, maxChatter)
		if fields := strings.Fields(strings.TrimPrefix(line, answer)); strings.HasPrefix(line, answer) && len(fields) == 2 {
			return chatter, s.judge(fields[0], fields[1], id)
		}
		chatter = append(chatter, line...)
		if err != nil {
			return chatter, err
		}
	}
	return chatter, errors.New("no proxy answers, but something that prints much")
}

func (s Secret) judge(itsVersion, proof string, id int) error {
	switch {
	case itsVersion != version.Version:
		return fmt.Errorf("mpiexec there is of version %s and here of %s; install the same on every host", itsVersion, version.Version)
	case !hmac.Equal([]byte(proof), []byte(s.proof(id))):
		return errors.New("what answers does not know the job's secret")
	}
	return nil
}

// readLine reads a line of at most limit bytes. It returns a longer line in pieces.
func readLine(in *bufio.Reader, limit int) (string, error) {
	var line []byte
	for len(line) < limit {
		b, err := in.ReadByte()
		if err != nil {
			return string(line), err
		}
		line = append(line, b)
		if b == '\n' {
			break
		}
	}
	return string(line), nil
}
