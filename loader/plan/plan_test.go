// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
	"github.com/tpsl/tpsl/loader/plan"
	"github.com/tpsl/tpsl/loader/search"
)

func options() plan.Options {
	return plan.Options{Policy: plan.DefaultPolicies().Opened, Search: search.New("")}
}

// fixture compiles C text into a shared object called name.
func fixture(t *testing.T, dir, name, text string, flags ...string) string {
	t.Helper()
	testsupport.Require(t, "gcc")
	source, path := filepath.Join(dir, name+".c"), filepath.Join(dir, name)
	require.NoError(t, os.WriteFile(source, []byte(text), 0o600))
	argv := append([]string{"gcc", "-shared", "-fPIC", "-nostdlib", "-o", path, source, "-Wl,-soname," + name}, flags...)
	_, stderr, code := testsupport.Run(t, testTimeout, nil, argv...)
	require.Zero(t, code, stderr)
	return path
}

func TestStoresAndImports(t *testing.T) {
	dir := t.TempDir()
	low := fixture(t, dir, "liblow.so", "int low(void) { return 1; } int both = 1;")
	top := fixture(t, dir, "libtop.so", `
		extern int low(void), from_process(void), rebound(void), may_be(void) __attribute__((weak));
		extern int both;
		static int here;
		int *pointer = &here;
		int top(void) { return low() + from_process() + rebound() + both + (may_be ? may_be() : 0); }`,
		low, "-Wl,-rpath,"+dir, "-Wl,-z,undefs")
	o := options()
	o.Rebind, o.Unified = []string{"rebound"}, []string{"both"}
	p, err := plan.Make(top, o)
	require.NoError(t, err)

	require.Len(t, p.Objects, 2)
	assert.Equal(t, "libtop.so", p.Objects[0].Name)
	assert.Equal(t, []int{1}, p.Objects[0].Deps)
	assert.Equal(t, []int{1, 0}, p.Start, "dependencies first")
	imports := map[string]plan.Import{}
	for _, i := range p.Imports {
		imports[i.Name] = i
	}
	assert.Equal(t, plan.FromRebind, imports["rebound"].Source)
	assert.Equal(t, plan.FromProcess, imports["from_process"].Source)
	assert.True(t, imports["may_be"].Weak)
	assert.Contains(t, imports, "both", "a unified variable comes from the process, though a private object defines it")
	assert.NotContains(t, imports, "low")
	kinds := map[plan.Kind]int{}
	for _, s := range p.Objects[0].Stores {
		kinds[s.Kind]++
	}
	assert.Equal(t, 2, kinds[plan.Relative]+kinds[plan.Local], "here and low")
}

// A wrapped function is the caller's in place of the library's that is named, and of no other library's.
func TestWrappedFunctions(t *testing.T) {
	dir := t.TempDir()
	low := fixture(t, dir, "liblow.so", "int f(void) { return 1; } int g(void) { return 2; }")
	front := fixture(t, dir, "libfront.so", "extern int f(void); int g(void) { return f(); }", low, "-Wl,-rpath,"+dir)
	top := fixture(t, dir, "libtop.so", "extern int f(void), g(void); int top(void) { return f() + g(); }", "-Wl,--no-as-needed", front, low, "-Wl,-rpath,"+dir)
	o := options()
	o.Wrapped, o.WrappedIn = []string{"f", "g"}, []string{"liblow.so"}
	p, err := plan.Make(top, o)
	require.NoError(t, err)
	assert.Equal(t, []plan.Import{{Source: plan.FromWrapper, Name: "f", Wanted: top}}, p.Imports, "libfront.so stands in front of g")
	o.WrappedIn = []string{"libother.so"}
	p, err = plan.Make(top, o)
	require.NoError(t, err)
	assert.Empty(t, p.Imports)
}

func TestExtensionIsRememberedAndKeepsIndices(t *testing.T) {
	dir := t.TempDir()
	base := fixture(t, dir, "libbase.so", "int value = 3;")
	plugin := fixture(t, dir, "libplugin.so", "extern int value; int get(void) { return value; }", "-Wl,-z,undefs")
	p, err := plan.Make(base, options())
	require.NoError(t, err)
	x, err := p.Extend(plugin, plan.Opening{Global: true})
	require.NoError(t, err)
	again, err := p.Extend(plugin, plan.Opening{Global: true})
	require.NoError(t, err)
	assert.Same(t, x, again)
	assert.Same(t, p.Objects[0], x.Objects[0])
	assert.Equal(t, 1, x.Root)
	assert.Equal(t, []int{1}, x.Start)
	require.Len(t, x.Objects[1].Stores, 1)
	assert.Equal(t, plan.Local, x.Objects[1].Stores[0].Kind, "the plugin finds value in the library that opened it")
	assert.Equal(t, uint32(0), x.Objects[1].Stores[0].Target)
}

// What a program's libraries open and need is found by the program's DT_RPATH, too, and $ORIGIN in LD_LIBRARY_PATH is the program's folder.
func TestSearchOfAProgram(t *testing.T) {
	dir := t.TempDir()
	for _, sub := range []string{"aside", "by-variable", "plugins"} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, sub), 0o700))
	}
	low := fixture(t, filepath.Join(dir, "aside"), "liblow.so", "int low(void) { return 1; }")
	other := fixture(t, filepath.Join(dir, "by-variable"), "libother.so", "int other(void) { return 1; }")
	plugin := fixture(t, filepath.Join(dir, "plugins"), "libplugin.so", "int value = 3;", "-Wl,--no-as-needed", low, other)
	source, program := filepath.Join(dir, "program.c"), filepath.Join(dir, "program")
	require.NoError(t, os.WriteFile(source, []byte("int main(void) { return 0; }"), 0o600))
	_, stderr, code := testsupport.Run(t, testTimeout, nil, "gcc", "-pie", "-fPIE", source, "-o", program, "-Wl,--disable-new-dtags", "-Wl,-rpath,$ORIGIN/aside")
	require.Zero(t, code, stderr)
	o := options()
	o.Search = search.New("$ORIGIN/by-variable")
	p, err := plan.Make(program, o)
	require.NoError(t, err)
	x, err := p.Extend(plugin, plan.Opening{})
	require.NoError(t, err)
	for name, want := range map[string]string{"liblow.so": low, "libother.so": other} {
		i := slices.IndexFunc(x.Objects, func(o *plan.Object) bool { return o.Name == name })
		require.GreaterOrEqual(t, i, 0)
		assert.Equal(t, want, x.Objects[i].Path)
		alone, _, err := p.Find(name, x.Objects[x.Root], "")
		require.NoError(t, err)
		assert.Equal(t, want, alone)
	}
}

// What is loaded later cannot be bound to a file that is no longer the one in memory.
func TestExtensionAfterAFileHasChanged(t *testing.T) {
	dir := t.TempDir()
	low := fixture(t, dir, "liblow.so", "int low(void) { return 1; }")
	base := fixture(t, dir, "libbase.so", "int value = 3;", "-Wl,--no-as-needed", low, "-Wl,-rpath,"+dir)
	plugin := fixture(t, dir, "libplugin.so", "extern int low(void); int get(void) { return low(); }", "-Wl,-z,undefs")
	p, err := plan.Make(base, options())
	require.NoError(t, err)
	newer := fixture(t, t.TempDir(), "liblow.so", "int more(void) { return 2; } int low(void) { return 1; }")
	require.NoError(t, os.Rename(newer, low))
	_, err = p.Extend(plugin, plan.Opening{})
	require.ErrorIs(t, err, plan.ErrChanged)
	assert.ErrorContains(t, err, low+": the file changed while the program ran")
}

// What the process has loaded answers for itself: its file is asked for names only.
func TestExtensionAfterASharedFileHasChanged(t *testing.T) {
	dir := t.TempDir()
	low := fixture(t, dir, "liblow.so", "int low(void) { return 1; }")
	base := fixture(t, dir, "libbase.so", "int value = 3;", "-Wl,--no-as-needed", low, "-Wl,-rpath,"+dir)
	plugin := fixture(t, dir, "libplugin.so", "extern int low(void); int get(void) { return low(); }", "-Wl,-z,undefs")
	o := options()
	o.Policy = append(plan.Policy{{Pattern: "liblow.so", Placement: plan.Shared}}, o.Policy...)
	p, err := plan.Make(base, o)
	require.NoError(t, err)
	newer := fixture(t, t.TempDir(), "liblow.so", "int more(void) { return 2; } int low(void) { return 1; }")
	require.NoError(t, os.Rename(newer, low))
	x, err := p.Extend(plugin, plan.Opening{})
	require.NoError(t, err)
	assert.Equal(t, "liblow.so", x.Imports[0].Library)
}

func TestMissingVersion(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "map")
	require.NoError(t, os.WriteFile(script, []byte("NEW_1 { global: f; };"), 0o600))
	low := fixture(t, dir, "libv.so", "int f(void) { return 1; }", "-Wl,--version-script="+script)
	top := fixture(t, dir, "libuser.so", "int f(void); int g(void) { return f(); }", low, "-Wl,-rpath,"+dir)
	require.NoError(t, os.WriteFile(script, []byte("OLD_1 { global: f; };"), 0o600))
	fixture(t, dir, "libv.so", "int f(void) { return 1; }", "-Wl,--version-script="+script)
	_, err := plan.Make(top, options())
	assert.ErrorContains(t, err, "NEW_1")
	assert.ErrorContains(t, err, "libv.so")
}

func TestMPICHPlan(t *testing.T) {
	testsupport.Require(t, "mpicc.mpich")
	p, err := plan.Make("libmpich.so.12", options())
	require.NoError(t, err)
	placed := map[plan.Placement]int{}
	for _, o := range p.Objects {
		placed[o.Placement]++
		for _, s := range o.Stores {
			require.LessOrEqual(t, s.Offset+8, o.Span.Vaddr+o.Span.Size, o.Name)
		}
	}
	assert.Equal(t, 1, placed[plan.Once], "libucm")
	assert.GreaterOrEqual(t, placed[plan.Private], 5, "libmpich, libucp, libuct, libucs, libhwloc")
	assert.Greater(t, len(p.Objects[0].Stores), 20000)
}

// A program's thread-locals stand where its linker supposes them, right below the thread
// pointer; those of libraries follow below, aligned as they want.
func TestStaticTLSPlaces(t *testing.T) {
	dir := t.TempDir()
	low := fixture(t, dir, "liblow.so", "_Thread_local int low[3] = {1};")
	text := `extern _Thread_local int low[3]; _Thread_local int own[5] = {2}; __attribute__((aligned(32))) _Thread_local char line[40];
		int _start(void) { return low[0] + own[0] + line[0]; }`
	source := filepath.Join(dir, "program.c")
	require.NoError(t, os.WriteFile(source, []byte(text), 0o600))
	program := filepath.Join(dir, "program")
	_, stderr, code := testsupport.Run(t, testTimeout, nil, "gcc", "-pie", "-fPIE", "-O1", "-nostdlib", "-o", program, source, low, "-Wl,-rpath,"+dir)
	require.Zero(t, code, stderr)

	o := options()
	o.StaticTLS = 256
	_, err := plan.Make(program, o)
	require.ErrorContains(t, err, "local-exec")
	o.LocalExec = true
	p, err := plan.Make(program, o)
	require.NoError(t, err)
	require.Len(t, p.Objects, 2)
	assert.Equal(t, uint64(96), p.Objects[0].StaticTLS, "72 bytes, aligned to 32")
	assert.Equal(t, uint64(112), p.Objects[1].StaticTLS)
	assert.Equal(t, uint64(112), p.StaticTLS)

	aligned := filepath.Join(dir, "aligned")
	text = `_Thread_local __attribute__((aligned(512))) char page[40]; int _start(void) { return page[0]; }`
	require.NoError(t, os.WriteFile(source, []byte(text), 0o600))
	_, stderr, code = testsupport.Run(t, testTimeout, nil, "gcc", "-pie", "-fPIE", "-O1", "-nostdlib", "-o", aligned, source)
	require.Zero(t, code, stderr)
	_, err = plan.Make(aligned, o)
	require.ErrorContains(t, err, "aligned to 512 bytes, 256 are possible: align its thread-local variables to less")

	o.StaticTLS = 111
	_, err = plan.Make(program, o)
	require.ErrorContains(t, err, "liblow.so: 12 bytes, 15 of the 111 of each thread's static block are left")
}

// Whatever is wrong with the objects of a closure is told at once, each thing once.
func TestAllProblemsAtOnce(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "map")
	rpath := "-Wl,-rpath," + dir
	version := func(name string) string {
		require.NoError(t, os.WriteFile(script, []byte(name+" { global: f; };"), 0o600))
		return fixture(t, dir, "libv.so", "int f(void) { return 1; }", "-Wl,--version-script="+script)
	}
	old := version("NEW_1")
	large := fixture(t, dir, "liblarge.so", "_Thread_local char large[300], more[300]; int l(void) { return large[0] + more[0]; }", "-ftls-model=initial-exec")
	stack := fixture(t, dir, "libstack.so", "int s;", "-Wl,-z,execstack")
	text := fixture(t, dir, "libtext.so", "int x; __asm__(\".text\\n.quad x\\n\"); int t(void) { return x; }", "-Wl,-z,notext")
	top := fixture(t, dir, "liball.so", `
		_Thread_local int near __attribute__((aligned(128), tls_model("initial-exec")));
		int f(void); int g(void) { return f() + near; }`,
		"-Wl,--no-as-needed", old, large, stack, text, rpath)
	version("OLD_1")

	o := options()
	o.StaticTLS = plan.StaticTLS
	_, err := plan.Make(top, o)
	require.Error(t, err)
	for _, problem := range []string{
		"needs version NEW_1 of libv.so", "liblarge.so: 604 bytes, 512 of the 512", "libstack.so: wants an executable stack",
		"libtext.so: text relocations", "aligned to 128 bytes",
	} {
		assert.Equal(t, 1, strings.Count(err.Error(), problem), "%s in:\n%v", problem, err)
	}
}

// What an instance opens by the name that another one used is found without reading it again.
func TestFindReadsOnce(t *testing.T) {
	dir := t.TempDir()
	root := fixture(t, dir, "libroot.so", "int root(void) { return 1; }")
	plugin := fixture(t, dir, "libplugin.so", "int plugin(void) { return 2; }")
	p, err := plan.Make(root, options())
	require.NoError(t, err)
	path, at, err := p.Find(plugin, nil, "")
	require.NoError(t, err)
	assert.Equal(t, plugin, path)
	assert.Zero(t, testing.AllocsPerRun(10, func() {
		if again, same, err := p.Find(plugin, nil, ""); err != nil || same != at || again != path {
			t.Error(again, same, err)
		}
	}))
	t.Chdir(dir)
	_, _, err = p.Find("./libplugin.so", nil, "")
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	_, _, err = p.Find("./libplugin.so", nil, "")
	assert.ErrorIs(t, err, search.ErrNotFound, "a relative name is one of the working folder")
}

// Executable stacks are for instances that can have them, and have them from their start.
func TestExecutableStacks(t *testing.T) {
	dir := t.TempDir()
	stack := fixture(t, dir, "libnested.so", "int s;", "-Wl,-z,execstack")
	user := fixture(t, dir, "libuser.so", "int u;", "-Wl,--no-as-needed", stack, "-Wl,-rpath,"+dir)
	other := fixture(t, dir, "libother.so", "int o;")

	_, err := plan.Make(user, options())
	require.ErrorIs(t, err, plan.ErrUnsupported)
	require.ErrorContains(t, err, "libnested.so: wants an executable stack (PT_GNU_STACK), which only ranks of private mode can have; if it has no nested functions")
	o := options()
	o.ExecStack = true
	p, err := plan.Make(user, o)
	require.NoError(t, err)
	assert.True(t, p.ExecStack)
	more, err := p.Extend(other, plan.Opening{})
	require.NoError(t, err)
	assert.True(t, more.ExecStack)
	p, err = plan.Make(other, o)
	require.NoError(t, err)
	assert.False(t, p.ExecStack)
	_, err = p.Extend(user, plan.Opening{})
	require.ErrorContains(t, err, "which a rank has from its start or not at all: link its program with -Wl,-z,execstack")
}
