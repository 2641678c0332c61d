// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package channel_test

import (
	"fmt"
	"io"

	"github.com/tpsl/tpsl/hydra/channel"
)

func Example() {
	fromProxy, proxyOut := io.Pipe()
	proxyIn, toProxy := io.Pipe()
	mpiexec, proxy := channel.New(fromProxy, toProxy), channel.New(proxyIn, proxyOut)

	proxy.Conn(3).Send(channel.Stdout, 7, []byte("hello\n"))
	proxy.Close()
	frame, _ := mpiexec.Receive()
	fmt.Printf("proxy %d, index %d: %s", frame.Proxy, frame.Index, frame.Body)
	_, err := mpiexec.Receive()
	fmt.Println(err)
	mpiexec.Close()
	// Output:
	// proxy 3, index 7: hello
	// EOF
}
