"""What PyTorch does on the same GPU, in the figures of gpubench: one JSON object per line."""
import json
import statistics
import sys
import time

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
    calls = max(1, min(10, int(0.02 / measure(1))))
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


def products():
    for n in (4096, 8192):
        for name, dtype, tf32 in (("fp16", torch.float16, False), ("bf16", torch.bfloat16, False), ("fp32", torch.float32, False), ("tf32", torch.float32, True)):
            torch.backends.cuda.matmul.allow_tf32 = tf32
            x, y = matrix(n, dtype, 1), matrix(n, dtype, 2)
            z = torch.empty_like(x)
            what = f"{name} gemm {n}"
            report(what, 2 * n**3 / device(what, lambda: torch.mm(x, y, out=z)) / 1e12, "TFLOP/s")
    torch.backends.cuda.matmul.allow_tf32 = False


def queueing():
    report("queue a product", host(lambda m=matrix(64, torch.float16, 1): torch.mm(m, m), 300), "ns", "64×64×64, on the host")


def fused():
    x, y, b = matrix(4096, torch.float16, 1), matrix(4096, torch.float16, 2), torch.zeros(4096, dtype=torch.float16, device="cuda")
    linear = torch.nn.functional.linear
    what = "fp16 cublasLt 4096, epilogue bias"
    report(what, 2 * 4096**3 / device(what, lambda: linear(x, y, b)) / 1e12, "TFLOP/s")
    what += " and gelu"
    report(what, 2 * 4096**3 / device(what, lambda: torch.nn.functional.gelu(linear(x, y, b), approximate="tanh")) / 1e12, "TFLOP/s")


def copies():
    n = 1 << 30
    p, q = torch.empty(n, dtype=torch.uint8, device="cuda"), torch.empty(n, dtype=torch.uint8, device="cuda")
    h = torch.empty(256 << 20, dtype=torch.uint8, pin_memory=True)
    d = p[: 256 << 20]
    for what, amount, f in (
        ("copy on the device", 2 * n, lambda: q.copy_(p)),
        ("copy to the device, page-locked", 256 << 20, lambda: d.copy_(h, non_blocking=True)),
        ("copy to the host, page-locked", 256 << 20, lambda: h.copy_(d, non_blocking=True)),
    ):
        report(what, amount / device(what, f) / 1e9, "GB/s")


def calls():
    t = torch.zeros(1, device="cuda")
    report("launch, 3 parameters", host(lambda: t.add_(1), 500), "ns", "500 queued")
    report("launch, sustained", host(lambda: t.add_(1), 20000), "ns", "20 000 queued: as fast as the device takes them")


def main():
    failed = []
    for part in (calls, copies, products, queueing, fused):  # in the order of gpubench: what both have is measured in turn
        try:
            part()
        except Exception as e:  # the other figures are still of use
            print(f"{part.__name__}: {e}", file=sys.stderr)
            failed.append(part.__name__)
    if failed:
        sys.exit("failed: " + ", ".join(failed))


main()
