"""How a case becomes vectors: draws, runs in a dtype and in float64, and the size of the terms behind every number.

A case is a torch call on a few small tensors. Its inputs are drawn at random, rounded to the dtype, and given to torch twice: in the
dtype, and exactly the same numbers in float64. For every element of a result and of a gradient we keep

  f64    the number in float64
  torch  torch's number in the dtype, where its CPU code has that dtype
  scale  sqrt(K) * (|v| + sum_i |dv/dz_i * z_i|), z the inputs (for a gradient also the gradient of the result), K the number of
         z_i that v depends on: what rounding errors of size u in the terms can add up to, if they are independent

The derivatives come from float64 autograd, for gradients from a second differentiation. Some formulas also add terms that cancel and
that no derivative shows, such as the 1 and the y*y of 1 - y*y; RESULT_TERMS and GRADIENT_TERMS give those of the formulas PyTorch uses.
"""

import base64
import math
import zlib

import torch

SEED = 20261120
DTYPES = {"float16": torch.float16, "bfloat16": torch.bfloat16, "float32": torch.float32}
NAMES = {v: k for k, v in DTYPES.items()} | {torch.float64: "float64", torch.int64: "int64", torch.bool: "bool"}


class U:
    """Uniform floats between lo and hi."""

    def __init__(self, lo, hi, *shape, grad=True):
        self.lo, self.hi, self.shape, self.grad = lo, hi, shape, grad

    def draw(self, gen):
        return torch.rand(self.shape, generator=gen, dtype=torch.float64) * (self.hi - self.lo) + self.lo


class D(U):
    """Floats between lo and hi, far enough apart that no two are equal in any dtype (up to 64 of them)."""

    def draw(self, gen):
        n = math.prod(self.shape)
        order = torch.randperm(n, generator=gen).to(torch.float64)
        return ((order + 0.5) / n * (self.hi - self.lo) + self.lo).reshape(self.shape)


class T:
    """Given integers or booleans."""

    grad = False

    def __init__(self, values, dtype=torch.int64):
        self.tensor = torch.tensor(values, dtype=dtype)

    def draw(self, gen):
        return self.tensor


class Case:
    """One call: fn(*inputs, **args). None among the inputs is passed on as None. only restricts the dtypes; exact is the definition, for
    float64, where PyTorch's own float64 is not (constants in float32) or lacks a second derivative."""

    def __init__(self, op, fn, inputs, name="", only=None, exact=None, **args):
        self.op, self.fn, self.inputs, self.name, self.args = op, fn, inputs, name, args
        self.exact = exact or fn
        self.dtypes = only or list(DTYPES)


def raw(t):
    """Little-endian raw bits of a tensor, in base64."""
    t = t.detach().contiguous()
    if t.dtype == torch.bool:
        t = t.to(torch.uint8)
    if t.dtype in (torch.float16, torch.bfloat16):
        t = t.view(torch.int16)
    return base64.b64encode(t.numpy().tobytes()).decode()


def tensor(t):
    return {"shape": list(t.shape), "dtype": NAMES[t.dtype], "bits": raw(t)}


def tuple_of(y):
    return tuple(y) if isinstance(y, (tuple, list)) else (y,)


def scale_of(outs, z, again=None):
    """sqrt(K)·(|v| + Σ|dv/dz·z|) of every element of every tensor of outs; again(z) computes them anew, for differences."""
    result = []
    for k, out in enumerate(outs):
        flat = out.reshape(-1)
        scales = []
        for j in range(flat.numel()):
            grads = derivative(flat, j, z, (lambda zz, k=k: again(zz)[k].reshape(-1)) if again else None)
            total, count = abs(float(flat[j].detach())), 0
            for g, x in zip(grads, z):
                if g is None:
                    continue
                total += float((g * x).abs().sum())
                count += int((g != 0).sum())
            scales.append(math.sqrt(max(count, 1)) * total)
        result.append(torch.tensor(scales, dtype=torch.float64).reshape(out.shape))
    return result


# Added to the scale of a result y of the input x.
RESULT_TERMS = {
    "log_softmax": lambda y, x, dim: (x.amax(dim, keepdim=True) - x) + math.sqrt(x.shape[dim]),  # x - max - log(1 + the others)
    "cross_entropy": lambda y, x, **_: x.amax() - x.amin() + math.sqrt(x.shape[1]),
    "interpolate": lambda y, x, **_: x.abs().amax() * max(x.shape[2:]),  # the coordinates are numbers up to the size
    "grid_sample": lambda y, x, **_: x.abs().amax() * max(x.shape[2:]),
    "tanhshrink": lambda y, x: x.abs() + torch.tanh(x).abs(),  # x - tanh x
    "logsigmoid": lambda y, x: torch.exp(-x.abs()),
    "gelu": lambda y, x, **_: x.abs(),  # x*(1 + erf(x/√2))/2, 1 + tanh
}
# Added to the scale of the gradient of the first input, for the gradient dy of the result y.
GRADIENT_TERMS = {
    "tanh": lambda y, dy: dy.abs() * (1 + y * y),  # 1 - y*y
    "sigmoid": lambda y, dy: dy.abs() * y * (1 + y),  # y*(1 - y)
    "softmax": lambda y, dy, dim: y * (dy.abs() + (dy * y).abs().sum(dim, keepdim=True)),  # y*(dy - sum(dy*y))
    "softmin": lambda y, dy, dim: y * (dy.abs() + (dy * y).abs().sum(dim, keepdim=True)),
    "interpolate": lambda y, dy, **_: dy.abs().amax() * max(dy.shape[2:]),
    "grid_sample": lambda y, dy, **_: dy.abs().amax() * max(dy.shape[2:]),
    "tanhshrink": lambda y, dy: dy.abs(),  # 1 - (1 - tanh*tanh)
    "cross_entropy": lambda y, dy, **_: dy.abs().amax(),  # softmax - target
    "celu": lambda y, dy, **_: dy.abs(),  # y + alpha
    "elu": lambda y, dy, **_: dy.abs(),
    "gelu": lambda y, dy, **_: dy.abs(),  # (1 + erf(x/√2))/2
}

NOT_TWICE = ("not implemented", "not differentiable", "not support", "does not require grad")


def derivative(flat, j, z, again):
    if not flat.requires_grad:
        return [None] * len(z)
    try:
        return torch.autograd.grad(flat[j], z, retain_graph=True, allow_unused=True)
    except RuntimeError as e:
        if again is None or not any(s in str(e) for s in NOT_TWICE):
            raise
    grads = []  # torch has no second derivative here: central differences
    for i in range(len(z)):
        g = torch.zeros_like(z[i]).reshape(-1)
        for m in range(g.numel()):
            h, values = 1e-6, []
            for sign in (1, -1):
                zz = [t.detach().clone() for t in z]
                zz[i].view(-1)[m] += sign * h
                for t in zz:
                    t.requires_grad_()
                values.append(float(again(zz)[j].detach()))
            g[m] = (values[0] - values[1]) / (2 * h)
            if abs(g[m]) < 1e-7:
                g[m] = 0
        grads.append(g.reshape(z[i].shape))
    return grads


def up32(t):
    """float32, rounded up, with 10 bits kept: a scale needs no more and compresses better."""
    bits = t.to(torch.float32).contiguous().view(torch.int32)
    return ((bits >> 13) + 1 << 13).view(torch.float32)


def vector(v64, scale, vt):
    r = {"shape": list(v64.shape), "f64": raw(v64), "scale": raw(up32(scale))}
    if vt is not None:
        r["torch"] = raw(vt)
    return r


def forward(case, tensors, dys):
    """Result and gradients in the dtype of the tensors; (None, None) where torch does not implement it."""
    xs = [t.detach().clone().requires_grad_(t.requires_grad) if t is not None else None for t in tensors]
    try:
        outs = tuple_of(case.fn(*xs, **case.args))
        wanted = [x for x in xs if x is not None and x.requires_grad]
        pairs = [(y, dy) for y, dy in zip(outs, dys) if y.requires_grad]
        if not pairs or not wanted:
            return outs, [None] * len(wanted)
        return outs, torch.autograd.grad([y for y, _ in pairs], wanted, [dy for _, dy in pairs], allow_unused=True)
    except (RuntimeError, NotImplementedError) as e:
        if "not implemented for" in str(e) or "not support" in str(e) or "must have the same dtype" in str(e):
            return None, None
        raise


def autocast_dtypes(case, low):
    """Result dtypes under CPU autocast to bfloat16, for inputs in one dtype and mixed; no entry where torch refuses."""
    floats = [i for i, x in enumerate(low) if x is not None and x.is_floating_point()]
    mixes = [[torch.float32] * len(floats), [torch.bfloat16] * len(floats), [torch.float64] * len(floats)]
    if len(floats) > 1:
        mixes.append([torch.bfloat16] + [torch.float32] * (len(floats) - 1))
    out = []
    for mix in mixes:
        xs = list(low)
        for i, dt in zip(floats, mix):
            xs[i] = low[i].detach().to(dt)
        try:
            with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
                ys = tuple_of(case.fn(*xs, **case.args))
        except (RuntimeError, TypeError):
            continue
        if all(y.dtype in NAMES for y in ys):
            out.append({"in": [NAMES[dt] for dt in mix], "out": [NAMES[y.dtype] for y in ys]})
    return out


def vectors(case, dtype_name):
    dt = DTYPES[dtype_name]
    gen = torch.Generator().manual_seed(SEED ^ zlib.crc32(f"{case.op}/{case.name}/{dtype_name}".encode()))
    drawn = [spec.draw(gen) if spec is not None else None for spec in case.inputs]
    low = [d.to(dt) if d is not None and d.is_floating_point() else d for d in drawn]
    high = [x.to(torch.float64) if x is not None and x.is_floating_point() else x for x in low]
    for spec, a, b in zip(case.inputs, low, high):
        if spec is not None and spec.grad:
            a.requires_grad_()
            b.requires_grad_()

    outs = tuple_of(case.exact(*high, **case.args))
    dys = [torch.rand(y.shape, generator=gen, dtype=torch.float64).mul(2).sub(1).to(dt) if y.is_floating_point() else None for y in outs]
    low_outs, low_grads = forward(case, low, dys)

    z = [x for x in high if x is not None and x.requires_grad]
    float_outs = [y for y in outs if y.is_floating_point()]
    scales = iter(scale_of(float_outs, z))
    record = {"op": case.op, "name": case.name, "dtype": dtype_name, "args": case.args,
              "in": [tensor(x) if x is not None else None for x in low],
              "dy": [tensor(d) if d is not None else None for d in dys], "out": [], "grad": []}
    if dtype_name == "float32" and z:
        record["autocast"] = autocast_dtypes(case, low)
    for k, y in enumerate(outs):
        if not y.is_floating_point():
            record["out"].append(tensor(y))
            continue
        yt = low_outs[k] if low_outs is not None and low_outs[k].dtype == dt else None
        scale = next(scales)
        if case.op in RESULT_TERMS:
            scale = scale + RESULT_TERMS[case.op](y.detach(), z[0].detach(), **case.args)
        record["out"].append(vector(y, scale, yt))

    dys64 = [d.to(torch.float64).requires_grad_() if d is not None else None for d in dys]

    def gradients(zz):
        """Gradients as a function of the inputs and of the gradients of the results."""
        n = len(z)
        it = iter(zz[:n])
        xs = [next(it) if x is not None and x.requires_grad else x for x in high]
        ys = [y for y in tuple_of(case.exact(*xs, **case.args)) if y.is_floating_point()]
        pairs = [(y, dy) for y, dy in zip(ys, zz[n:]) if y.requires_grad]
        wanted = [x for x in xs if x is not None and x.requires_grad]
        if not pairs:
            return [None] * len(wanted)
        return torch.autograd.grad([y for y, _ in pairs], wanted, [dy for _, dy in pairs], create_graph=True, allow_unused=True)

    if z:
        zz = z + [d for d in dys64 if d is not None]
        grads = gradients(zz)
        index = 0
        for spec in case.inputs:
            if spec is None or not spec.grad:
                record["grad"].append(None)
                continue
            g = grads[index]
            if g is None:
                g = torch.zeros_like(z[index])
            gt = low_grads[index] if low_grads is not None else None
            again = lambda q, i=index: [gradients(q)[i]]
            scale = scale_of([g], zz, again)[0]
            if index == 0 and case.op in GRADIENT_TERMS:
                scale = scale + GRADIENT_TERMS[case.op](outs[0].detach(), dys64[0].detach(), **case.args)
            record["grad"].append(vector(g, scale, gt))
            index += 1
    return record
