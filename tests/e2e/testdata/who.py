#!/usr/bin/python3
# SPDX-FileCopyrightText: The tpsl authors
# SPDX-License-Identifier: Apache-2.0

"""Prints what the interpreter is, as it sees itself and as what it starts sees it."""

import os
import subprocess
import sys
import sysconfig

for name in "executable", "prefix", "exec_prefix", "base_prefix", "version", "path", "argv", "orig_argv", "flags", "hexversion":
    print(name, getattr(sys, name))
print(sysconfig.get_path("purelib"), sysconfig.get_config_var("EXT_SUFFIX"))
print("own", [name for name in os.environ if name.startswith("TPSL_P")])
child = "import os, sys; print('child', sys.executable, sys.prefix, [n for n in os.environ if n.startswith('TPSL_P')], os.environ['PMI_RANK'])"
print(subprocess.run([sys.executable, "-c", child], check=True, stdout=subprocess.PIPE, text=True).stdout)
