// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"context"
	"log/slog"
	"regexp"
	"strings"
	"sync"

	"github.com/tpsl/tpsl/hydra/plan"
)

// trace logs what a host is about to run.
func (j *Job) trace(host plan.Host) {
	if !j.log.Enabled(context.Background(), slog.LevelDebug) {
		return
	}
	j.log.Debug("launch", "host", host.Name, "ranks", host.Ranks, "kvsname", host.World.KVSName, "mapping", host.World.Mapping)
	for i, program := range host.Programs {
		j.log.Debug("program", "appnum", i, "args", program.Args, "wdir", program.Wdir, "env", redact(program.Env))
	}
	for i, set := range host.Sets {
		j.log.Debug("set", "index", i, "ranks", set.Label(), "appnum", set.Program)
	}
}

// secretName matches names of variables whose values are better not shown.
var secretName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)SECRET|TOKEN|PASS|CRED|AUTH|KEY|COOKIE`) })

// secretValue matches URLs with a password.
var secretValue = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`://[^/@]*:[^/@]*@`) })

// redact hides the values of settings that look secret.
func redact(env []string) []string {
	shown := make([]string, len(env))
	for i, setting := range env {
		shown[i] = setting
		if name, value, _ := strings.Cut(setting, "="); secretName().MatchString(name) || secretValue().MatchString(value) {
			shown[i] = name + "=..."
		}
	}
	return shown
}
