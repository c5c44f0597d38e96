"""What PyTorch does on the same GPU, in the figures of gpubench: one JSON object per line."""
import json
import statistics
import sys
import time
from types import SimpleNamespace

import turns  # first: nothing is loaded while another program measures
import torch


def report(name, value, unit, note=""):
    print(json.dumps({"name": name, "value": value, "unit": unit, "note": note}), flush=True)


def device(name, f):
    """Seconds on the device of one call: the median of rounds, in turn with Halftone's. A round takes some 20 ms, after a call that is not counted."""
    a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)

    def measure(calls):
        f()
        a.record()
        for _ in range(calls):
            f()
        b.record()
        b.synchronize()
        return a.elapsed_time(b) / 1e3 / calls

    measure(1)
    calls = max(1, min(10, int(0.02 / max(measure(1), 1e-6))))
    return statistics.median(turns.rounds(name, lambda: measure(calls)))


def host(f, n):
    """Nanoseconds of one call on the host: the median of five rounds."""
    rounds = []
    for _ in range(5):
        t = time.perf_counter_ns()
        for _ in range(n):
            f()
        rounds.append((time.perf_counter_ns() - t) / n)
        torch.cuda.synchronize()
    return statistics.median(rounds)


def matrix(n, dtype, seed):
    g = torch.Generator(device="cuda").manual_seed(seed)
    return (torch.randint(-63, 64, (n, n), generator=g, device="cuda").float() / 64).to(dtype)


def calls():
    t = torch.zeros(1, device="cuda")
    report("launch, 3 parameters", host(lambda: t.add_(1), 500), "ns", "500 queued")
    report("launch, sustained", host(lambda: t.add_(1), 20000), "ns", "20 000 queued: as fast as the device takes them")


def queueing():
    report("queue a product", host(lambda m=matrix(64, torch.float16, 1): torch.mm(m, m), 300), "ns", "64×64×64, on the host")


# What is measured on the device: what makes the tensors, and lines that use them, each a name, a unit, an amount in it by second, and a call.
# All names are known before anything is allocated.


def buffers():
    t = SimpleNamespace(p=torch.empty(GB, dtype=torch.uint8, device="cuda"), q=torch.empty(GB, dtype=torch.uint8, device="cuda"),
                        h=torch.empty(256 << 20, dtype=torch.uint8, pin_memory=True))
    t.d = t.p[: 256 << 20]
    return t


GB = 1 << 30
copies = (
    ("copy on the device, 1 GB", "GB/s", 2 * GB / 1e9, lambda t: t.q.copy_(t.p)),
    ("copy to the device, page-locked", "GB/s", (256 << 20) / 1e9, lambda t: t.d.copy_(t.h, non_blocking=True)),
    ("copy to the host, page-locked", "GB/s", (256 << 20) / 1e9, lambda t: t.h.copy_(t.d, non_blocking=True)),
)


def product(n, name, dtype, tf32):
    def matrices():
        torch.backends.cuda.matmul.allow_tf32 = tf32
        x = matrix(n, dtype, 1)
        return SimpleNamespace(x=x, y=matrix(n, dtype, 2), z=torch.empty_like(x))

    return matrices, [(f"{name} gemm {n}", "TFLOP/s", 2 * n**3 / 1e12, lambda t: torch.mm(t.x, t.y, out=t.z))]


def layer():
    return SimpleNamespace(x=matrix(4096, torch.float16, 1), y=matrix(4096, torch.float16, 2), b=torch.zeros(4096, dtype=torch.float16, device="cuda"))


def linear(t):
    return torch.nn.functional.linear(t.x, t.y, t.b)


fused = (
    ("fp16 cublasLt 4096, epilogue bias", "TFLOP/s", 2 * 4096**3 / 1e12, linear),
    ("fp16 cublasLt 4096, epilogue bias and gelu", "TFLOP/s", 2 * 4096**3 / 1e12, lambda t: torch.nn.functional.gelu(linear(t), approximate="tanh")),
)

# In the order of gpubench: what both have is measured in turn.
KINDS = (("fp16", torch.float16, False), ("bf16", torch.bfloat16, False), ("fp32", torch.float32, False), ("tf32", torch.float32, True))
parts = [(calls, ()), (buffers, copies), *(product(n, *kind) for n in (4096, 8192) for kind in KINDS), (queueing, ()), (layer, fused)]


def measure(tensors, lines):
    """Measures the lines of a part; one without lines measures itself. Returns what went wrong."""
    failed = []
    try:
        t = tensors()
    except Exception as e:  # the other figures are still of use
        turns.unless_lost(tensors.__name__, e)
        return [f"{tensors.__name__}: {e}"]
    for name, unit, amount, f in lines:
        try:
            report(name, amount / device(name, lambda: f(t)), unit)
        except Exception as e:
            turns.unless_lost(name, e)
            failed.append(f"{name}: {e}")
    return failed


def main():
    wanted = turns.has(name for _, lines in parts for name, *_ in lines)
    left = [(tensors, [line for line in lines if line[0] in wanted]) for tensors, lines in parts]
    failed = [f for (tensors, some), (_, lines) in zip(left, parts) if some or not lines for f in measure(tensors, some)]
    if failed:
        sys.exit("failed: " + "; ".join(failed))


main()
