"""Elementwise functions and activations."""

import math

import torch
import torch.nn.functional as F

from vectors import Case, D, T, U


def unary(op, fn, lo, hi, **args):
    return [Case(op, fn, [U(lo, hi, 3, 5)], **args), Case(op, fn, [U(lo, hi, 17)], name="row" if "name" not in args else args.pop("name") + " row", **args)]


def both(op, fn, x, y):
    """Two operands of one shape, one broadcast, both broadcast."""
    return [Case(op, fn, [U(*x, 3, 4), U(*y, 3, 4)], name="same"),
            Case(op, fn, [U(*x, 3, 4), U(*y, 4)], name="broadcast"),
            Case(op, fn, [U(*x, 3, 1), U(*y, 1, 5)], name="both")]


def celu(x, alpha=1.0):
    return torch.where(x > 0, x, alpha * torch.expm1(x.clamp(max=0) / alpha))


def cases():
    out = []
    for op, fn in {"add": torch.add, "sub": torch.sub, "mul": torch.mul}.items():
        out += both(op, fn, (-3, 3), (-3, 3))
    out += both("div", torch.div, (-3, 3), (0.3, 3))
    out += both("pow", torch.pow, (0.2, 3), (-2, 2))
    out += both("atan2", torch.atan2, (-2, 2), (-2, 2))
    out += both("maximum", torch.maximum, (-2, 2), (-2, 2))
    out += both("minimum", torch.minimum, (-2, 2), (-2, 2))
    out += both("hypot", torch.hypot, (0.1, 2), (0.1, 2))
    out += both("logaddexp", torch.logaddexp, (-3, 3), (-3, 3))
    out += both("fmod", torch.fmod, (-3, 3), (0.5, 1))
    out += both("remainder", torch.remainder, (-3, 3), (0.5, 1))
    out += both("floor_divide", lambda a, b: torch.div(a, b, rounding_mode="floor"), (-3, 3), (0.5, 1))
    out += [Case("lerp", lambda a, b, weight: torch.lerp(a, b, weight), [U(-2, 2, 3, 4), U(-2, 2, 3, 4)], name="number", weight=0.3),
            Case("lerp", torch.lerp, [U(-2, 2, 3, 4), U(-2, 2, 3, 4), U(0, 1, 3, 4)], name="tensor"),
            Case("add_scalar", lambda x, c: x + c, [U(-3, 3, 3, 5)], c=1.3),
            Case("mul_scalar", lambda x, c: x * c, [U(-3, 3, 3, 5)], c=0.7),
            Case("pow_scalar", torch.pow, [U(0.2, 3, 3, 5)], name="fraction", exponent=2.5),
            Case("pow_scalar", torch.pow, [U(-2, 2, 3, 5)], name="square", exponent=2.0),
            Case("pow_scalar", torch.pow, [U(-2, 2, 3, 5)], name="cube", exponent=3.0),
            Case("pow_scalar", torch.pow, [U(0.3, 2, 3, 5)], name="inverse", exponent=-1.0),
            Case("pow_scalar", torch.pow, [U(0.3, 2, 3, 5)], name="root", exponent=0.5),
            Case("__rpow__", lambda x, c: c ** x, [U(-2, 2, 3, 5)], c=1.7),
            Case("__rdiv__", lambda x, c: c / x, [U(0.4, 2, 3, 5)], c=1.3),
            Case("addcmul", lambda x, a, b, value: torch.addcmul(x, a, b, value=value), [U(-2, 2, 3, 4), U(-2, 2, 4), U(-2, 2, 3, 1)], value=0.7),
            Case("addcdiv", lambda x, a, b, value: torch.addcdiv(x, a, b, value=value), [U(-2, 2, 3, 4), U(-2, 2, 4), U(0.5, 2, 3, 1)], value=0.7)]
    for op, (lo, hi) in {"neg": (-3, 3), "exp": (-4, 4), "exp2": (-4, 4), "log": (0.1, 5), "sqrt": (0.1, 5), "abs": (-3, 3), "sign": (-3, 3), "square": (-3, 3),
                         "sin": (-4, 4), "cos": (-4, 4), "tan": (-1.3, 1.3), "sinh": (-3, 3), "cosh": (-3, 3), "tanh": (-4, 4),
                         "asin": (-0.95, 0.95), "acos": (-0.95, 0.95), "atan": (-4, 4), "asinh": (-4, 4), "acosh": (1.2, 4), "atanh": (-0.9, 0.9),
                         "erf": (-3, 3), "erfc": (-2, 2), "erfinv": (-0.9, 0.9), "expm1": (-2, 2), "log1p": (-0.7, 3), "log2": (0.1, 5), "log10": (0.1, 5),
                         "reciprocal": (0.3, 3), "rsqrt": (0.2, 4), "sigmoid": (-6, 6), "relu": (-3, 3),
                         "floor": (-4, 4), "ceil": (-4, 4), "round": (-4, 4), "trunc": (-4, 4), "frac": (-4, 4)}.items():
        out += unary(op, getattr(torch, op), lo, hi)
    out += unary("lgamma", torch.lgamma, 0.2, 5)
    out += unary("lgamma", torch.lgamma, -2.9, -2.1, name="negative")
    out += unary("digamma", torch.digamma, 0.2, 5, exact=lambda x: Polygamma.apply(x, 0))
    out += unary("digamma", torch.digamma, -1.9, -1.1, name="negative", exact=lambda x: Polygamma.apply(x, 0))
    for n in (1, 2, 3):
        out += unary("polygamma", lambda x, n: torch.polygamma(n, x), 0.3, 5, name=str(n), exact=lambda x, n: Polygamma.apply(x, n), n=n)
    for op in ("silu", "softplus", "relu6", "selu", "mish", "hardswish", "hardtanh", "softsign", "logsigmoid", "tanhshrink", "softshrink", "hardshrink"):
        out += unary(op, getattr(F, op), -5, 5)
    out += unary("gelu", F.gelu, -4, 4)
    out += unary("gelu", F.gelu, -4, 4, name="tanh", approximate="tanh")
    out += unary("leaky_relu", F.leaky_relu, -3, 3)
    out += unary("leaky_relu", F.leaky_relu, -3, 3, name="slope", negative_slope=0.3)
    out += unary("elu", F.elu, -3, 3)
    out += unary("elu", F.elu, -3, 3, name="alpha", alpha=0.6)
    out += unary("celu", F.celu, -3, 3, exact=celu)
    out += unary("celu", F.celu, -3, 3, name="alpha", exact=celu, alpha=0.6)
    out += unary("hardsigmoid", F.hardsigmoid, -5, 5, exact=lambda x: (x / 6 + 0.5).clamp(0, 1))
    out += unary("softplus", F.softplus, -5, 25, name="beta", beta=2.0, threshold=20.0)
    out += unary("hardtanh", F.hardtanh, -3, 3, name="range", min_val=-0.7, max_val=1.6)
    out += unary("softshrink", F.softshrink, -3, 3, name="lambda", lambd=0.9)
    out += unary("hardshrink", F.hardshrink, -3, 3, name="lambda", lambd=0.9)
    out += unary("threshold", F.threshold, -3, 3, threshold=0.4, value=-1.5)
    out += unary("rrelu", F.rrelu, -3, 3, lower=0.1, upper=0.3)
    out += [Case("clamp_tensor", torch.clamp, [U(-3, 3, 3, 5), U(-2, 0, 5), U(0, 2, 3, 1)], name="both"),
            Case("clamp_tensor", lambda x, hi: torch.clamp(x, max=hi), [U(-3, 3, 3, 5), U(-1, 1, 3, 5)], name="max")]
    out += unary("clamp", torch.clamp, -3, 3, min=-1.0, max=1.5)
    out += unary("clamp", torch.clamp, -3, 3, name="min", min=-1.0)
    out += unary("clamp", torch.clamp, -3, 3, name="max", max=0.5)
    out += [Case("prelu", F.prelu, [U(-3, 3, 2, 3, 4), U(0.1, 0.5, 3)], name="channels"),
            Case("prelu", F.prelu, [U(-3, 3, 3, 5), U(0.1, 0.5, 1)], name="one"),
            Case("glu", F.glu, [U(-3, 3, 3, 8)], dim=-1),
            Case("glu", F.glu, [U(-3, 3, 4, 3)], name="first", dim=0)]
    mask = T([[True, False, True, True], [False, False, True, False], [True, True, False, True]], torch.bool)
    out += [Case("where", torch.where, [mask, U(-2, 2, 3, 4), U(-2, 2, 4)]),
            Case("masked_fill", lambda x, m, value: x.masked_fill(m, value), [U(-2, 2, 3, 4), mask], value=-2.5)]
    for op in ("eq", "ne", "lt", "le", "gt", "ge"):
        # Rounded to quarters, so that some pairs are equal.
        out.append(Case(op, lambda a, b, f=getattr(torch, op): f(a, b), [Quarters(3, 6), Quarters(6)]))
    for op in ("logical_and", "logical_or", "logical_xor"):
        out.append(Case(op, getattr(torch, op), [Quarters(3, 6), Quarters(6)]))
    out.append(Case("logical_not", torch.logical_not, [Quarters(3, 6)]))
    bits = [[5, -3, 1 << 40, 0, -1], [6, -(1 << 63), 7, 1, 12]]
    for op in ("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift"):
        out.append(Case(op, getattr(torch, op), [T(bits), T([3, 62, 1, 64, -2])], only=["float32"]))
    out.append(Case("bitwise_not", torch.bitwise_not, [T(bits)], only=["float32"]))
    for op in ("isnan", "isinf", "isfinite"):
        out.append(Case(op, getattr(torch, op), [Special()]))
    return out


class Polygamma(torch.autograd.Function):
    """Derivative n of digamma by Hurwitz's zeta function: torch.polygamma(1, x) in float64 has ten digits."""

    @staticmethod
    def forward(ctx, x, n):
        ctx.save_for_backward(x)
        ctx.n = n
        return (-1) ** (n + 1) * math.factorial(n) * torch.special.zeta(n + 1.0, x) if n > 0 else torch.digamma(x)

    @staticmethod
    def backward(ctx, dy):
        return dy * Polygamma.apply(ctx.saved_tensors[0], ctx.n + 1), None


class Quarters(U):
    def __init__(self, *shape):
        super().__init__(-1, 1, *shape, grad=False)

    def draw(self, gen):
        return super().draw(gen).mul(4).round().div(4)


class Special(U):
    def __init__(self):
        super().__init__(-1, 1, 6, grad=False)

    def draw(self, gen):
        x = super().draw(gen)
        x[1], x[2], x[4] = float("nan"), float("inf"), float("-inf")
        return x
