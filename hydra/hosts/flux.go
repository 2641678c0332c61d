// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hosts

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	fluxURI = "FLUX_URI"
	fluxJob = "FLUX_JOB_ID"
	// fluxLimit bounds the wait for Flux's answer.
	fluxLimit = 30 * time.Second
)

// readFlux asks the flux command, because Flux names no hosts in the environment. Inside a job it returns the hosts of the
// job. In the shell of an allocation it returns the hosts of the Flux instance.
func readFlux(getenv Getenv) ([]Host, error) {
	args := []string{"resource", "R", "-s", "up"}
	if job := getenv(fluxJob); job != "" {
		args = []string{"job", "info", job, "R"}
	}
	ctx, cancel := context.WithTimeout(context.Background(), fluxLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "flux", args...)
	cmd.WaitDelay = time.Second
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		line, _, _ := strings.Cut(strings.TrimSpace(said.String()), "\n")
		return nil, fmt.Errorf("flux %s: %w %s", strings.Join(args, " "), err, shorten(line))
	}
	list, err := parseFlux(out)
	if err != nil {
		return nil, fmt.Errorf("flux %s: %w", strings.Join(args, " "), err)
	}
	return list, nil
}

// parseFlux reads a resource set (Flux RFC 20): ranks of brokers and their cores, and the hosts of the ranks in ascending
// order. A host has as many slots as cores.
func parseFlux(text []byte) ([]Host, error) {
	var set struct {
		Execution struct {
			Lite []struct {
				Rank     string
				Children struct{ Core string }
			} `json:"R_lite"`
			NodeList []string
		}
	}
	if err := json.Unmarshal(text, &set); err != nil {
		return nil, fmt.Errorf("read resource set: %w", err)
	}
	list, err := parseItems(strings.Join(set.Execution.NodeList, ","))
	if err != nil {
		return nil, fmt.Errorf("nodelist: %w", err)
	}
	cores := map[int]int{}
	for _, entry := range set.Execution.Lite {
		ranks, err := parseIDs(entry.Rank)
		if err != nil {
			return nil, err
		}
		ids, err := parseIDs(entry.Children.Core)
		if err != nil {
			return nil, err
		}
		for _, rank := range ranks {
			cores[rank] += len(ids)
		}
	}
	if len(cores) != len(list) {
		return nil, errors.New("resource set has not as many hosts as ranks")
	}
	for i, rank := range slices.Sorted(maps.Keys(cores)) {
		list[i].Slots = min(cores[rank], MaxSlots)
	}
	return list, nil
}

// parseIDs reads a set of numbers (Flux RFC 22): 0-3,7, maybe in brackets.
func parseIDs(text string) ([]int, error) {
	numbers, err := parseRanges(strings.Trim(text, "[]"), MaxHosts)
	if err != nil {
		return nil, err
	}
	ids := make([]int, len(numbers))
	for i, number := range numbers {
		ids[i], _ = strconv.Atoi(number) // no error, because parseRanges returns numbers
	}
	return ids, nil
}
