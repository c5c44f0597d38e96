"""Reductions, scans and softmax."""

import torch
import torch.nn.functional as F

from vectors import Case, D, U


def reductions(op, fn, lo, hi, spec=U, keep=True):
    out = [Case(op, lambda x: fn(x, dim=(0, 1)), [spec(lo, hi, 3, 5)], name="all", dim=[0, 1], keepdim=False),
           Case(op, lambda x: fn(x, dim=0), [spec(lo, hi, 3, 4)], name="first", dim=[0], keepdim=False),
           Case(op, lambda x: fn(x, dim=(0, 2)), [spec(lo, hi, 2, 3, 4)], name="ends", dim=[0, 2], keepdim=False),
           Case(op, lambda x: fn(x, dim=1, keepdim=True), [spec(lo, hi, 2, 40)], name="long", dim=[1], keepdim=True)]
    for c in out:
        c.fn = c.exact = ignoring_args(c.fn)
    return out


def ignoring_args(fn):
    return lambda *tensors, **_: fn(*tensors)


def cases():
    out = []
    for op in ("sum", "mean", "logsumexp"):
        out += reductions(op, getattr(torch, op), -3, 3)
    for op in ("var", "std"):
        out += reductions(op, getattr(torch, op), -3, 3)
        out.append(Case(op, lambda x, dim, correction, f=getattr(torch, op): f(x, dim=dim, correction=correction), [U(-2, 2, 3, 6)], name="correction", dim=[1], correction=0))
    for op in ("amax", "amin"):
        out += reductions(op, getattr(torch, op), -3, 3, D)
    out += reductions("norm", torch.linalg.vector_norm, -3, 3)
    for p in (1.0, 3.0, float("inf")):
        name = {1.0: "one", 3.0: "three"}.get(p, "inf")
        out.append(Case("norm", lambda x, p, dim: torch.linalg.vector_norm(x, float(p), dim=dim), [D(-3, 3, 4, 6)], name=name, p=str(p), dim=[1]))
    out += [Case("frobenius_norm", lambda x, dim: torch.linalg.matrix_norm(x, "fro", dim=(0, 1)), [U(-3, 3, 3, 4)], dim=[0, 1])]
    for order in ("fro", "1", "-1", "inf", "-inf"):
        out.append(Case("linalg_matrix_norm", lambda x, ord, dim: torch.linalg.matrix_norm(x, "fro" if ord == "fro" else float(ord), dim=tuple(dim)),
                        [D(-3, 3, 2, 3, 4)], name=order, ord=order, dim=[-2, -1]))
    out += [Case("prod", lambda x: torch.prod(x), [U(0.3, 1.7, 3, 3)], name="all"),
            Case("prod", lambda x, dim: torch.prod(x, dim=dim), [U(-1.7, 1.7, 3, 5)], name="last", dim=1)]
    for op, lo, hi in (("cumsum", -3, 3), ("cumprod", 0.4, 1.6), ("logcumsumexp", -3, 3)):
        out += [Case(op, getattr(torch, op), [U(lo, hi, 3, 6)], name="last", dim=-1), Case(op, getattr(torch, op), [U(lo, hi, 4, 2, 3)], name="first", dim=0)]
    for op in ("cummax", "cummin"):
        out.append(Case(op, getattr(torch, op), [D(-3, 3, 3, 6)], dim=-1))
    for op, fn in (("softmax", F.softmax), ("log_softmax", F.log_softmax), ("softmin", F.softmin)):
        out += [Case(op, fn, [U(-4, 4, 3, 6)], name="last", dim=-1), Case(op, fn, [U(-4, 4, 4, 3)], name="first", dim=0),
                Case(op, fn, [U(-4, 4, 2, 4, 3)], name="middle", dim=1), Case(op, fn, [U(-9, 9, 2, 33)], name="wide", dim=-1)]
    out += [Case("max", torch.max, [D(-3, 3, 3, 5)], dim=1), Case("min", torch.min, [D(-3, 3, 3, 5)], dim=0),
            Case("argmax", torch.argmax, [D(-3, 3, 3, 5, grad=False)], dim=1), Case("argmin", torch.argmin, [D(-3, 3, 3, 5, grad=False)], dim=0),
            Case("quantile", lambda x, q, dim: torch.quantile(x, torch.tensor(q, dtype=x.dtype), dim), [D(-3, 3, 3, 7)], q=[0.125, 0.5, 0.75], dim=1, only=["float32"]),
            Case("median", torch.median, [D(-3, 3, 3, 5)], dim=1),
            Case("any", torch.any, [D(-3, 3, 3, 5, grad=False)], dim=1), Case("all", torch.all, [D(-3, 3, 3, 5, grad=False)], dim=1),
            Case("normalize", F.normalize, [U(-2, 2, 3, 6)], dim=1), Case("normalize", F.normalize, [U(-2, 2, 4, 3)], name="one", p=1.0, dim=0)]
    return out
