"""Tensors after an overflow: the cases of all families with zeros, infinities, NaN and numbers near the ends of float16 among their inputs.

A case keeps PyTorch's results and its gradients for a gradient of ones; what is compared is which of them are finite. A matrix that has no
factor or no inverse is kept with what PyTorch says of it.
"""

import torch

from vectors import DTYPES, forward, raw, tensor, tuple_of

NUMBERS = [float("nan"), float("inf"), float("-inf"), 0.0, -0.0, -1e-7, 60000.0, -60000.0, 1.0]
SHARE = 0.4  # of the numbers that are replaced
CRASHES = {"grid_sample"}  # of PyTorch 2.15, for a place that is NaN


def replaced(x, gen, nan):
    """x with some of its numbers replaced by those of NUMBERS, NaN only if asked for."""
    flat = x.clone().view(-1)
    for i in range(flat.numel()):
        k = int(torch.randint(0, len(NUMBERS), (1,), generator=gen))
        if torch.rand((1,), generator=gen) < SHARE and (nan or k > 0):
            flat[i] = NUMBERS[k]
    return flat.view(x.shape)


def drawn(case, dt, round):
    gen = torch.Generator().manual_seed(100 + round)
    out = []
    for spec in case.inputs:
        x = spec.draw(gen) if spec is not None else None
        if x is not None and x.is_floating_point():
            x = replaced(x, gen, round % 2 == 1).to(dt)
            x.requires_grad_(getattr(spec, "grad", True))
        out.append(x)
    return out


def record(case, dtype, round):
    dt = DTYPES[dtype]
    low = drawn(case, dt, round)
    some = lambda f, list: [f(t) if t is not None else None for t in list]
    record = {"op": case.op, "name": f"{case.name} {round}".strip(), "dtype": dtype, "args": case.args, "in": some(tensor, low)}
    try:
        dys = [torch.ones_like(y) if y.is_floating_point() else None for y in tuple_of(case.fn(*low, **case.args))]
        outs, grads = forward(case, low, dys)
    except torch.linalg.LinAlgError as e:
        return record | {"refused": str(e)}
    except (RuntimeError, NotImplementedError, IndexError, ValueError):
        return None  # PyTorch refuses such numbers, or has no code for the dtype
    if outs is None or any(y.is_floating_point() and y.dtype != dt for y in outs):
        return None
    known = lambda t: {"shape": list(t.shape), "torch": raw(t)} if t.is_floating_point() else tensor(t)
    it = iter(grads)
    kept = [next(it) if x is not None and x.requires_grad else None for x in low]
    return record | {"dy": some(tensor, dys), "out": some(known, outs), "grad": some(known, kept)}


def extremes(families):
    return [r for cases in families for c in cases() if c.op not in CRASHES for round in range(2) for dtype in ("float32", "float16")
            for r in [record(c, dtype, round)] if r]
