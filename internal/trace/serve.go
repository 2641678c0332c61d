// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metrics are what is served: the last snapshot, as counters by process and rank.
type metrics struct{ latest func() []row }

// Describe implements prometheus.Collector: which figures there are depends on the source.
func (metrics) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (m metrics) Collect(to chan<- prometheus.Metric) {
	for _, r := range m.latest() {
		for figure, n := range r.Counts {
			name, value := "tpsl_"+string(figure)+"_total", float64(n)
			if isTime(figure) {
				name, value = "tpsl_"+strings.TrimSuffix(string(figure), "_ns")+"_seconds_total", value/1e9
			}
			about := prometheus.NewDesc(name, "See tpsl trace -h, "+titles[figure]+".", []string{"pid", "rank"}, nil)
			to <- prometheus.MustNewConstMetric(about, prometheus.CounterValue, value, strconv.Itoa(r.PID), r.name())
		}
	}
}

// serve answers scrapes that bear the token, until stop is called.
func serve(address, token string, latest func() []row) (stop func(), at net.Addr, err error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, nil, fmt.Errorf("-serve %s: %w", address, err)
	}
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(metrics{latest})
	server := &http.Server{Handler: bearing(token, promhttp.HandlerFor(registry, promhttp.HandlerOpts{})), ReadHeaderTimeout: 5 * time.Second}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener) // ends by Close
	}()
	return func() {
		server.Close()
		<-done
	}, listener.Addr(), nil
}

// bearing lets requests pass that have the token.
func bearing(token string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), []byte("Bearer "+token)) != 1 {
			http.Error(w, "tpsl trace: the request does not bear the token of -token", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// readToken reads the file that a scraper has, too, or makes it.
func readToken(file string) (string, error) {
	text, err := readSecret(file)
	if errors.Is(err, fs.ErrNotExist) {
		text = []byte(rand.Text() + "\n")
		err = create(file, text)
	}
	token := strings.TrimSpace(string(text))
	if err == nil && token == "" {
		err = errors.New("the file is empty")
	}
	if err != nil {
		return "", fmt.Errorf("-token %s: %w", file, err)
	}
	return token, nil
}

// readSecret reads a file that not everybody can. A group may: Prometheus has a user of its own.
func readSecret(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	about, err := f.Stat()
	if err == nil && about.Mode().Perm()&0o007 != 0 {
		err = fmt.Errorf("everybody may use it, as its mode is %#o: run chmod o= on it, or name a file that is not there, to be made", about.Mode().Perm())
	}
	if err != nil {
		return nil, err
	}
	return io.ReadAll(f)
}

// create makes a file that only its user can read. It follows no link, which another user may have put there.
func create(file string, text []byte) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}
