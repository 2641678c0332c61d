// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package dlcases

// A Library is one of a case: lib<Name>.so, which calls itself so too (DT_SONAME).
type Library struct {
	Name    string
	Defines []string // functions that tell the library's name
	Changed []string // functions of two versions, of which the older one tells "older" and the newer one, the default, "newer"
	Unique  []string // functions that tell what is in a variable of all that have it (STB_GNU_UNIQUE)
	Refers  []string // functions that it calls, if there are any
	Needs   []string // of the case's libraries
	In      string   // folder of its own; "" that of the others, where all find it
	Rpath   string   // DT_RPATH in place of a DT_RUNPATH that leads to the folder of the others; "" none
}

// A Case is a program with libraries, and what it does.
type Case struct {
	Name      string
	Needs     []string // of the driver, in front of the C library
	Rpath     string   // of the driver, as of a library
	Program   []string // of the program, in front of the driver
	Libraries []Library
	Script    string // lines as driver.c has them
}

// Cases are those of ld.so's rules that dlopen(3) and dlsym(3) tell, and some that they do not.
var Cases = []Case{
	{
		Name: "a need of what was loaded before",
		Libraries: []Library{
			{Name: "b", Defines: []string{"f"}},
			{Name: "a", Needs: []string{"b"}},
			{Name: "x", Needs: []string{"a"}, Refers: []string{"f"}},
		},
		Script: "open a liba.so\nopen x libx.so\nsees x x f\nsym x f\n",
	},
	{
		Name: "further needs of what was loaded before",
		Libraries: []Library{
			{Name: "d", Defines: []string{"f", "g"}},
			{Name: "k", Needs: []string{"d"}},
			{Name: "b", Needs: []string{"k"}},
			{Name: "a", Needs: []string{"b"}, Defines: []string{"g"}},
			{Name: "x", Needs: []string{"k", "a"}, Refers: []string{"f", "g"}},
		},
		Script: "open b libb.so\nopen a liba.so\nopen x libx.so\nsees x x f\nsees x x g\nsym x g\nsym b g\nsym a f\n",
	},
	{
		Name: "breadth before depth",
		Libraries: []Library{
			{Name: "deep", Defines: []string{"f"}},
			{Name: "left", Needs: []string{"deep"}},
			{Name: "right", Defines: []string{"f"}},
			{Name: "x", Needs: []string{"left", "right"}, Refers: []string{"f"}},
		},
		Script: "open deep libdeep.so\nopen x libx.so\nsees x x f\nsym x f\nsym deep f\nfrom x left default f\nfrom x left next f\n",
	},
	{
		Name: "what was opened for itself alone",
		Libraries: []Library{
			{Name: "a", Defines: []string{"f", "own"}, Refers: []string{"own"}},
			{Name: "b", Defines: []string{"own"}, Refers: []string{"f", "own"}},
		},
		Script: "open a liba.so\nopen b libb.so\nsees b b f\nsees a a own\nsees b b own\nsym b f\nsym default f\nfrom b b default f\nfrom b b default own\nopen p program\nsym p own\n",
	},
	{
		Name: "what was opened for all",
		Libraries: []Library{
			{Name: "a", Defines: []string{"f", "own"}, Refers: []string{"own"}},
			{Name: "b", Defines: []string{"own"}, Refers: []string{"f", "own"}},
		},
		Script: "open a liba.so global\nopen b libb.so\nsees b b f\nsees b b own\nsym b own\nsym b f\nsym default f\nfrom b b default own\nopen p program\nsym p own\n",
	},
	{
		Name: "what is made global later",
		Libraries: []Library{
			{Name: "a", Defines: []string{"f"}, Needs: []string{"k"}},
			{Name: "k", Defines: []string{"g"}},
			{Name: "b", Refers: []string{"f", "g"}},
			{Name: "d", Refers: []string{"f", "g"}},
		},
		Script: "open a liba.so\nopen b libb.so\nsees b b f\nopen again liba.so noload,global\nsame a again\nsees b b f\nopen d libd.so\nsees d d f\nsees d d g\nsym default g\nfrom b b default f\n",
	},
	{
		Name: "a need of a global one is global",
		Libraries: []Library{
			{Name: "k", Defines: []string{"f"}},
			{Name: "a", Defines: []string{"f"}, Needs: []string{"k"}},
			{Name: "b", Refers: []string{"f"}},
		},
		Script: "open k libk.so\nopen a liba.so global\nopen b libb.so\nsees b b f\nsym default f\n",
	},
	{
		Name: "the order of global ones is that of their opening",
		Libraries: []Library{
			{Name: "a", Defines: []string{"f"}},
			{Name: "b", Defines: []string{"f"}},
			{Name: "x", Refers: []string{"f"}},
		},
		Script: "open b libb.so\nopen a liba.so global\nopen b libb.so global\nopen x libx.so\nsees x x f\nfrom x x next f\nsym default f\n",
	},
	{
		Name:  "the program's libraries come first",
		Needs: []string{"first"},
		Libraries: []Library{
			{Name: "first", Defines: []string{"f"}, Needs: []string{"second"}},
			{Name: "second", Defines: []string{"f", "g"}, Refers: []string{"f"}},
			{Name: "x", Defines: []string{"f", "g"}, Refers: []string{"f", "g"}},
		},
		Script: "sym default f\nfrom default first next f\nfrom default second next f\nsees default second f\nopen x libx.so\nsees x x f\nsees x x g\nsym x f\nfrom x x default g\nfrom x x next g\nopen s libsecond.so\nsym s f\n",
	},
	{
		Name:  "its own symbols first",
		Needs: []string{"first"},
		Libraries: []Library{
			{Name: "first", Defines: []string{"f", "g"}},
			{Name: "y", Defines: []string{"g"}, Refers: []string{"f"}},
			{Name: "x", Defines: []string{"f"}, Refers: []string{"f", "g"}, Needs: []string{"y"}},
		},
		Script: "open x libx.so deep\nsees x x f\nsees x x g\nsees x y f\nfrom x x default f\nfrom x y default f\n",
	},
	{
		Name: "behind the caller",
		Libraries: []Library{
			{Name: "k", Defines: []string{"f"}},
			{Name: "b", Defines: []string{"f"}, Needs: []string{"k"}},
			{Name: "a", Defines: []string{"f"}, Needs: []string{"b"}},
			{Name: "y", Defines: []string{"f"}, Needs: []string{"k"}},
			{Name: "z", Needs: []string{"b", "y"}},
		},
		Script: "open y liby.so\nopen a liba.so\nfrom a a next f\nfrom a b next f\nfrom a k next f\nfrom y y next f\nopen z libz.so\nfrom z b next f\nfrom z b default f\nopen a liba.so global\nfrom a b next f\nfrom a b default f\n",
	},
	{
		Name: "in whose scope one stands that came twice",
		Libraries: []Library{
			{Name: "k", Refers: []string{"f"}},
			{Name: "a", Needs: []string{"k"}},
			{Name: "b", Needs: []string{"k"}, Defines: []string{"f"}},
		},
		Script: "open a liba.so\nsees a k f\nfrom a k default f\nopen b libb.so\nfrom a k default f\nsees b k f\nsym a f\n",
	},
	{
		Name: "which version one has that wants none",
		Libraries: []Library{
			{Name: "v", Changed: []string{"f"}},
			{Name: "x", Refers: []string{"f"}},
			{Name: "y", Refers: []string{"f"}, Needs: []string{"v"}},
		},
		Script: "open v libv.so global\nopen x libx.so\nsees x x f\nsym v f\nsym default f\nopen y liby.so\nsees y y f\n",
	},
	{
		Name:      "what is not there",
		Libraries: []Library{{Name: "a", Defines: []string{"f"}}},
		Script:    "open a liba.so noload\nopen a libnone.so\nerror\nopen a liba.so\nerror\nsym a nothing\nerror\nsym a f\nerror\nsym default nothing\nsym a f\nerror\nopen b liba.so noload\nsame a b\nclose a\nclose b\n",
	},
	{
		Name: "a need that is there under its name and in no folder",
		Libraries: []Library{
			{Name: "hidden", Defines: []string{"f"}, In: "aside"},
			{Name: "x", Refers: []string{"f"}, Needs: []string{"hidden"}},
		},
		Script: "open x libx.so\nopen h aside/libhidden.so\nopen x libx.so\nsees x x f\n",
	},
	{
		Name:  "a need in the DT_RPATH of who opens",
		Rpath: "$ORIGIN:$ORIGIN/aside",
		Libraries: []Library{
			{Name: "hidden", Defines: []string{"f"}, In: "aside"},
			{Name: "x", Refers: []string{"f"}, Needs: []string{"hidden"}, Rpath: "$ORIGIN/none"},
		},
		Script: "open x libx.so\nopen h libhidden.so\nopen x libx.so\nsees x x f\n",
	},
	{
		Name: "in the DT_RPATH of who needs the caller",
		Libraries: []Library{
			{Name: "hidden", Defines: []string{"f"}, In: "aside"},
			{Name: "k", Rpath: "$ORIGIN/none"},
			{Name: "l"},
			{Name: "a", Needs: []string{"k", "l"}, Rpath: "$ORIGIN:$ORIGIN/aside"},
		},
		Script: "open a liba.so\nopenfrom h a l libhidden.so\nopenfrom h a k libhidden.so\nsym h f\n",
	},
	{
		Name: "one file by several names",
		Libraries: []Library{
			{Name: "a", Defines: []string{"f"}},
			{Name: "a", Defines: []string{"f"}, In: "other"},
		},
		Script: "open a liba.so\nopen b ./liba.so\nsame a b\nopen c other/liba.so\nsame a c\nopen d other/../liba.so\nsame a d\n",
	},
	{
		Name: "a relative name after the folder has changed",
		Libraries: []Library{
			{Name: "one", Defines: []string{"one"}, In: "1"},
			{Name: "one", Defines: []string{"two"}, In: "2"},
		},
		Script: "cd 1\nopen a ./libone.so\ncd ../2\nopen b ../2/libone.so\nsym b two\nopen c ./libone.so\nsame a c\nsym c one\nsym c two\nopen d ../1/libone.so\nsame d a\n",
	},
	{
		Name: "a relative name after the first was closed",
		Libraries: []Library{
			{Name: "one", Defines: []string{"one"}, In: "1"},
			{Name: "one", Defines: []string{"two"}, In: "2"},
		},
		Script: "cd 1\nopen a ./libone.so\nsym a one\nclose a\ncd ../2\nopen b ./libone.so\nsym b two\n",
	},
	{
		Name: "one variable for all that have it",
		Libraries: []Library{
			{Name: "a", Unique: []string{"u"}, Refers: []string{"u"}},
			{Name: "b", Unique: []string{"u"}, Refers: []string{"u"}},
		},
		Script: "open a liba.so\nopen b libb.so\nsees a a u\nsees b b u\nsym b u\n",
	},
	{
		Name: "behind the C library",
		Libraries: []Library{
			{Name: "deep", Defines: []string{"gnu_get_libc_release"}},
			{Name: "mid", Needs: []string{"deep"}},
			{Name: "x", Needs: []string{"mid"}, Refers: []string{"gnu_get_libc_release"}},
			{Name: "y", Defines: []string{"gnu_get_libc_release"}, Refers: []string{"gnu_get_libc_release"}},
		},
		Script: "open x libx.so\nsees x x gnu_get_libc_release\nsym x gnu_get_libc_release\nfrom x x next gnu_get_libc_release\nopen y liby.so\nsees y y gnu_get_libc_release\nopen y liby.so deep\nsym y gnu_get_libc_release\nopen c libc.so.6\nsym c gnu_get_libc_release\n",
	},
	{
		Name:    "in front of the C library",
		Needs:   []string{"front"},
		Program: []string{"front"},
		Libraries: []Library{
			{Name: "front", Defines: []string{"gnu_get_libc_release"}},
			{Name: "x", Refers: []string{"gnu_get_libc_release"}},
		},
		Script: "open x libx.so\nsees x x gnu_get_libc_release\nsym x gnu_get_libc_release\nsym default gnu_get_libc_release\nfrom default front next gnu_get_libc_release\n",
	},
	{
		Name:  "constructors",
		Needs: []string{"p", "q"},
		Libraries: []Library{
			{Name: "p", Needs: []string{"r"}},
			{Name: "q"},
			{Name: "r"},
			{Name: "s", Needs: []string{"t", "u"}},
			{Name: "t", Needs: []string{"v"}},
			{Name: "u", Needs: []string{"r"}},
			{Name: "v"},
		},
		Script: "started\nopen s libs.so\nstarted\nopen v libv.so\nstarted\n",
	},
}
