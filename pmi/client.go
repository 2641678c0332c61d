// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pmi

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// A Client is a rank's end of a session. It never sends a second request before the reply to the first.
type Client struct {
	conn    io.ReadWriter
	lines   *lineReader
	kvsname string
}

// NewClient returns a client of the connection that PMI_FD names.
func NewClient(conn io.ReadWriter) *Client {
	return &Client{conn: conn, lines: newLineReader(conn)}
}

// A ReplyError is a reply whose rc is not zero.
type ReplyError struct {
	Command, RC, Reason string
}

func (e *ReplyError) Error() string {
	return fmt.Sprintf("%s: rc=%s %s", e.Command, e.RC, e.Reason)
}

// Init starts the session and learns the name of the key-value space.
func (c *Client) Init() error {
	if _, err := c.call("cmd=init pmi_version=1 pmi_subversion=1", "response_to_init"); err != nil {
		return err
	}
	reply, err := c.call("cmd=get_my_kvsname", "my_kvsname")
	c.kvsname = reply.Get("kvsname")
	return err
}

// Appnum returns the index of the rank's program segment; Slurm answers -1.
func (c *Client) Appnum() (int, error) {
	reply, err := c.call("cmd=get_appnum", "appnum")
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(reply.Get("appnum"))
}

// Put stores a value. Other ranks see it after the next barrier.
func (c *Client) Put(key, value string) error {
	_, err := c.call(fmt.Sprintf("cmd=put kvsname=%s key=%s value=%s", c.kvsname, key, value), "put_result")
	return err
}

// Get returns the value of a key.
func (c *Client) Get(key string) (string, error) {
	reply, err := c.call(fmt.Sprintf("cmd=get kvsname=%s key=%s", c.kvsname, key), "get_result")
	if err != nil {
		return "", err
	}
	// Hydra 4.1 to 4.2.3 append a token after the value.
	return strings.TrimSuffix(reply.Get("value"), " found=TRUE"), nil
}

// Barrier waits until every rank of the world has called it.
func (c *Client) Barrier() error {
	_, err := c.call("cmd=barrier_in", "barrier_out")
	return err
}

// Publish enters a service into the job's name service.
func (c *Client) Publish(service, port string) error {
	_, err := c.call(fmt.Sprintf("cmd=publish_name service=%s port=%s", service, port), "publish_result")
	return err
}

// Lookup returns the port of a service.
func (c *Client) Lookup(service string) (string, error) {
	reply, err := c.call("cmd=lookup_name service="+service, "lookup_result")
	return reply.Get("port"), err
}

// Unpublish removes a service.
func (c *Client) Unpublish(service string) error {
	_, err := c.call("cmd=unpublish_name service="+service, "unpublish_result")
	return err
}

// Abort asks for the end of the job. There is no reply.
func (c *Client) Abort(code int) error {
	_, err := fmt.Fprintf(c.conn, "cmd=abort exitcode=%d\n", code)
	return err
}

// Finalize ends the session.
func (c *Client) Finalize() error {
	_, err := c.call("cmd=finalize", "finalize_ack")
	return err
}

// call sends one request in one write (Slurm loses what does not fit its first read) and checks the reply's name and rc.
func (c *Client) call(request, want string) (Message, error) {
	if len(request)+1 > maxReply || strings.ContainsRune(request, '\n') {
		return Message{}, fmt.Errorf("send %s: request is not one line of at most %d bytes", want, maxReply)
	}
	if _, err := io.WriteString(c.conn, request+"\n"); err != nil {
		return Message{}, fmt.Errorf("send %s: %w", want, err)
	}
	line, err := c.lines.next()
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return Message{}, fmt.Errorf("await %s: %w", want, err)
	}
	reply, err := Parse(line)
	if err != nil {
		return Message{}, fmt.Errorf("await %s: %w", want, err)
	}
	if reply.Command != want {
		return Message{}, fmt.Errorf("await %s: got %s", want, quote(line))
	}
	if rc, found := reply.Lookup("rc"); found && rc != "0" || reply.Get("info") == "fail" {
		return reply, &ReplyError{want, rc, reply.Get("msg")}
	}
	return reply, nil
}
