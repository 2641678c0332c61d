// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// The recipes for Spack and EasyBuild are Python that can be run, and say what is true of this version: its name, the Go that
// it takes, and the files that it installs.
func TestRecipes(t *testing.T) {
	testsupport.Require(t, "python3")
	packaging := filepath.Join(testsupport.Root(t), "packaging")
	easyconfigs, err := filepath.Glob(packaging + "/easybuild/*.eb")
	require.NoError(t, err)
	require.Len(t, easyconfigs, 1)
	var recipes struct {
		Spack struct {
			Directives, Install []string
			Homepage            string
		}
		EasyBuild struct {
			Name, Version, Homepage, Description, Moduleclass, Easyblock string

			Toolchain         map[string]string
			Sources           []string
			Builddependencies [][]any
			Installopts       string

			Files map[string][]string `json:"sanity_check_paths"`
		}
	}
	out := run(t, nil, "python3", "testdata/recipes.py", packaging+"/spack/package.py", easyconfigs[0])
	require.NoError(t, json.Unmarshal([]byte(out), &recipes))
	goVersion := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(readFile(t, "go.mod"))[1]

	s := recipes.Spack
	assert.Contains(t, s.Directives, "depends_on go@"+goVersion+": type=build")
	assert.Contains(t, s.Directives, "depends_on mpich@4: type=('build', 'run')")
	assert.Equal(t, []string{"install", "PREFIX=/prefix"}, s.Install)

	e := recipes.EasyBuild
	assert.Equal(t, "tpsl", e.Name)
	assert.Equal(t, makeVersion(t), e.Version)
	assert.Equal(t, s.Homepage, e.Homepage)
	assert.Equal(t, strings.Join([]string{e.Name, e.Version, e.Toolchain["name"], e.Toolchain["version"]}, "-")+".eb", filepath.Base(easyconfigs[0]))
	assert.NotEmpty(t, e.Description)
	assert.Equal(t, []string{"%(name)s-%(version)s.tar.gz"}, e.Sources)
	assert.Equal(t, "PREFIX=%(installdir)s", e.Installopts)
	require.Len(t, e.Builddependencies, 1)
	assert.Equal(t, "Go", e.Builddependencies[0][0])
	assert.True(t, strings.HasPrefix(e.Builddependencies[0][1].(string), goVersion+"."), e.Builddependencies)
	prefix := installed(t)
	require.NotEmpty(t, e.Files["files"])
	for _, file := range e.Files["files"] {
		assert.FileExists(t, filepath.Join(prefix, file))
	}
	for _, folder := range e.Files["dirs"] {
		assert.DirExists(t, filepath.Join(prefix, folder))
	}
}

// The images of Docker and Apptainer are the same: Debian's packages and ours.
func TestContainersAreAlike(t *testing.T) {
	packages := regexp.MustCompile(`tpsl_\*_amd64\.deb (gcc .*?)(?: && \\)?\n`)
	docker, apptainer := readFile(t, "packaging/containers/Dockerfile"), readFile(t, "packaging/containers/tpsl.def")
	first, second := packages.FindStringSubmatch(docker), packages.FindStringSubmatch(apptainer)
	require.Len(t, first, 2)
	require.Len(t, second, 2)
	assert.Equal(t, first[1], second[1])
	assert.Contains(t, strings.Fields(first[1]), "libmpich-dev")
	assert.Contains(t, docker, "FROM debian:bookworm-slim\n")
	assert.Contains(t, apptainer, "Bootstrap: docker\nFrom: debian:bookworm-slim\n")
}
