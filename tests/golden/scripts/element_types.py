# SPDX-License-Identifier: Apache-2.0
"""Element types: what PyTorch promotes, rounds and converts, and NumPy's functions of complex numbers."""

import numpy
import torch

# in the order of twill's DType
TYPES = ["bool", "uint8", "int32", "int64", "float16", "bfloat16", "float32", "float64", "int8", "int16", "uint16",
         "uint32", "uint64", "float8_e4m3fn", "float8_e5m2", "complex64", "complex128"]
DTYPES = [getattr(torch, name) for name in TYPES]
NAN, INF = float("nan"), float("inf")


def promoted(a, b):
    """The number of the common type, -1 where PyTorch refuses the pair."""
    try:
        return DTYPES.index(torch.promote_types(a, b))
    except RuntimeError:
        return -1


def float8(save):
    codes = torch.arange(256).to(torch.uint8)
    generator = torch.Generator().manual_seed(8)
    exponents = torch.rand(400, generator=generator) * 44 - 22
    signs = torch.sign(torch.rand(400, generator=generator) - 0.5)
    numbers = [0.0, -0.0, 448, 464, 464.1, 465, 479, 480, 500, 57344, 61439, 61440, 61441, 65536, 1e30, -1e30, 1e-30,
               2.0**-9, 2.0**-10, 1.5 * 2.0**-10, 2.0**-16, 2.0**-17, 1.5 * 2.0**-17, 0.0019, INF, -INF, NAN]
    numbers = torch.cat([torch.tensor(numbers), signs * 2.0**exponents]).to(torch.float32)
    for name in ("float8_e4m3fn", "float8_e5m2"):
        dtype = getattr(torch, name)
        values = codes.view(dtype).to(torch.float32)
        save(f"{name}_values", values)
        # every number, the middle between it and the next, and both neighbours of the middle: all roundings
        finite = values[torch.isfinite(values)].sort().values.to(torch.float64)
        middles = ((finite[1:] + finite[:-1]) / 2).to(torch.float32)
        near = [torch.nextafter(middles, torch.full_like(middles, way)) for way in (-INF, INF)]
        asked = torch.cat([numbers, middles, *near])
        save(f"{name}_asked", asked)
        save(f"{name}_codes", asked.to(dtype).view(torch.uint8))


def casts(save):
    """Integers into every type, and numbers that each integer type holds; results as float64."""
    integers = torch.tensor([0, 1, -1, 2, 127, 128, 129, -127, -128, -129, 255, 256, 32767, 32768, -32768, -32769, 65535,
                             65536, 2**31 - 1, 2**31, -(2**31), 2**32 - 1, 2**32, 2**40 + 3], dtype=torch.int64)
    save("integers", integers)
    kinds = ["uint8", "int32", "int8", "int16", "uint16", "uint32", "float16", "bfloat16", "float32", "float64",
             "complex64", "complex128"]
    def real(x):
        return x.real if x.is_complex() else x
    save("integers_cast", torch.stack([real(integers.to(getattr(torch, k))).to(torch.float64) for k in kinds]))
    reals = torch.tensor([0.0, -0.0, 0.4, 0.5, 0.999, 1.5, 2.5, 100.7, 126.9])
    save("reals", reals)
    save("reals_cast", torch.stack([real(reals.to(getattr(torch, k))).to(torch.float64) for k in kinds]))


FUNCTIONS = [numpy.exp, numpy.log, numpy.sqrt, numpy.sin, numpy.cos, numpy.tan, numpy.sinh, numpy.cosh, numpy.tanh,
             numpy.square, lambda z: 1 / z, numpy.conj, numpy.negative]


def complex_functions(save):
    parts = [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 2.25, -3.5, 10.0]
    points = [complex(x, y) for x in parts for y in parts]
    points += [1e-5 + 1e-4j, -1e-5 + 1j, 1 + 1e-6j, 0.6 + 0.8j, -0.8 - 0.6000001j, 30 - 2j, -30 + 1j, 3 + 30j, 1e6 + 1e-6j]
    z = numpy.array(points, dtype=numpy.complex128)
    odd = numpy.array([complex(x, y) for x in (INF, -INF, NAN, 1.5, -0.0) for y in (INF, -INF, NAN, -2.0, 0.0)])
    save("complex_points", z.view(numpy.float64))
    save("complex_odd", odd.view(numpy.float64))
    with numpy.errstate(all="ignore"):
        save("complex_results", numpy.stack([f(z) for f in FUNCTIONS]).view(numpy.float64))
        save("complex_odd_results", numpy.stack([f(odd) for f in FUNCTIONS]).view(numpy.float64))
        save("complex_abs", numpy.stack([numpy.abs(z), numpy.angle(z)]))
        left, right = z[::3], z[1::3][: z[::3].size]
        left = left[: right.size]
        save("complex_pairs", numpy.stack([left, right]).view(numpy.float64))
        binary = [left + right, left - right, left * right, left / right, left**right]
        save("complex_binary", numpy.stack(binary).view(numpy.float64))
        a = (numpy.arange(30) * 0.25 - 3 + 1j * numpy.cos(numpy.arange(30))).reshape(5, 6)
        b = (numpy.sin(numpy.arange(24)) + 1j * (numpy.arange(24) * 0.5 - 4)).reshape(6, 4)
        save("complex_left", a.view(numpy.float64))
        save("complex_right", b.view(numpy.float64))
        save("complex_matmul", (a @ b).view(numpy.float64))
        save("complex_outer", numpy.einsum("ij,kl->jl", a, b).view(numpy.float64))
        save("complex_vdot", numpy.array([numpy.vdot(a[:, 0], a[:, 1])]).view(numpy.float64))
        reductions = [a.sum(0), a.mean(0), a.prod(0)]
        save("complex_reductions", numpy.stack(reductions).view(numpy.float64))


def make(save):
    save("promotion", numpy.array([[promoted(a, b) for b in DTYPES] for a in DTYPES]))
    float8(save)
    casts(save)
    complex_functions(save)
