"""Numbers in 8 bits with scales that are powers of two: roundings, and what a linear layer computes with operands rounded so.

The roundings are torch's own casts to float8; the products are in float64, from the rounded numbers and with the dtype's own numbers elsewhere.
"""

import math

import torch

from vectors import DTYPES, SEED, tensor

FORMATS = {"e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2}
BLOCK = 32  # of OCP Microscaling Formats (MX), version 1.0


def codes(fmt):
    """The finite numbers of a format."""
    values = torch.arange(256, dtype=torch.uint8).view(fmt).to(torch.float64)
    return values[values.isfinite()]


def rounded_group(x, fmt, margin, most):
    """A group that shares a scale: the largest power of two that keeps its largest number within the format."""
    amax, top = x.abs().max().item(), torch.finfo(fmt).max
    k = 0
    if amax > 0:
        k = math.floor(math.log2(top / amax))
        k = max(j for j in (k - 1, k, k + 1) if math.ldexp(amax, j) <= top) - margin
    k = min(max(k, -126), 126)  # scales that float32 holds with their inverse
    scaled = torch.ldexp(x, torch.tensor(float(k), dtype=torch.float64)).clamp(-top, top)
    y = torch.ldexp(scaled.to(torch.float32).to(fmt).to(torch.float64), torch.tensor(float(-k), dtype=torch.float64))
    held = torch.ldexp(codes(fmt), torch.tensor(float(-k), dtype=torch.float64))
    limit = held[held <= most].max()
    return torch.where(y.abs() > most, limit.copysign(y), y)


def rounded(x, fmt, granularity, margin, dim, dtype):
    """x in float64, of numbers that dtype holds."""
    most = torch.finfo(dtype).max
    if granularity == "tensor":
        return rounded_group(x, fmt, margin, most)
    lines = x.movedim(dim, -1)
    shape = lines.shape
    lines = lines.reshape(-1, shape[-1] if granularity == "row" else BLOCK)
    lines = torch.stack([rounded_group(line, fmt, margin, most) for line in lines])
    return lines.reshape(shape).movedim(-1, dim)


def wide(gen, *shape):
    """Numbers of many sizes, with zeros."""
    x = torch.randn(shape, generator=gen, dtype=torch.float64) * 10 ** (torch.rand(shape, generator=gen, dtype=torch.float64) * 7 - 5)
    return x * (torch.rand(shape, generator=gen) > 0.05)


def roundings():
    gen, out = torch.Generator().manual_seed(SEED), []
    for name, dtype in DTYPES.items():
        top = torch.finfo(dtype).max
        inputs = {"wide": wide(gen, 32, 64), "zeros": torch.zeros(32, 32), "large": torch.linspace(-top, top, 1024, dtype=torch.float64).reshape(32, 32),
                  "small": torch.finfo(dtype).smallest_normal * torch.linspace(-1, 1, 1024, dtype=torch.float64).reshape(32, 32)}
        for kind, x in inputs.items():
            x = x.to(dtype)
            cases = []
            for fmt, f in FORMATS.items():
                for granularity, dim in (("tensor", 0), ("row", 0), ("row", 1), ("block", 0), ("block", 1)):
                    y = rounded(x.to(torch.float64), f, granularity, 0, dim, dtype).to(dtype)
                    cases.append({"format": fmt, "granularity": granularity, "dim": dim, "out": tensor(y)})
            out.append({"name": kind, "dtype": name, "in": tensor(x), "cases": cases})
    return out


RECIPES = (("tensor", False, 0), ("row", True, 0), ("block", False, 1))


def linears():
    gen, out = torch.Generator().manual_seed(SEED + 1), []
    for name, dtype in DTYPES.items():
        def draw(*shape):
            return torch.randn(shape, generator=gen, dtype=torch.float64).to(dtype)
        x, w, b, dy = draw(2, 16, 32), draw(64, 32), draw(64), draw(2, 16, 64)
        cases = []
        for granularity, e4m3, margin in RECIPES:
            def cast(t, dim, gradient=False):
                fmt = FORMATS["e5m2" if gradient and not e4m3 else "e4m3"]
                return rounded(t.to(torch.float64), fmt, granularity, margin, dim, dtype)
            rows, inputs = dy.reshape(-1, 64), x.reshape(-1, 32)
            y = cast(x, -1) @ cast(w, -1).T + b.to(torch.float64)
            dx = cast(dy, -1, True) @ cast(w, 0)
            dw = cast(rows, 0, True).T @ cast(inputs, 0)
            db = rows.to(torch.float64).sum(0)
            cases.append({"granularity": granularity, "e4m3": e4m3, "margin": margin, "out": [tensor(t.to(torch.float32)) for t in (y, dx, dw, db)]})
        out.append({"dtype": name, "in": [tensor(t) for t in (x, w, b, dy)], "cases": cases})
    return out
