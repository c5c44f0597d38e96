"""Inputs without elements: the cases of all families with some of their sizes 0, as the last batch of a dataset may be.

Of the dimensions that have one size any are 0, since of those that happen to be equal some have to be and others not. A case keeps whether PyTorch
takes it, and if so its results and its gradients for a gradient of ones, in float32.
"""

import torch

from vectors import forward, raw, tensor, tuple_of

MOST = 6  # dimensions of one size, of which all subsets are tried
REFUSALS = (RuntimeError, NotImplementedError, IndexError, ValueError, ZeroDivisionError, AssertionError)
CRASHES = {"pdist", "lstm"}  # of PyTorch 2.15: the gradient of no vectors, a weight of no rows


def places(inputs):
    """The dimensions of the inputs by their size."""
    by_size = {}
    for i, x in enumerate(inputs):
        if x is not None:
            for d, n in enumerate(x.shape):
                if n > 0:
                    by_size.setdefault(n, []).append((i, d))
    return by_size


def emptied(inputs):
    for _, all in sorted(places(inputs).items()):
        if len(all) > MOST:
            subsets = [all]
        else:
            subsets = [[p for k, p in enumerate(all) if some >> k & 1] for some in range(1, 1 << len(all))]
        for subset in subsets:
            out = list(inputs)
            for i, d in subset:
                out[i] = out[i].narrow(d, 0, 0)
            yield [x.detach().clone().requires_grad_(y.requires_grad) if x is not None else None for x, y in zip(out, inputs)]


def record(case, low):
    base = {"op": case.op, "name": case.name, "dtype": "float32", "args": case.args, "in": [tensor(x) if x is not None else None for x in low]}
    try:
        dys = [torch.ones_like(y) if y.is_floating_point() else None for y in tuple_of(case.fn(*low, **case.args))]
    except REFUSALS as e:
        return base | {"refused": str(e).splitlines()[0][:80]}
    try:
        outs, grads = forward(case, low, dys)
    except REFUSALS:  # it has a result, and no gradient
        outs, grads = tuple_of(case.fn(*low, **case.args)), [None] * len(low)
    known = lambda t: {"shape": list(t.shape), "torch": raw(t)} if t.is_floating_point() else tensor(t)
    it = iter(grads)
    kept = [next(it) if x is not None and x.requires_grad else None for x in low]
    some = lambda f, list: [f(t) if t is not None else None for t in list]
    return base | {"dy": some(tensor, dys), "out": some(known, outs), "grad": some(known, kept)}


def drawn(case, gen):
    out = []
    for spec in case.inputs:
        x = spec.draw(gen) if spec is not None else None
        if x is not None and x.is_floating_point():
            x = x.to(torch.float32).requires_grad_(getattr(spec, "grad", True))
        out.append(x)
    return out


def empties(families):
    return [record(case, inputs) for cases in families for case in cases() if case.op not in CRASHES
            for inputs in emptied(drawn(case, torch.Generator().manual_seed(7)))]
