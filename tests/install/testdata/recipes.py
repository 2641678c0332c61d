# SPDX-FileCopyrightText: The tpsl authors
# SPDX-License-Identifier: Apache-2.0
"""Reads the recipes for Spack and EasyBuild as those would, and prints what they say as JSON.

usage: recipes.py PACKAGE.PY EASYCONFIG
"""

import contextlib
import json
import os
import sys
import types


def spack(path):
    """Runs a package.py with directives that only take notes."""
    said = []

    def directive(name):
        def note(*arguments, **named):
            said.append([name, *arguments, *(f"{key}={value}" for key, value in named.items())])
            return lambda decorated: decorated

        return note

    names = types.ModuleType("spack.package")
    for name in ("license", "version", "variant", "depends_on", "requires", "run_after", "on_package_attributes"):
        setattr(names, name, directive(name))
    names.when = lambda condition: contextlib.nullcontext()
    names.join_path, names.Executable = os.path.join, lambda path: print
    build_system = types.ModuleType("makefile")
    build_system.MakefilePackage = type("MakefilePackage", (), {})
    for module in ("spack", "spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"):
        sys.modules[module] = types.ModuleType(module)
    sys.modules["spack.package"] = names
    sys.modules["spack_repo.builtin.build_systems.makefile"] = build_system
    scope = {"__name__": "package"}
    exec(compile(open(path).read(), path, "exec"), scope)
    package = scope["Tpsl"]()
    package.prefix = "/prefix"
    return {"directives": [" ".join(map(str, line)) for line in said], "install": package.install_targets, "homepage": package.homepage}


def easybuild(path):
    """Runs an easyconfig with the constants that it may use."""
    scope = {"SYSTEM": {"name": "system", "version": "system"}, "SHLIB_EXT": "so", "SOURCE_TAR_GZ": "%(name)s-%(version)s.tar.gz"}
    constants = set(scope) | {"__builtins__"}
    exec(compile(open(path).read(), path, "exec"), scope)
    return {name: value for name, value in scope.items() if name not in constants}


json.dump({"spack": spack(sys.argv[1]), "easybuild": easybuild(sys.argv[2])}, sys.stdout)
