# SPDX-License-Identifier: Apache-2.0
"""twill's element types in terms of NumPy, bfloat16 included, and the one table of how twill's promotion differs.

NumPy has no bfloat16: here it is an array of float32 whose values bfloat16 can hold, beside the code "bf"; so are the floats of
8 bits, "e4" (e4m3fn) and "e5" (e5m2). `Array` keeps a NumPy array and the code together.
"""

from dataclasses import dataclass

import numpy as np

CODES = ("b1", "u1", "i4", "i8", "f2", "bf", "f4", "f8", "i1", "i2", "u2", "u4", "u8", "e4", "e5", "c8", "c16")  # of DType
NUMPY = {"b1": np.bool_, "u1": np.uint8, "i4": np.int32, "i8": np.int64,
         "f2": np.float16, "bf": np.float32, "f4": np.float32, "f8": np.float64,
         "i1": np.int8, "i2": np.int16, "u2": np.uint16, "u4": np.uint32, "u8": np.uint64,
         "e4": np.float32, "e5": np.float32, "c8": np.complex64, "c16": np.complex128}
FLOATS = ("f2", "bf", "f4", "f8")
BYTE_FLOATS = ("e4", "e5")
COMPLEX = ("c8", "c16")

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


def common_of(a: str, b: str) -> str:
    """PyTorch's rules for the types that PROMOTION does not have; it refuses the other pairs."""
    if a == b:
        return a
    if b in PROMOTION and a in PROMOTION:
        return PROMOTION[a][CODES.index(b)]
    a, b = sorted((a, b), key=CODES.index)
    if b in COMPLEX:
        return "c16" if a == "f8" else b
    if a in FLOATS:
        return a
    if b in ("i1", "i2"):
        return "i2" if a == "u1" else b if a in ("b1", "i1", "i2") else a
    raise ValueError(f"PyTorch has no common type of {a} and {b}")


def promote(*codes: str) -> str:
    result = codes[0]
    for code in codes[1:]:
        result = common_of(result, code)
    return result


def real_of(code: str) -> str:
    return {"c8": "f4", "c16": "f8"}.get(code, code)


def floating(code: str) -> str:
    return code if code in FLOATS + COMPLEX else "f4"


def with_number(code: str, number) -> str:
    """The type of a tensor beside a weak number."""
    if isinstance(number, float):
        return floating(code)
    return "i8" if code == "b1" else code


def sum_type(code: str) -> str:
    return code if code in FLOATS + COMPLEX else "i8"


def byte_values(code: str) -> np.ndarray:
    """The numbers of the 256 floats of 8 bits."""
    bits = np.arange(256)
    width, bias = (3, 7) if code == "e4" else (2, 15)
    exponent, fraction = (bits & 127) >> width, bits & ((1 << width) - 1)
    normal = np.ldexp(1 + fraction / (1 << width), exponent - bias)
    values = np.where(exponent == 0, np.ldexp(fraction / (1 << width), 1 - bias), normal)
    if code == "e4":
        values[(bits & 127) == 127] = np.nan
    else:
        values[exponent == 31] = np.where(fraction == 0, np.inf, np.nan)[exponent == 31]
    return np.where(bits >= 128, -values, values).astype(np.float32)


def to_byte_float(values: np.ndarray, code: str) -> np.ndarray:
    """Rounds to the nearest float of 8 bits, ties to even; e4m3fn saturates at 448, e5m2 overflows to infinity."""
    values = np.asarray(values, np.float64)
    table = byte_values(code)[:127 if code == "e4" else 124].astype(np.float64)  # finite, in the order of their bits
    size = np.abs(values)
    above = np.clip(np.searchsorted(table, size), 1, len(table) - 1)
    low, high = table[above - 1], table[above]
    is_high = (size - low > high - size) | ((size - low == high - size) & (above % 2 == 0))
    result = np.where(is_high, high, low)
    if code == "e5":
        result = np.where(size >= table[-1] + (table[-1] - table[-2]) / 2, np.inf, result)
    result = np.where(np.isnan(values), np.nan, result)
    return np.copysign(result, values).astype(np.float32)


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
        if code in BYTE_FLOATS:
            return to_byte_float(values, code)
        return np.asarray(values).astype(NUMPY[code])


@dataclass
class Array:
    code: str
    values: np.ndarray
    bound: float = 0  # how far another result may lie from this one, where that depends on the case

    def to(self, code: str) -> np.ndarray:
        return convert(self.values, code)


def to_bytes(array: Array) -> bytes:
    values = np.ascontiguousarray(array.values)
    if array.code == "bf":
        bits = values.reshape(-1).view(np.uint32)
        return (bits >> 16).astype("<u2").tobytes()
    if array.code in BYTE_FLOATS:
        table = byte_values(array.code)
        flat = values.reshape(-1)
        same = (table[None, :] == flat[:, None]) & (np.signbit(table)[None, :] == np.signbit(flat)[:, None])
        return np.where(np.isnan(flat), 127, np.argmax(same, axis=1)).astype(np.uint8).tobytes()
    return values.astype(values.dtype.newbyteorder("<")).tobytes()
