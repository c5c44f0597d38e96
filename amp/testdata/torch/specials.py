"""Zeros, infinities, NaN, the ends of each dtype's range and large arguments: what PyTorch makes of them in the dtype itself.

A case keeps PyTorch's results and its gradients for a gradient of ones. They are compared as they are, not by error bounds.
"""

import torch

import ops_math
import ops_reduce
from vectors import DTYPES, Case, T, forward, raw, tensor, tuple_of


def values(dt):
    i = torch.finfo(dt)
    return [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -3.0, 20.0, -20.0, 100.0, -100.0, float("inf"), float("-inf"), float("nan"),
            i.max, i.min, i.tiny, -i.tiny, i.smallest_subnormal if hasattr(i, "smallest_subnormal") else i.tiny]


class Line:
    """All special values in a row."""

    grad = True

    def at(self, dt):
        return torch.tensor(values(dt), dtype=dt)


class Grid:
    """Every special value against every other: first operand down, second across."""

    grad = True

    def __init__(self, across):
        self.across = across

    def at(self, dt):
        v = torch.tensor(values(dt), dtype=dt)
        return (v.reshape(1, -1) if self.across else v.reshape(-1, 1)).repeat(*((len(v), 1) if self.across else (1, len(v))))


class Rows:
    """Rows of three with special values among them."""

    grad = True

    def at(self, dt):
        inf, nan, top = float("inf"), float("nan"), torch.finfo(dt).max
        return torch.tensor([[1, 2, 3], [inf, 1, 2], [-inf, 1, 2], [-inf, -inf, -inf], [inf, inf, 1], [inf, -inf, 0], [nan, 1, 2], [1, nan, inf],
                             [top, top, top], [-top, top, 0], [0, 0, 0], [0, -0.0, 2], [5, 5, 5]], dtype=dt)


class Steps:
    """Log-probabilities of five steps, an item for each special value at each place: a label's at the first step and at the second, the blank's, that
    of a class which the target [1, 2] has not, those of all classes, those of the fifth step, which no item has, and of the fourth, which some have."""

    grad = True
    VALUES = (float("nan"), float("-inf"), float("inf"))
    PLACES = ((0, 1), (1, 1), (0, 0), (2, 0), (2, 3), (1, slice(None)), (4, 0), (3, 1))

    def at(self, dt):
        x = torch.arange(5 * 4, dtype=torch.float64).mul(7).remainder(9).mul(-0.25).sub(0.25).reshape(5, 1, 4)
        x = x.repeat(1, len(self.VALUES) * len(self.PLACES), 1)
        for i, (step, c) in enumerate(self.PLACES * len(self.VALUES)):
            x[step, i, c] = self.VALUES[i // len(self.PLACES)]
        return x.to(dt)


class Given(T):
    def at(self, dt):
        return self.tensor


BINARY = {"add", "sub", "mul", "div", "pow", "atan2", "maximum", "minimum", "fmod", "remainder", "floor_divide", "hypot", "logaddexp"}


def cases():
    out = []
    for c in ops_math.cases():
        if c.name == "row" or c.name.endswith(" row"):
            out.append(Case(c.op, c.fn, [Line()], name=c.name.removesuffix("row").strip(), **c.args))
        elif c.name == "both" and c.op in BINARY:
            out.append(Case(c.op, c.fn, [Grid(False), Grid(True)]))
        elif c.op in ("eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_xor"):
            out.append(Case(c.op, c.fn, [Grid(False), Grid(True)]))
        elif c.op == "pow_scalar":
            out.append(Case(c.op, c.fn, [Line()], name=c.name, **c.args))
    for exponent, name in ((0.0, "zero"), (1.0, "one"), (-0.5, "minus half"), (4.0, "four"), (-3.0, "minus three")):
        out.append(Case("pow_scalar", torch.pow, [Line()], name=name, exponent=exponent))
    rows = {"sum", "mean", "logsumexp", "var", "std", "amax", "amin", "norm", "prod", "cumsum", "cumprod", "softmax", "log_softmax", "softmin", "max", "min",
            "argmax", "argmin"}
    seen = set()
    for c in ops_reduce.cases():
        if c.op in rows and c.op not in seen and (c.name in ("last", "long", "") or c.op in ("max", "min", "argmax", "argmin")):
            seen.add(c.op)
            args = dict(c.args)
            args["dim"] = [1] if isinstance(args["dim"], list) else 1
            out.append(Case(c.op, c.fn, [Rows()], **args))
    labels = [0, 1, 2] * 4 + [1]
    for reduction in ("none", "mean"):
        out.append(Case("cross_entropy", torch.nn.functional.cross_entropy, [Rows(), Given(labels)], name=reduction, reduction=reduction))
    n = len(Steps.VALUES) * len(Steps.PLACES)
    for zero in (False, True):
        out.append(Case("ctc_loss", torch.nn.functional.ctc_loss, [Steps(), Given([[1, 2]] * n), Given([4, 3, 4] * (n // 3)), Given([2] * n)],
                        name="zeroed" if zero else "infinite", reduction="none", blank=0, zero_infinity=zero))
    return out


def record(case, dtype):
    dt = DTYPES[dtype]
    low = [spec.at(dt) for spec in case.inputs]
    for x in low:
        if x.is_floating_point():
            x.requires_grad_()
    try:
        dys = [torch.ones_like(y) if y.is_floating_point() else None for y in tuple_of(case.fn(*low, **case.args))]
    except (RuntimeError, NotImplementedError):
        return None
    outs, grads = forward(case, low, dys)
    if outs is None or any(y.is_floating_point() and y.dtype != dt for y in outs):
        return None
    known = lambda t: {"shape": list(t.shape), "torch": raw(t)} if t.is_floating_point() else tensor(t)
    it = iter(grads)
    kept = [next(it) if x.is_floating_point() else None for x in low]
    return {"op": case.op, "name": case.name, "dtype": dtype, "args": case.args, "in": [tensor(x) for x in low],
            "dy": [tensor(d) if d is not None else None for d in dys], "out": [known(y) for y in outs], "grad": [known(g) if g is not None else None for g in kept]}


def specials():
    return [r for c in cases() for dtype in DTYPES for r in [record(c, dtype)] if r]
