# SPDX-License-Identifier: Apache-2.0
"""cuDNN and NCCL as pip installs them are found, linked and loaded: check.py TREE COMPILER.

The wheels are made up, in a virtual environment: libcudnn.so.9 and libnccl.so.2 without the names that linkers look for. The
machine's own copies are hidden from CMake.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

tree, compiler = Path(sys.argv[1]).resolve(), sys.argv[2]


def run(*command, **environment):
    done = subprocess.run([str(part) for part in command], text=True, capture_output=True,
                          env={**os.environ, "CUDA_HOME": "", "CUDA_PATH": "", "CONDA_PREFIX": "", "VIRTUAL_ENV": "",
                               **environment})
    return done.returncode, done.stdout + done.stderr


def make_wheel(site, package, library, headers):
    folder = site / "nvidia" / package
    (folder / "lib").mkdir(parents=True)
    (folder / "include").mkdir()
    for name, text in headers.items():
        (folder / "include" / name).write_text(text)
    source = folder / "source.cpp"
    source.write_text(f"extern \"C\" int {package}_of_the_wheel() {{ return 46; }}\n")
    code, text = run(compiler, "-shared", "-fPIC", f"-Wl,-soname,{library}", source, "-o", folder / "lib" / library)
    assert code == 0, text


def configure(build, **environment):
    """What CMake prints of the two libraries."""
    code, text = run("cmake", "-S", tree / "tests/consumer/wheels", "-B", build, f"-DCMAKE_CXX_COMPILER={compiler}",
                     f"-DTWILL_SOURCE={tree}", "-DCMAKE_IGNORE_PREFIX_PATH=/usr;/usr/local;/usr/local/cuda",
                     f"-DCMAKE_IGNORE_PATH={hidden}", **environment)
    assert code == 0, text
    return {line[3:].split(":")[0]: line.split()[2:] for line in text.splitlines() if line.startswith("-- ") and ": " in line}


hidden = ";".join(f"{root}/{folder}" for root in ("/usr/local/cuda", "/usr", "/usr/local")
                  for folder in ("lib64", "lib", "include", "targets/x86_64-linux/lib", "lib/x86_64-linux-gnu"))
with tempfile.TemporaryDirectory() as place:
    place = Path(place).resolve()
    own = place / "environment"
    code, text = run(sys.executable, "-m", "venv", "--without-pip", own)
    if code != 0:
        print("skipped: python3 makes no virtual environments here")
        sys.exit(4)
    site = next(own.glob("lib/python3*/site-packages"))
    version = "#define CUDNN_MAJOR 9\n#define CUDNN_MINOR {}\n"
    make_wheel(site, "cudnn", "libcudnn.so.9", {"cudnn_graph.h": "extern \"C\" int cudnn_of_the_wheel();\n",
                                               "cudnn_version.h": version.format(12)})
    make_wheel(site, "nccl", "libnccl.so.2", {"nccl.h": "extern \"C\" int nccl_of_the_wheel();\n"})
    for name, environment in (("by_python", {"PATH": f"{own}/bin:{os.environ['PATH']}"}),
                              ("by_environment", {"VIRTUAL_ENV": str(own)})):
        build = place / name
        found = configure(build, **environment)
        assert found["CUDNN"] == ["TRUE", f"{site}/nvidia/cudnn/lib/libcudnn.so.9", f"{site}/nvidia/cudnn/include"], found
        assert found["NCCL"] == ["TRUE", f"{site}/nvidia/nccl/lib/libnccl.so.2", f"{site}/nvidia/nccl/include"], found
        for command in (("cmake", "--build", build), (build / "program",)):
            code, text = run(*command, LD_LIBRARY_PATH="")
            assert code == 0, text
    (site / "nvidia/cudnn/include/cudnn_version.h").write_text(version.format(5))
    found = configure(place / "old", VIRTUAL_ENV=str(own))
    assert found["CUDNN"][0] == "FALSE" and found["NCCL"][0] == "TRUE", found
print("wheels are found")
