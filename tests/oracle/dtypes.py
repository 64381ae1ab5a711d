# SPDX-License-Identifier: Apache-2.0
"""twill's element types in terms of NumPy, bfloat16 included, and the one table of how twill's promotion differs.

NumPy has no bfloat16: here it is an array of float32 whose values bfloat16 can hold, beside the code "bf". `Array` keeps a
NumPy array and the code together.
"""

from dataclasses import dataclass

import numpy as np

CODES = ("b1", "u1", "i4", "i8", "f2", "bf", "f4", "f8")
NUMPY = {"b1": np.bool_, "u1": np.uint8, "i4": np.int32, "i8": np.int64,
         "f2": np.float16, "bf": np.float32, "f4": np.float32, "f8": np.float64}
FLOATS = ("f2", "bf", "f4", "f8")
INTEGERS = ("u1", "i4", "i8")
SIZES = {"b1": 1, "u1": 1, "i4": 4, "i8": 8, "f2": 2, "bf": 2, "f4": 4, "f8": 8}

# Where twill deliberately differs from NumPy: its promotion is PyTorch's.
#   int32 with float32: float32, not float64          uint8, int32, int64 with float16: float16
#   bool, integers to a floating function: float32    float16 with bfloat16: float32
#   sum and prod of integers: int64, also of uint8    x * 2.5 keeps the type of a floating x, int32 * 2.5 is float32
#   var divides by n - 1                              bool + bool is "or", bool * bool is "and"
PROMOTION = {
    #      b1    u1    i4    i8    f2    bf    f4    f8
    "b1": ("b1", "u1", "i4", "i8", "f2", "bf", "f4", "f8"),
    "u1": ("u1", "u1", "i4", "i8", "f2", "bf", "f4", "f8"),
    "i4": ("i4", "i4", "i4", "i8", "f2", "bf", "f4", "f8"),
    "i8": ("i8", "i8", "i8", "i8", "f2", "bf", "f4", "f8"),
    "f2": ("f2", "f2", "f2", "f2", "f2", "f4", "f4", "f8"),
    "bf": ("bf", "bf", "bf", "bf", "f4", "bf", "f4", "f8"),
    "f4": ("f4", "f4", "f4", "f4", "f4", "f4", "f4", "f8"),
    "f8": ("f8", "f8", "f8", "f8", "f8", "f8", "f8", "f8"),
}


def promote(*codes: str) -> str:
    result = codes[0]
    for code in codes[1:]:
        result = PROMOTION[result][CODES.index(code)]
    return result


def floating(code: str) -> str:
    return code if code in FLOATS else "f4"


def with_number(code: str, number) -> str:
    """The type of a tensor beside a weak number."""
    if isinstance(number, float):
        return floating(code)
    return "i8" if code == "b1" else code


def sum_type(code: str) -> str:
    return code if code in FLOATS else "i8"


def to_bfloat16(values: np.ndarray) -> np.ndarray:
    """Rounds float64 or float32 to the nearest bfloat16, ties to even, as float32."""
    wide = np.asarray(values, np.float64)
    with np.errstate(all="ignore"):
        single = wide.astype(np.float32)
        # round to odd in float32 first, so that the second rounding sees on which side the value lies
        bits = single.view(np.uint32) if single.ndim else single.reshape(1).view(np.uint32)
        bits = bits.reshape(single.shape).astype(np.uint64)
        back = single.astype(np.float64)
        inexact = (back != wide) & np.isfinite(wide) & np.isfinite(back)
        one, half, shift, upper = (np.uint64(number) for number in (1, 0x7FFF, 16, 0xFFFF0000))
        towards = np.where(np.abs(back) > np.abs(wide), bits - one, bits)
        bits = np.where(inexact, towards | one, bits)
        rounded = (bits + half + ((bits >> shift) & one)) & upper
        nan = np.isnan(wide)
        result = np.where(nan, np.uint64(0x7FC00000), rounded).astype(np.uint32)
    return np.ascontiguousarray(result).view(np.float32).reshape(wide.shape)


def convert(values: np.ndarray, code: str) -> np.ndarray:
    """An array of any NumPy type in one of twill's element types."""
    with np.errstate(all="ignore"):
        if code == "bf":
            return to_bfloat16(np.asarray(values).astype(np.float64))
        return np.asarray(values).astype(NUMPY[code])


@dataclass
class Array:
    code: str
    values: np.ndarray

    def to(self, code: str) -> np.ndarray:
        return convert(self.values, code)


def to_bytes(array: Array) -> bytes:
    values = np.ascontiguousarray(array.values)
    if array.code == "bf":
        bits = values.reshape(-1).view(np.uint32)
        return (bits >> 16).astype("<u2").tobytes()
    return values.astype(values.dtype.newbyteorder("<")).tobytes()


def from_bytes(code: str, data: bytes) -> np.ndarray:
    if code == "bf":
        bits = np.frombuffer(data, "<u2").astype(np.uint32) << 16
        return bits.view(np.float32).copy()
    return np.frombuffer(data, np.dtype(NUMPY[code]).newbyteorder("<")).astype(NUMPY[code])
