"""The figures of cudart's TestKernelSpeed for PyTorch, in its order: python3 kernelpeer.py FILE, or - for the standard output.
turns.py is beside it in a bundle, and in the folder turns here (PYTHONPATH)."""
import json
import statistics
import sys
from types import SimpleNamespace

import turns  # first: nothing is loaded while another program measures
import torch
import torch.nn.functional as F

out = sys.stdout if sys.argv[1] == "-" else open(sys.argv[1], "w", buffering=1)  # a line at a time: a run that is cut off keeps those before
dev = "cuda"


def timed(name, unit, amount, f, note):
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)

    def once():
        f()  # not counted: the device is busy with it while the host queues the others, so that none waits for the host
        start.record()
        for _ in range(10):
            f()
        end.record()
        torch.cuda.synchronize()
        return start.elapsed_time(end) / 1e3 / 10

    with torch.no_grad():
        once()
        once()  # these are not counted
        took = statistics.median(turns.rounds(name, once))
    v = took * 1e6 if unit == "us" else amount / took
    print(f"torch {name:36s} {v:10.4g} {unit}", flush=True)
    print(json.dumps({"name": name, "value": v, "unit": unit, "note": note}), file=out, flush=True)


# A part is what makes its tensors, and lines that use them: a name, a unit, an amount, a call, and maybe what makes a remark. All names are
# known before anything is allocated.

N = 100_000_000


def gb(n):
    return n * N / 1e9


def flat():
    a, b, c, d = (torch.full((N,), 0.25 + i / 8, device=dev) for i in range(4))
    h, k, m = (torch.full((N,), 0.25 + i / 8, device=dev, dtype=torch.half) for i in range(3))
    p = torch.nn.Parameter(a)
    p.grad = b
    return SimpleNamespace(a=a, b=b, c=c, d=d, h=h, k=k, m=m, found=torch.zeros(1, device=dev), inv=torch.full((1,), 0.999, device=dev),
                           adam=torch.optim.Adam([p], lr=1e-3, fused=True), sgd=torch.optim.SGD([p], lr=1e-3, momentum=0.9, fused=True))


elementwise = (
    ("copy on the device, 400 MB", "GB/s", gb(8), lambda t: t.d.copy_(t.a)),
    ("add fp32", "GB/s", gb(12), lambda t: torch.add(t.a, t.b, out=t.d)),
    ("mul fp16", "GB/s", gb(6), lambda t: torch.mul(t.h, t.k, out=t.m)),
    ("relu fp16", "GB/s", gb(4), lambda t: torch.clamp_min(t.h, 0, out=t.m)),
    ("gelu fp16", "GB/s", gb(4), lambda t: F.gelu(t.h)),
    ("gelu_tanh fp16", "GB/s", gb(4), lambda t: F.gelu(t.h, approximate="tanh")),
    ("exp fp32", "GB/s", gb(8), lambda t: torch.exp(t.a, out=t.d)),
    ("tanh fp32", "GB/s", gb(8), lambda t: torch.tanh(t.a, out=t.d)),
    ("cast fp32 to fp16", "GB/s", gb(6), lambda t: t.m.copy_(t.a)),
    ("cast fp16 to fp32", "GB/s", gb(6), lambda t: t.d.copy_(t.h)),
    ("sum fp32", "GB/s", gb(4), lambda t: t.a.sum()),
    ("randn fp32", "GB/s", gb(4), lambda t: t.d.normal_()),
    ("rand fp32", "GB/s", gb(4), lambda t: t.d.uniform_()),
    ("unscale and check fp32", "GB/s", gb(8), lambda t: torch._amp_foreach_non_finite_check_and_unscale_([t.d], t.found, t.inv)),
    ("adam fp32", "GB/s", gb(28), lambda t: t.adam.step()),
    ("sgd with momentum fp32", "GB/s", gb(20), lambda t: t.sgd.step()),
)


def lines():
    x, dy = (torch.randn(8192, 4096, device=dev).half() for _ in range(2))
    w, bias = torch.ones(4096, device=dev).half(), torch.zeros(4096, device=dev).half()
    mean, rstd = torch.native_layer_norm(x, (4096,), w, bias, 1e-5)[1:]
    return SimpleNamespace(x=x, dy=dy, w=w, bias=bias, target=torch.arange(8192, device=dev) * 31 % 4096, mean=mean, rstd=rstd)


def cross_entropy(t):
    with torch.autocast("cuda", torch.half):
        return F.cross_entropy(t.x, t.target)


rows = (
    ("softmax fp16 8192×4096", "us", 0, lambda t: torch.softmax(t.x, 1)),
    ("softmax fp16 to fp32", "us", 0, lambda t: torch.softmax(t.x, 1, dtype=torch.float32)),
    ("log_softmax fp16 to fp32", "us", 0, lambda t: torch.log_softmax(t.x, 1, dtype=torch.float32)),
    ("layer_norm fp16 8192×4096", "us", 0, lambda t: F.layer_norm(t.x, (4096,), t.w, t.bias)),
    ("layer_norm backward fp16", "us", 0, lambda t: torch.ops.aten.native_layer_norm_backward(
        t.dy, t.x, (4096,), t.mean, t.rstd, t.w, t.bias, [True, True, True])),
    ("cross_entropy fp16 8192×4096", "us", 0, cross_entropy),
    ("sum of columns fp16", "us", 0, lambda t: t.x.sum(0)),
)


def uniform(*shape):
    return torch.rand(*shape, device=dev).mul_(2).sub_(1)


def product(n, dtype, name):
    def square():
        return SimpleNamespace(a=uniform(n, 1024).to(dtype).repeat(1, n // 1024), y=torch.empty(n, n, device=dev, dtype=dtype))

    def mm(t):
        torch.mm(t.a, t.a, out=t.y)

    flops = 2 * n**3 / 1e12
    some = [(f"cuBLAS gemm {name} {n}", "TFLOP/s", flops, mm)] if dtype != torch.float32 else []
    some.append((f"own gemm {name} {n}", "TFLOP/s", flops, mm))
    if n == 4096:
        some.append((f"own gemm {name} {n} a·bᵀ", "TFLOP/s", flops, lambda t: torch.mm(t.a, t.a.t(), out=t.y)))
        some.append((f"own gemm {name} {n} aᵀ·b", "TFLOP/s", flops, lambda t: torch.mm(t.a.t(), t.a, out=t.y)))
    return square, some


def images():
    return SimpleNamespace(x=uniform(128, 64, 32, 32).half(), dy=uniform(128, 64, 32, 32).half(), w=uniform(64, 64, 3, 3).half())


def back(t, *mask):
    return torch.ops.aten.convolution_backward(t.dy, t.x, t.w, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1, list(mask))


FLOPS = 2 * 128 * 64 * 64 * 9 * 32 * 32 / 1e12
convolutions = [line for who in ("cuDNN ", "") for line in (  # Halftone's through cuDNN, and by its own kernels
    (f"{who}conv2d 64→64 3×3, 128×32×32 fp16", "TFLOP/s", FLOPS, lambda t: F.conv2d(t.x, t.w, padding=1)),
    (f"{who}its gradient of x", "TFLOP/s", FLOPS, lambda t: back(t, True, False, False)),
    (f"{who}its gradient of weight", "TFLOP/s", FLOPS, lambda t: back(t, False, True, False)),
)]


def heads():
    q, k, v = (uniform(8, 12, 1024, 64).half().requires_grad_() for _ in range(3))
    t = SimpleNamespace(q=q, k=k, v=v, dy=uniform(8, 12, 1024, 64).half(), y=F.scaled_dot_product_attention(q, k, v, is_causal=True))
    t.chosen = backend(t)  # for a graph with gradients, as y's
    return t


def backend(t):
    """Whose kernel PyTorch has chosen for attention, which differs by version and device."""
    try:
        from torch.nn.attention import SDPBackend

        return f"by {SDPBackend(torch._fused_sdp_choice(t.q, t.k, t.v, None, 0.0, True)).name}"
    except Exception as e:  # no public function says it
        return f"it is not known by which backend: {e}"


attention = (
    ("attention 8×12×1024×64 causal fp16", "us", 0, lambda t: F.scaled_dot_product_attention(t.q, t.k, t.v, is_causal=True), backend),
    ("attention backward", "us", 0, lambda t: torch.autograd.grad(t.y, (t.q, t.k, t.v), t.dy, retain_graph=True), lambda t: t.chosen),
)

parts = [(flat, elementwise), (lines, rows)]
parts += [product(n, dtype, name) for n in (4096, 8192)
          for dtype, name in ((torch.half, "float16"), (torch.bfloat16, "bfloat16"), (torch.float32, "float32")) if name != "float32" or n == 4096]
parts += [(images, convolutions), (heads, attention)]


def measure(tensors, some):
    """Measures the lines of a part, and returns what went wrong. What it allocates it gives back."""
    failed = []
    try:
        t = tensors()
    except Exception as e:  # the other parts are still of use
        turns.unless_lost(some[0][0], e)
        return [f"{line[0]}: {e}" for line in some]
    for name, unit, amount, f, *remark in some:
        try:
            with torch.no_grad():
                note = remark[0](t) if remark else ""
            timed(name, unit, amount, lambda: f(t), note)
        except Exception as e:
            turns.unless_lost(name, e)
            failed.append(f"{name}: {e}")
    del t
    torch.cuda.empty_cache()
    return failed


wanted = turns.has(name for _, some in parts for name, *_ in some)
parts = [(tensors, [line for line in some if line[0] in wanted]) for tensors, some in parts]
failed = [f for tensors, some in parts if some for f in measure(tensors, some)]
if failed:
    sys.exit("not timed: " + "; ".join(failed))
