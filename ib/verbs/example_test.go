// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

//go:build verbs

package verbs_test

import (
	"fmt"

	"github.com/tpsl/tpsl/ib/regcache"
	"github.com/tpsl/tpsl/ib/verbs"
)

func Example() {
	device, err := verbs.Open("mlx5_0")
	if err != nil {
		fmt.Println(err)
		return
	}
	cache, err := regcache.New(device, regcache.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	stop, err := verbs.Watch(cache.Journal())
	if err != nil {
		fmt.Println(err)
		return
	}
	// ... cache.Acquire, ibv_post_send with the region's keys, Release ...
	stop()
	fmt.Println(cache.Close(), device.Close())
}
