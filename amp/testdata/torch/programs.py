"""Programs: ops in a row, drawn at random, on tensors that are shared, viewed, joined, detached and used again, with several backward passes
and gradients of gradients: how autograd puts together what vectors of single ops show alone. In float64, so that what differs is no rounding.
"""

import itertools
import random

import torch
import torch.nn.functional as F

import ops_attention

SIZES = (1, 2, 3, 4, 5)
UNARY = {"tanh": torch.tanh, "sigmoid": torch.sigmoid, "sin": torch.sin, "cos": torch.cos, "gelu": F.gelu, "silu": F.silu, "softplus": F.softplus,
         "relu": torch.relu, "abs": torch.abs, "square": torch.square, "erf": torch.erf, "exp": torch.exp, "neg": torch.neg, "mish": F.mish,
         "logsigmoid": F.logsigmoid, "asinh": torch.asinh, "atan": torch.atan, "softsign": F.softsign}
BINARY = {"add": torch.add, "sub": torch.sub, "mul": torch.mul, "maximum": torch.maximum, "minimum": torch.minimum, "atan2": torch.atan2, "logaddexp": torch.logaddexp}


def by_dim(fn):
    return lambda x, dim, keepdim: fn(x, dim=dim, keepdim=keepdim)


# What runs each op; the names and arguments are those of the vectors' cases.
CALLS = {**UNARY, **BINARY,
         "add_scalar": lambda x, c: x + c, "mul_scalar": lambda x, c: x * c,
         "sum": by_dim(torch.sum), "mean": by_dim(torch.mean), "logsumexp": by_dim(torch.logsumexp), "norm": by_dim(torch.linalg.vector_norm),
         "amax": by_dim(torch.amax), "softmax": lambda x, dim: F.softmax(x, dim), "log_softmax": lambda x, dim: F.log_softmax(x, dim),
         "cumsum": torch.cumsum, "max": torch.max, "sort": lambda x, dim, descending: torch.sort(x, dim, descending),
         "reshape": lambda x, shape: x.reshape(shape), "transpose": lambda x, dims: x.permute(dims), "expand": lambda x, shape: x.expand(shape),
         "narrow": torch.narrow, "slice": lambda x, dim, start, end, step: x.movedim(dim, 0)[start:end:step].movedim(0, dim), "select": torch.select,
         "unsqueeze": torch.unsqueeze, "flip": torch.flip, "roll": torch.roll, "pad": lambda x, pad, mode, value: F.pad(x, pad, mode, value),
         "cat": lambda *x, dim: torch.cat(x, dim), "stack": lambda *x, dim: torch.stack(x, dim), "split": lambda x, size, dim: torch.split(x, size, dim),
         "matmul": torch.matmul, "linear": F.linear, "layer_norm": lambda x, w, b, eps: F.layer_norm(x, x.shape[-1:], w, b, eps),
         "where": lambda c, a, b: torch.where(c > 0, a, b), "gather": lambda x, i, dim: torch.gather(x, dim, i), "embedding": lambda w, i: F.embedding(i, w),
         "scaled_dot_product_attention": ops_attention.written_out, "detach": lambda x: x.detach(),
         "tril": torch.tril, "repeat": lambda x, repeats: x.repeat(repeats), "mse_loss": lambda a, b, reduction: F.mse_loss(a, b, reduction=reduction),
         "max_pool2d": lambda x, kernel_size, stride, padding, dilation, ceil_mode: F.max_pool2d(x, kernel_size, stride, padding, dilation, ceil_mode),
         "conv2d": lambda x, w, stride, padding, dilation, groups: F.conv2d(x, w, None, stride, padding, dilation, groups)}

# Ops that name elements by their indices, and what makes equal ones: programs that are drawn for these have more of them.
NAMING = {"max": CALLS["max"], "sort": CALLS["sort"], "argmax": torch.argmax, "argmin": torch.argmin,
          "topk": lambda x, k, dim, largest: torch.topk(x, k, dim, largest)}
INDICES = [*NAMING] * 6 + ["expand", "repeat", "relu"] * 4


def run(op, args, x):
    y = (CALLS | NAMING)[op](*x, **args)
    return list(y) if isinstance(y, tuple) else [y]


def tie(op, args, x):
    """Says of a step that names elements by their indices that two of them are equal, or nearly: there the index may be that of either."""
    if op not in NAMING:
        return {}
    dim, n = args["dim"], x.shape[args["dim"]]
    down = args.get("largest", args.get("descending", op != "argmin"))
    gaps = torch.diff(torch.sort(x.detach(), dim, descending=down)[0], dim=dim).abs()
    gaps = gaps.narrow(dim, 0, min(n - 1, n if op == "sort" else args.get("k", 1)))
    return {"tie": True} if bool((gaps < 1e-9).any()) else {}


class Draw:
    """Draws a program while it runs: what is not possible with the shapes at hand is not drawn."""

    def __init__(self, seed, more):
        self.r, self.ops = random.Random(seed), [*CALLS, *"matmul linear cat narrow transpose expand".split(), *more]
        self.values, self.inputs, self.steps = [], [], []
        for _ in range(self.r.randint(2, 4)):
            self.leaf(self.shape())
        while len(self.steps) < self.r.randint(6, 22):
            self.step()

    def shape(self, rank=None):
        return [self.r.choice(SIZES) for _ in range(self.r.randint(1, 4) if rank is None else rank)]

    def leaf(self, shape, grad=True):
        n = 1
        for d in shape:
            n *= d
        x = torch.tensor([self.r.uniform(-2, 2) for _ in range(n)], dtype=torch.float64).reshape(shape)
        x.requires_grad_(grad)
        return self.note(x, {"grad": grad})

    def whole(self, shape, below):
        n = 1
        for d in shape:
            n *= d
        return self.note(torch.tensor([self.r.randrange(below) for _ in range(n)]).reshape(shape), {"grad": False})

    def note(self, x, about):
        self.inputs.append(about | {"shape": list(x.shape), "data": x.flatten().tolist(), "whole": x.dtype == torch.int64, "at": len(self.steps)})
        self.values.append(x)
        return len(self.values) - 1

    def floats(self, rank=0):
        return [i for i, v in enumerate(self.values) if v.dtype == torch.float64 and v.dim() >= rank]

    def pick(self, rank=0):
        """A tensor: often the newest, so that programs get deep."""
        ids = self.floats(rank)
        if not ids:
            return self.leaf(self.shape(max(rank, 1)))
        return ids[-1] if self.r.random() < 0.4 else self.r.choice(ids)

    def beside(self, i):
        """A tensor that broadcasts with tensor i."""
        for j in self.r.sample(self.floats(), len(self.floats())):
            try:
                torch.broadcast_shapes(self.values[i].shape, self.values[j].shape)
                return j
            except RuntimeError:
                pass
        return self.leaf([d if self.r.random() < 0.7 else 1 for d in self.values[i].shape])

    def step(self):
        r = self.r
        op = r.choice(self.ops)
        i = self.pick()
        x = self.values[i]
        d = x.dim()
        dim = r.randrange(-d, d) if d else 0
        if d == 0 and op not in UNARY and op not in BINARY and op not in ("add_scalar", "mul_scalar", "detach", "unsqueeze"):
            return
        ids, args = [i], {}
        if op in BINARY:
            ids.append(self.beside(i))
        elif op in ("add_scalar", "mul_scalar"):
            args["c"] = round(r.uniform(-1.5, 1.5), 3)
        elif op in ("sum", "mean", "logsumexp", "norm", "amax"):
            args = {"dim": r.sample(range(d), r.randint(1, d)), "keepdim": op == "sum" and r.random() < 0.5}
        elif op in ("softmax", "log_softmax", "cumsum", "max", "argmax", "argmin"):
            args["dim"] = dim
        elif op == "sort":
            args = {"dim": dim, "descending": r.random() < 0.5}
        elif op == "topk":
            args = {"k": r.randint(1, x.shape[dim]), "dim": dim, "largest": r.random() < 0.5}
        elif op == "reshape":
            shape = list(x.shape)
            r.shuffle(shape)
            if len(shape) > 1 and r.random() < 0.5:
                shape = [shape[0] * shape[1], *shape[2:]]
            args["shape"] = shape
        elif op == "transpose":
            args["dims"] = r.sample(range(d), d)
        elif op == "expand":
            args["shape"] = ([r.choice(SIZES)] if r.random() < 0.5 and d < 4 else []) + [r.choice(SIZES) if n == 1 else n for n in x.shape]
        elif op == "narrow":
            n = x.shape[dim]
            start = r.randrange(n)
            args = {"dim": dim, "start": start, "length": r.randint(1, n - start)}
        elif op == "slice":
            n, dim = x.shape[dim], dim % d
            start = r.randrange(n)
            args = {"dim": dim, "start": start, "end": r.randint(start + 1, n), "step": r.randint(1, 3)}
        elif op == "select":
            args = {"dim": dim, "index": r.randrange(x.shape[dim])}
        elif op == "unsqueeze":
            if d > 3:
                return
            args["dim"] = r.randint(0, d)
        elif op == "flip":
            args["dims"] = r.sample(range(d), r.randint(1, d))
        elif op == "roll":
            dims = r.sample(range(d), r.randint(1, d))
            args = {"shifts": [r.randint(-2, 2) for _ in dims], "dims": dims}
        elif op == "pad":
            args = {"pad": [r.randint(-1 if x.shape[-1] > 2 else 0, 2), r.randint(0, 2)], "mode": "constant", "value": 0.25}
        elif op in ("cat", "stack"):
            same = [j for j in self.floats() if self.values[j].shape == x.shape]
            ids = [r.choice(same) for _ in range(r.randint(1, 3))]
            if op == "stack" and d > 3:
                return
            args["dim"] = r.randint(0, d) if op == "stack" else dim
        elif op == "split":
            args = {"size": r.randint(1, x.shape[dim]), "dim": dim}
        elif op == "matmul":
            if d > 3:
                return
            ids.append(self.leaf([x.shape[-1], r.choice(SIZES)] if r.random() < 0.6 else [x.shape[-1]]))
            if r.random() < 0.3 and d > 1:
                ids = [self.leaf([r.choice(SIZES), x.shape[-2]]), i]
        elif op == "linear":
            n = r.choice(SIZES)
            ids += [self.leaf([n, x.shape[-1]]), self.leaf([n])]
        elif op == "layer_norm":
            if x.shape[-1] < 3:
                return
            ids += [self.leaf([x.shape[-1]]), self.leaf([x.shape[-1]])]
            args["eps"] = 1e-5
        elif op == "where":
            j = self.beside(i)
            ids = [self.beside(i) if torch.broadcast_shapes(x.shape, self.values[j].shape) == x.shape else i, i, j]
        elif op == "gather":
            shape = list(x.shape)
            shape[dim] = r.choice(SIZES)
            ids.append(self.whole(shape, x.shape[dim]))
            args["dim"] = dim
        elif op == "embedding":
            if d != 2:
                return
            ids.append(self.whole(self.shape(r.randint(1, 2)), x.shape[0]))
        elif op == "scaled_dot_product_attention":
            if d < 3 or d > 4:
                return
            same = [j for j in self.floats() if self.values[j].shape == x.shape]
            ids = [i, r.choice(same), r.choice(same)]
        elif op == "tril":
            if d < 2:
                return
            args["diagonal"] = r.randint(-1, 1)
        elif op == "repeat":
            args["repeats"] = ([2] if d < 4 and r.random() < 0.3 else []) + [r.randint(1, 2) for _ in range(d)]
        elif op == "mse_loss":
            same = [j for j in self.floats() if self.values[j].shape == x.shape]
            ids.append(r.choice(same))
            args["reduction"] = r.choice(["none", "mean", "sum"])
        elif op == "max_pool2d":
            if d != 4 or min(x.shape[2:]) < 2:
                return
            args = {"kernel_size": 2, "stride": r.randint(1, 2), "padding": r.randint(0, 1), "dilation": 1, "ceil_mode": False}
        elif op == "conv2d":
            if d != 4 or min(x.shape[2:]) < 2:
                return
            ids.append(self.leaf([r.choice(SIZES), x.shape[1], 2, 2]))
            args = {"stride": [1, r.randint(1, 2)], "padding": [r.randint(0, 1), 0], "dilation": [1, 1], "groups": 1}
        try:
            ys = run(op, args, [self.values[j] for j in ids])
        except (RuntimeError, IndexError):
            return
        if any(y.numel() > 400 or y.numel() == 0 or y.dtype == torch.float64 and not bool((y.detach().abs() < 30).all()) for y in ys):
            return
        tied = tie(op, args, x)
        if tied and op == "topk":  # which of equals it takes, and so which get the gradient, is nobody's promise
            return
        self.steps.append({"op": op, "args": args, "in": ids, "out": list(range(len(self.values), len(self.values) + len(ys)))} | tied)
        self.values += ys


def numbers(x):
    if x._is_zerotensor():
        return [0.0] * x.numel()
    return x.detach().flatten().tolist()


def passes(d):
    """Backward passes from tensors of the program, one after the other, and the gradient of a gradient."""
    r, out = d.r, []
    needing = [i for i, v in enumerate(d.values) if v.requires_grad and v.grad_fn is not None]
    leaves = [i for i, v in enumerate(d.values) if v.requires_grad and v.grad_fn is None and i < d.steps[-1]["out"][0]]
    if not needing:
        return None
    for _ in range(r.randint(1, 3)):
        y = needing[-1] if r.random() < 0.5 else r.choice(needing)
        dy = torch.tensor([r.uniform(-1, 1) for _ in range(d.values[y].numel())], dtype=torch.float64).reshape(d.values[y].shape)
        d.values[y].backward(dy, retain_graph=True)
        out.append({"kind": "backward", "of": y, "dy": numbers(dy)})
    y, x = r.choice(needing), r.choice(needing + leaves)
    dy = torch.tensor([r.uniform(-1, 1) for _ in range(d.values[y].numel())], dtype=torch.float64).reshape(d.values[y].shape)
    g, = torch.autograd.grad([d.values[y]], [d.values[x]], [dy], retain_graph=True, create_graph=True, allow_unused=True)
    if g is not None:
        out.append({"kind": "grad", "of": y, "by": x, "dy": numbers(dy), "want": numbers(g)})
        if g.requires_grad:
            z = (g * g).sum()
            z.backward(retain_graph=True)
            out.append({"kind": "penalty", "of": y, "by": x, "dy": numbers(dy), "want": [z.item()]})
    return out, [{"of": i, "want": None if d.values[i].grad is None else numbers(d.values[i].grad)} for i in leaves]


def program(seed, more=()):
    d = Draw(seed, more)
    if len(d.steps) < 4:
        return None
    found = passes(d)
    if found is None:
        return None
    did, grads = found
    worst = max([0.0] + [abs(v) for g in grads if g["want"] for v in g["want"]])
    if not worst < 1e4:
        return None
    d.inputs = [v for v in d.inputs if v["at"] < len(d.steps)]
    return {"seed": seed, "inputs": d.inputs, "steps": d.steps, "passes": did, "grads": grads,
            "values": {str(i): numbers(d.values[i]) for s in d.steps for i in s["out"]}}


def programs(n, indices):
    """n programs, and some that are drawn for their indices."""
    take = lambda drawn, n: list(itertools.islice((p for p in drawn if p is not None), n))
    return take(map(program, itertools.count()), n) + take((program(seed, INDICES) for seed in itertools.count(10**6)), indices)
