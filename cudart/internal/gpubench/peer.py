"""What PyTorch does on the same GPU, in the figures of gpubench: one JSON object per line."""
import json
import statistics
import sys
import time

import torch


def report(name, value, unit, note=""):
    print(json.dumps({"name": name, "value": value, "unit": unit, "note": note}), flush=True)


def device(f, n=15):
    """Seconds on the device: the median of n, after 3 that are not counted."""
    a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    times = []
    for _ in range(n + 3):
        a.record()
        f()
        b.record()
        b.synchronize()
        times.append(a.elapsed_time(b) / 1e3)
    return statistics.median(times[3:])


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
            s = device(lambda: torch.mm(x, y, out=z))
            report(f"{name} gemm {n}", 2 * n**3 / s / 1e12, "TFLOP/s")
    torch.backends.cuda.matmul.allow_tf32 = False


def fused():
    x, y, b = matrix(4096, torch.float16, 1), matrix(4096, torch.float16, 2), torch.zeros(4096, dtype=torch.float16, device="cuda")
    linear = torch.nn.functional.linear
    report("fp16 cublasLt 4096, epilogue bias", 2 * 4096**3 / device(lambda: linear(x, y, b)) / 1e12, "TFLOP/s")
    report("fp16 cublasLt 4096, epilogue bias and gelu", 2 * 4096**3 / device(lambda: torch.nn.functional.gelu(linear(x, y, b), approximate="tanh")) / 1e12, "TFLOP/s")


def copies():
    n = 1 << 30
    p, q = torch.empty(n, dtype=torch.uint8, device="cuda"), torch.empty(n, dtype=torch.uint8, device="cuda")
    report("copy on the device", 2 * n / device(lambda: q.copy_(p), 10) / 1e9, "GB/s")
    h = torch.empty(256 << 20, dtype=torch.uint8, pin_memory=True)
    d = p[: 256 << 20]
    report("copy to the device, page-locked", (256 << 20) / device(lambda: d.copy_(h, non_blocking=True), 5) / 1e9, "GB/s")
    report("copy to the host, page-locked", (256 << 20) / device(lambda: h.copy_(d, non_blocking=True), 5) / 1e9, "GB/s")


def calls():
    t = torch.zeros(1, device="cuda")
    report("launch, 3 parameters", host(lambda: t.add_(1), 500), "ns", "500 queued")
    report("launch, sustained", host(lambda: t.add_(1), 20000), "ns", "20 000 queued: as fast as the device takes them")
    report("queue a product", host(lambda m=matrix(64, torch.float16, 1): torch.mm(m, m), 300), "ns", "64×64×64, on the host")


def main():
    failed = []
    for part in (products, fused, copies, calls):
        try:
            part()
        except Exception as e:  # the other figures are still of use
            print(f"{part.__name__}: {e}", file=sys.stderr)
            failed.append(part.__name__)
    if failed:
        sys.exit("failed: " + ", ".join(failed))


main()
