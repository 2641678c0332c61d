# SPDX-FileCopyrightText: The tpsl authors
# SPDX-License-Identifier: Apache-2.0

"""What pip calls to make a wheel of this folder (PEP 517): the package, and where the libraries are that it uses.

pip install takes the package from a tpsl that was built or installed, and the wheel is for that tpsl. An editable install is not offered:
PYTHONPATH does the same.
"""

import base64
import hashlib
import os
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
LIBRARIES = os.path.normpath(os.path.join(HERE, "..", "..", "..", "lib"))
SPDX = "# SPDX-FileCopyrightText: The tpsl authors\n# SPDX-License-Identifier: Apache-2.0\n\n"


def _version():
    """The version of the tpsl that this folder belongs to."""
    path = os.path.join(LIBRARIES, "pkgconfig", "tpsl.pc")
    try:
        with open(path) as file:
            return next(line.split()[1] for line in file if line.startswith("Version: "))
    except (OSError, StopIteration) as e:
        raise SystemExit(f"{path} tells no version ({e}): run make first, or install from share/tpsl/python of an installed tpsl") from None


def _files(version):
    """The files of the wheel: their names in it, and their bytes."""
    files = {}
    for name in sorted(os.listdir(os.path.join(HERE, "tpsl"))):
        if name.endswith(".py"):
            with open(os.path.join(HERE, "tpsl", name), "rb") as file:
                files[f"tpsl/{name}"] = file.read()
    files["tpsl/_installed.py"] = f"{SPDX}LIBRARIES = {LIBRARIES!r}\n".encode()
    info = f"tpsl-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: tpsl\nVersion: {version}\nSummary: Arrays that MPI ranks of one address space share\n" \
        "License: Apache-2.0\nRequires-Python: >=3.8\n"
    files[f"{info}/METADATA"] = metadata.encode()
    files[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: tpsl\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    return files, f"{info}/RECORD"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    version = _version()
    files, record = _files(version)
    rows = []
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        rows.append(f"{name},sha256={digest},{len(content)}\n")
    files[record] = "".join(rows + [f"{record},,\n"]).encode()
    wheel = f"tpsl-{version}-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(wheel_directory, wheel), "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return wheel
