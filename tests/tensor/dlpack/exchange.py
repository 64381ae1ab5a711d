# SPDX-License-Identifier: Apache-2.0
"""NumPy and PyTorch take twill's tensors and give theirs, by DLPack: exchange.py LIBRARY.

Needs a Python with numpy, and with torch for its part: $TWILL_TEST_PYTHON, or this one, or Debian's. Ends with 4 without.
"""

import ctypes
import gc
import math
import os
import subprocess
import sys

try:
    import numpy as np
except ImportError:
    np = None
if not hasattr(np, "from_dlpack"):  # before NumPy 1.22
    np = None

if np is None:
    for python in [os.environ.get("TWILL_TEST_PYTHON"), "/usr/bin/python3"]:
        if python and not os.environ.get("TWILL_EXCHANGE_RETRIED") and os.path.exists(python):
            environment = dict(os.environ, TWILL_EXCHANGE_RETRIED="1")
            if subprocess.run([python, "-c", "import numpy; numpy.from_dlpack"], capture_output=True).returncode == 0:
                sys.exit(subprocess.run([python, *sys.argv], env=environment).returncode)
    print("skipped: no Python with numpy; set TWILL_TEST_PYTHON to one")
    sys.exit(4)

try:
    import torch
except ImportError:
    torch = None

NAMES = ["bool", "uint8", "int32", "int64", "float16", "bfloat16", "float32", "float64"]
library = ctypes.CDLL(sys.argv[1])
api = ctypes.pythonapi
for function in [library.export_plain, library.export_versioned]:
    function.argtypes, function.restype = [ctypes.c_int], ctypes.c_void_p
for function in [library.delete_plain, library.delete_versioned]:
    function.argtypes, function.restype = [ctypes.c_void_p], None
for function in [library.take_plain, library.take_versioned, library.take_bfloat16]:
    function.argtypes, function.restype = [ctypes.c_void_p], ctypes.c_double
library.bytes_in_use.restype = ctypes.c_longlong
api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
api.PyCapsule_New.restype = ctypes.py_object
api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
api.PyCapsule_GetPointer.restype = ctypes.c_void_p
api.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
api.PyCapsule_IsValid.argtypes = [ctypes.py_object, ctypes.c_char_p]


class Exported:
    """A tensor of twill, as a consumer sees it."""

    def __init__(self, kind, versioned):
        self.kind, self.versioned = kind, versioned

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, **options):
        if self.versioned and options.get("max_version"):
            return api.PyCapsule_New(library.export_versioned(self.kind), b"dltensor_versioned", None)
        return api.PyCapsule_New(library.export_plain(self.kind), b"dltensor", None)


def take(array, function=None, **options):
    """Gives an array to twill; what it refuses is still ours, and is given back by Python."""
    capsule = array.__dlpack__(**options)
    versioned = api.PyCapsule_IsValid(capsule, b"dltensor_versioned")
    name = b"dltensor_versioned" if versioned else b"dltensor"
    pointer = api.PyCapsule_GetPointer(capsule, name)
    used = (b"used_dltensor_versioned" if versioned else b"used_dltensor")
    result = (function or (library.take_versioned if versioned else library.take_plain))(pointer)
    if not math.isnan(result):
        api.PyCapsule_SetName(capsule, used)
    return result


expected = np.arange(24).reshape(2, 3, 4).transpose(2, 0, 1)
checked = []


def check(library_name, kind, versioned):
    name = NAMES[kind]
    before = library.bytes_in_use()
    if library_name == "numpy":
        array = np.from_dlpack(Exported(kind, versioned))
        assert str(array.dtype) == name, (array.dtype, name)
        assert (array == expected.astype(name)).all()
        assert not array.flags.c_contiguous
    else:
        array = torch.from_dlpack(Exported(kind, versioned))
        assert str(array.dtype) == "torch." + name, (array.dtype, name)
        assert array.shape == expected.shape and array.stride() == (1, 12, 4)
        assert (array.to(torch.float64).numpy() == expected.astype("bool" if name == "bool" else "float64")).all()
    assert library.bytes_in_use() > before
    del array
    gc.collect()
    assert library.bytes_in_use() == before, name
    checked.append(f"{library_name} {name}{' versioned' if versioned else ''}")


def torch_takes_booleans():
    """PyTorch 1.13 refuses its own."""
    try:
        return bool(torch.from_dlpack(torch.tensor([True]))[0])
    except RuntimeError:
        return False


numpy_version = tuple(int(part) for part in np.__version__.split(".")[:2])
for kind, name in enumerate(NAMES):
    for versioned in [False, True]:
        # NumPy has no bfloat16, and no booleans by DLPack before 1.25
        if name != "bfloat16" and (name != "bool" or numpy_version >= (1, 25)):
            check("numpy", kind, versioned)
        if torch is not None and (name != "bool" or torch_takes_booleans()):
            check("torch", kind, versioned)

array = np.arange(12, dtype="float32").reshape(3, 4)
assert take(array) == 66 and array[0, 0] == -1
columns = np.asfortranarray(np.arange(12, dtype="float32").reshape(3, 4))[::-1]
assert take(columns) == 66 and columns[0, 0] == -1
references = sys.getrefcount(array)
assert math.isnan(take(np.arange(12, dtype="float64").reshape(3, 4)))
assert math.isnan(take(array.reshape(4, 3)))
assert math.isnan(take(array[0]))
gc.collect()
assert sys.getrefcount(array) == references
if numpy_version >= (2, 1):
    assert take(array, max_version=(1, 0)) == 65
    array.flags.writeable = False
    assert math.isnan(take(array, max_version=(1, 0)))
    assert sys.getrefcount(array) == references
if torch is not None:
    tensor = torch.arange(12, dtype=torch.float32).reshape(3, 4)
    assert take(tensor) == 66 and tensor[0, 0] == -1
    narrow = torch.arange(12, dtype=torch.bfloat16).reshape(3, 4)
    capsule = narrow.__dlpack__()
    if tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2]) >= (2, 9):
        assert take(narrow, library.take_bfloat16, max_version=(1, 0)) == 66 and narrow[0, 0] == -1
    assert math.isnan(take(narrow))
print(f"numpy {np.__version__}, torch {torch.__version__ if torch else 'not installed'}: {len(checked)} exports read, "
      "imports shared, refusals given back")
