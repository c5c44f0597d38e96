"""The figures of cudart's TestKernelSpeed for PyTorch, in its order: python3 kernelpeer.py FILE, or - for the standard output.
turns.py is beside it in a bundle, and in the folder turns here (PYTHONPATH)."""
import json
import statistics
import sys

import turns  # first: nothing is loaded while another program measures
import torch
import torch.nn.functional as F

out = sys.stdout if sys.argv[1] == "-" else open(sys.argv[1], "w", buffering=1)  # a line at a time: a run that is cut off keeps those before
dev = "cuda"
failed = []


def measure(name, unit, amount, f):
    try:
        timed(name, unit, amount, f)
    except Exception as e:  # the other figures are still of use
        print(f"{name}: {e}", file=sys.stderr)
        failed.append(name)


def timed(name, unit, amount, f):
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)

    def once():
        f()
        torch.cuda.synchronize()
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
    print(json.dumps({"name": name, "value": v, "unit": unit}), file=out, flush=True)


n = 100_000_000
a, b, c, d = (torch.full((n,), 0.25 + i / 8, device=dev) for i in range(4))
h, k, m = (torch.full((n,), 0.25 + i / 8, device=dev, dtype=torch.half) for i in range(3))
gb = lambda x: x * n / 1e9
measure("copy on the device", "GB/s", gb(8), lambda: d.copy_(a))
measure("add fp32", "GB/s", gb(12), lambda: torch.add(a, b, out=d))
measure("mul fp16", "GB/s", gb(6), lambda: torch.mul(h, k, out=m))
measure("relu fp16", "GB/s", gb(4), lambda: torch.clamp_min(h, 0, out=m))
measure("gelu fp16", "GB/s", gb(4), lambda: F.gelu(h))
measure("gelu_tanh fp16", "GB/s", gb(4), lambda: F.gelu(h, approximate="tanh"))
measure("exp fp32", "GB/s", gb(8), lambda: torch.exp(a, out=d))
measure("tanh fp32", "GB/s", gb(8), lambda: torch.tanh(a, out=d))
measure("cast fp32 to fp16", "GB/s", gb(6), lambda: m.copy_(a))
measure("cast fp16 to fp32", "GB/s", gb(6), lambda: d.copy_(h))
measure("sum fp32", "GB/s", gb(4), lambda: a.sum())
measure("randn fp32", "GB/s", gb(4), lambda: d.normal_())
measure("rand fp32", "GB/s", gb(4), lambda: d.uniform_())
found, inv = torch.zeros(1, device=dev), torch.full((1,), 0.999, device=dev)
measure("unscale and check fp32", "GB/s", gb(8), lambda: torch._amp_foreach_non_finite_check_and_unscale_([d], found, inv))
p = torch.nn.Parameter(a)
p.grad = b
adam = torch.optim.Adam([p], lr=1e-3, fused=True)
measure("adam fp32", "GB/s", gb(28), adam.step)
sgd = torch.optim.SGD([p], lr=1e-3, momentum=0.9, fused=True)
measure("sgd with momentum fp32", "GB/s", gb(20), sgd.step)
del a, b, c, d, h, k, m, p, adam, sgd
torch.cuda.empty_cache()

x = torch.randn(8192, 4096, device=dev).half()
y = torch.empty_like(x)
w, bias = torch.ones(4096, device=dev).half(), torch.zeros(4096, device=dev).half()
t = torch.arange(8192, device=dev) * 31 % 4096
measure("softmax fp16 8192×4096", "us", 0, lambda: torch.softmax(x, 1))
measure("softmax fp16 to fp32", "us", 0, lambda: torch.softmax(x, 1, dtype=torch.float32))
measure("log_softmax fp16 to fp32", "us", 0, lambda: torch.log_softmax(x, 1, dtype=torch.float32))
measure("layer_norm fp16 8192×4096", "us", 0, lambda: F.layer_norm(x, (4096,), w, bias))
mean, rstd = torch.native_layer_norm(x, (4096,), w, bias, 1e-5)[1:]
measure("layer_norm backward fp16", "us", 0, lambda: torch.ops.aten.native_layer_norm_backward(y, x, (4096,), mean, rstd, w, bias, [True, True, True]))
with torch.autocast("cuda", torch.half):
    measure("cross_entropy fp16 8192×4096", "us", 0, lambda: F.cross_entropy(x, t))
measure("sum of columns fp16", "us", 0, lambda: x.sum(0))

for n in (4096, 8192):
    for dt, name in ((torch.half, "float16"), (torch.bfloat16, "bfloat16"), (torch.float32, "float32")):
        if dt == torch.float32 and n > 4096:
            continue
        a = torch.rand(n, 1024, device=dev).mul_(2).sub_(1).to(dt).repeat(1, n // 1024)
        y = torch.empty(n, n, device=dev, dtype=dt)
        flops = 2 * n**3 / 1e12
        if dt != torch.float32:
            measure(f"cuBLAS gemm {name} {n}", "TFLOP/s", flops, lambda: torch.mm(a, a, out=y))
        measure(f"own gemm {name} {n}", "TFLOP/s", flops, lambda: torch.mm(a, a, out=y))
        if n == 4096:
            measure(f"own gemm {name} {n} a·bᵀ", "TFLOP/s", flops, lambda: torch.mm(a, a.t(), out=y))
            measure(f"own gemm {name} {n} aᵀ·b", "TFLOP/s", flops, lambda: torch.mm(a.t(), a, out=y))

x = torch.rand(128, 64, 32, 32, device=dev).half()
w = torch.rand(64, 64, 3, 3, device=dev).half()
y = F.conv2d(x, w, padding=1)
flops = 2 * 128 * 64 * 64 * 9 * 32 * 32 / 1e12
back = lambda mask: torch.ops.aten.convolution_backward(y, x, w, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1, mask)
for who in ["cuDNN ", ""]:  # Halftone's through cuDNN, and by its own kernels
    measure(f"{who}conv2d 64→64 3×3, 128×32×32 fp16", "TFLOP/s", flops, lambda: F.conv2d(x, w, padding=1))
    measure(f"{who}its gradient of x", "TFLOP/s", flops, lambda: back([True, False, False]))
    measure(f"{who}its gradient of weight", "TFLOP/s", flops, lambda: back([False, True, False]))
q = torch.rand(8, 12, 1024, 64, device=dev).half()
measure("attention 8×12×1024×64 causal fp16", "us", 0, lambda: F.scaled_dot_product_attention(q, q, q, is_causal=True))
q, k, v = (torch.rand(8, 12, 1024, 64, device=dev).half().requires_grad_() for _ in range(3))
y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
dy = torch.ones_like(y)
measure("attention backward", "us", 0, lambda: torch.autograd.grad(y, (q, k, v), dy, retain_graph=True))
if failed:
    sys.exit("not timed: " + "; ".join(failed))
