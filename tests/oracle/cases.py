# SPDX-License-Identifier: Apache-2.0
"""Cases as values and as lines of text (the format stands in case.hpp), pools of values, and random views.

Element i of an operand is the pool's value number random_bits(seed, 0, 0, i) % size: Philox 4x32-10 as core/philox.hpp
defines it, so that both languages draw the same inputs and only results are stored.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from dtypes import Array, BYTE_FLOATS, CODES, COMPLEX, FLOATS, NUMPY, byte_values, convert, to_bytes

EXTENTS = (1, 2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19, 23, 29, 31, 32, 33, 61, 64, 65, 67)


def random_bits(seed: int, count: int) -> np.ndarray:
    mask = np.uint64(0xFFFFFFFF)
    index = np.arange((count + 3) // 4, dtype=np.uint64)
    c = [index & mask, index >> np.uint64(32), np.zeros_like(index), np.zeros_like(index)]
    k0, k1 = seed & 0xFFFFFFFF, seed >> 32
    for _ in range(10):
        first, second = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        c = [(second >> np.uint64(32)) ^ c[1] ^ np.uint64(k0), second & mask,
             (first >> np.uint64(32)) ^ c[3] ^ np.uint64(k1), first & mask]
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return np.stack(c, axis=1).reshape(-1)[:count].astype(np.uint64)


def shape_text(shape) -> str:
    return "x".join(map(str, shape)) if len(shape) else "."


@dataclass(frozen=True)
class Operand:
    code: str
    shape: tuple  # of the memory
    pool: str = ""
    seed: int = 0
    values: tuple = ()  # instead of a pool: a 1-tuple with a flat array
    steps: tuple = ()  # ("s", ((begin, end, step), ...)) | ("t", a, b) | ("e", shape)

    def text(self) -> str:
        data = "#" + to_bytes(Array(self.code, self.values[0])).hex() if self.values else f"{self.pool}:{self.seed}"
        parts = [self.code, shape_text(self.shape), data]
        for step in self.steps:
            if step[0] == "s":
                bounds = (["" if bound is None else str(bound) for bound in one] for one in step[1])
                parts.append("s" + ",".join(":".join(one) for one in bounds))
            elif step[0] == "t":
                parts.append(f"t{step[1]},{step[2]}")
            else:
                parts.append("e" + shape_text(step[1]))
        return "/".join(parts)

    def view(self, pools) -> np.ndarray:
        if self.values:
            flat = self.values[0]
        else:
            pool = pools[self.pool, self.code]
            count = int(np.prod(self.shape, dtype=np.int64))
            flat = pool[(random_bits(self.seed, count) % np.uint64(len(pool))).astype(np.int64)]
        x = flat.reshape(self.shape)
        for step in self.steps:
            if step[0] == "s":
                x = x[(...,) + tuple(slice(*bounds) for bounds in step[1])]
            elif step[0] == "t":
                x = np.swapaxes(x, step[1], step[2])
            else:
                x = np.broadcast_to(x, step[1])
        return x


@dataclass(frozen=True)
class Case:
    name: str
    numbers: tuple = ()
    out: bool = False
    operands: tuple = ()

    def head(self) -> str:
        numbers = "(" + ",".join(repr(number) for number in self.numbers) + ")" if self.numbers else ""
        return f"{self.name}{numbers}{'@out' if self.out else ''}"

    def text(self, results) -> str:
        given = [operand.text() for operand in self.operands]
        made = [f"{r.code}/{shape_text(r.values.shape)}/{to_bytes(r).hex()}" + (f"/{r.bound:.4g}" if r.bound else "")
                for r in results]
        return " ".join([self.head(), *given, "=", *made])


def random_shape(draw, rank=None) -> tuple:
    """Mostly small; a rank from 0 to 4 unless one is asked for; sometimes empty."""
    rank = draw.choice((0, 1, 1, 2, 2, 2, 3, 3, 4)) if rank is None else rank
    limit = draw.choice((1, 6, 12, 12, 24, 24, 40, 70))
    shape = [1] * rank
    for axis in draw.sample(range(rank), rank):
        rest = limit // max(1, int(np.prod(shape)))
        shape[axis] = draw.choice([extent for extent in EXTENTS if extent <= max(rest, 1)])
    if rank and draw.random() < 0.02:
        shape[draw.randrange(rank)] = 0
    return tuple(shape)


def random_view(draw, shape) -> tuple:
    """A shape of memory and steps that make a view of the wanted shape: from the last step back to the first."""
    steps = []
    shape = tuple(shape)
    if shape and draw.random() < 0.25:
        inner = [1 if draw.random() < 0.5 else extent for extent in shape]
        if 0 not in shape or draw.random() < 0.5:
            while len(inner) > 1 and inner[0] == 1 and draw.random() < 0.5:
                inner.pop(0)
            if tuple(inner) != shape:
                steps.append(("e", shape))
                shape = tuple(inner)
    for _ in range(2):
        if len(shape) > 1 and draw.random() < 0.35:
            a, b = sorted(draw.sample(range(len(shape)), 2))
            steps.append(("t", a - len(shape), b - len(shape)))
            exchanged = list(shape)
            exchanged[a], exchanged[b] = exchanged[b], exchanged[a]
            shape = tuple(exchanged)
    if shape and draw.random() < 0.5:
        bounds, memory = [], []
        for extent in shape:
            one, base = random_slice(draw, extent)
            bounds.append(one)
            memory.append(base)
        if int(np.prod(memory)) <= 600:
            steps.append(("s", tuple(bounds)))
            shape = tuple(memory)
    return shape, tuple(reversed(steps))


def random_slice(draw, extent: int):
    """A slice of `extent` elements, and the extent that it is taken from."""
    if extent == 0:
        return draw.choice((((2, 2, None), 3), ((None, 0, None), 2))) if draw.random() < 0.5 else ((None,) * 3, 0)
    kind = draw.randrange(6)
    if kind < 2:
        return (None, None, None), extent
    if kind == 2:
        return (None, None, -1), extent
    step = draw.choice((1, 2, 3))
    before, after = draw.randrange(3), draw.randrange(2)
    reach = (extent - 1) * step + 1
    base = before + reach + after
    if kind == 3:
        return (before, before + reach, step), base
    if kind == 4:  # bounds counted from the end
        return (before - base, before + reach - base or None, step), base
    last = before + reach - 1
    return (last, before - 1 if before else None, -step), base


def make_pools(seed: int) -> dict:
    """Values to draw from, by domain and element type. Half of `any` are values that break things."""
    rng = np.random.Generator(np.random.Philox(seed))
    pools = {}

    def put(name, code, values):
        pools[name, code] = convert(np.asarray(values), code)

    for code in CODES:
        if code == "b1":
            for name in ("any", "modest", "positive", "dyadic", "unit", "small"):
                put(name, code, rng.integers(0, 2, 64))
            continue
        if code in FLOATS:
            kind = np.float32 if code == "bf" else convert(0, code).dtype
            info = np.finfo(kind)
            tiny = {"bf": 2.0**-133}.get(code, float(info.smallest_subnormal))
            normal = {"bf": 2.0**-126}.get(code, float(info.tiny))
            largest = {"bf": 3.3895313892515355e38}.get(code, float(info.max))
            special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 2, -2, 0.5, -0.5, 1.5, 2.5, -2.5, 3.5, tiny, -tiny,
                       normal, -normal, largest, -largest, normal / 2, float(info.eps), 1 + float(info.eps), 100.5, -7, 3]
            scale = 8.0 if code == "f2" else 60.0
            wild = np.exp2(rng.uniform(-scale, scale, 48)) * rng.choice((-1, 1), 48)
            normals = rng.standard_normal(80) * 3
            put("any", code, np.concatenate([special, special, wild, normals]))
            put("modest", code, np.concatenate([special[:3:2], [0.0, -0.0, np.nan], normals, rng.uniform(-30, 30, 48)]))
            put("positive", code, np.concatenate([np.abs(normals) + 0.01, rng.uniform(0.01, 30, 80)]))
            put("unit", code, np.concatenate([[0.0, -0.0, 1.0, -1.0, 0.5, np.nan], rng.uniform(-1, 1, 90)]))
            put("dyadic", code, np.concatenate([rng.integers(-32, 33, 160) / 8, [0.0, -0.0, 0.0, 1.0]]))
            put("dyadic_nan", code, np.concatenate([rng.integers(-16, 17, 80) / 8, [np.nan] * 25]))
            put("small", code, rng.integers(-9, 10, 96))
            put("powers", code, rng.choice((1, -1, 2, -2, 0.5, -0.5, 1, 1, -1), 64))
            put("normal", code, rng.standard_normal(512))
            put("modest_finite", code, np.concatenate([normals, [0.0, 1.0, -1.0]]))
            put("probability", code, rng.uniform(0.02, 0.98, 256))
            put("scale", code, rng.uniform(0.5, 2, 256))
            put("gentle", code, rng.uniform(-0.7, 0.7, 256))
            put("sign", code, rng.choice((1, -1), 64))
        elif code in BYTE_FLOATS:
            for name in ("any", "modest", "small", "positive"):
                put(name, code, byte_values(code))
        elif code in COMPLEX:
            # No infinities and NaN: NumPy's products of them are those of its C compiler.
            pairs = rng.standard_normal((160, 2)) * 3
            units = np.asarray([0, 1, -1, 1j, -1j, 2, -2j, 0.5 + 0.5j] * 2)
            for name in ("any", "modest", "modest_finite"):
                put(name, code, np.concatenate([units, pairs @ (1, 1j)]))
            put("positive", code, rng.uniform(0.01, 3, 96) + 1j * rng.uniform(-2, 2, 96))
            put("dyadic", code, rng.integers(-32, 33, (160, 2)) @ (1 / 8, 1j / 8))
            put("small", code, rng.integers(-9, 10, (96, 2)) @ (1, 1j))
            put("powers", code, rng.choice((1, -1, 1j, -1j, 2, 0.5j, 1), 64))
        else:
            info = np.iinfo(NUMPY[code])
            is_unsigned = code[0] == "u"
            special = [0, 1, 2, 3, int(info.max), int(info.max) - 1, int(info.min), int(info.min) + 1, 7]
            special = np.asarray(special, NUMPY[code])
            wild = rng.integers(info.min, info.max, 40, dtype=np.uint64 if code == "u8" else np.int64, endpoint=True)
            low = 0 if is_unsigned else -20
            put("any", code, np.concatenate([special, special, wild.astype(NUMPY[code]),
                                             rng.integers(low, 21, 60).astype(NUMPY[code])]))
            for name in ("modest", "unit", "dyadic"):
                put(name, code, rng.integers(low, 21, 96))
            put("small", code, rng.integers(0 if is_unsigned else -9, 10, 96))
            put("positive", code, rng.integers(1, 21, 96))
            put("shifts", code, rng.integers(0, 8 * info.dtype.itemsize, 64))
            put("powers", code, rng.choice((1, 1, 2, 3) if is_unsigned else (1, -1, 2, -2, 3, 1), 64))
    pools["powers", "b1"] = pools["any", "b1"]
    return pools


def pool_lines(pools) -> list:
    return [f"pool {name} {code} {to_bytes(Array(code, values)).hex()}" for (name, code), values in sorted(pools.items())]
