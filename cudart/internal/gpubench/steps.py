"""The training steps of steps.go in PyTorch, eager and as CUDA graphs, with its defaults, and eager with more than these: one JSON object per line.

Defaults are images with channels before places, torch.backends.cudnn.benchmark off and optimizers that are not fused. Tuned is with both of the
latter, and for ResNet with channels last where a few steps are faster so."""
import json
import statistics
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F


# Models take what an optimizer is made with, and the order in which images lie in memory.


def mlp(layout, **how):
    net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 1)).cuda()
    x, y = torch.randn(32, 8, device="cuda"), torch.randn(32, 1, device="cuda")
    return net, torch.optim.SGD(net.parameters(), lr=0.001, **how), lambda: F.mse_loss(net(x), y)


class Block(nn.Module):
    """A residual block of ResNet-18 as it is for 32×32 images."""

    def __init__(self, cin, cout, stride):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(cin, cout, 3, stride, 1, bias=False), nn.BatchNorm2d(cout)
        self.conv2, self.bn2 = nn.Conv2d(cout, cout, 3, 1, 1, bias=False), nn.BatchNorm2d(cout)
        self.down = None
        if stride != 1 or cin != cout:
            self.down = nn.Sequential(nn.Conv2d(cin, cout, 1, stride, bias=False), nn.BatchNorm2d(cout))

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(y + (x if self.down is None else self.down(x)))


def resnet(layout, **how):
    layers, cin = [nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64), nn.ReLU()], 64
    for cout, stride in ((64, 1), (64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1)):
        layers.append(Block(cin, cout, stride))
        cin = cout
    net = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10)).cuda().to(memory_format=layout)
    x, y = torch.randn(128, 3, 32, 32, device="cuda").to(memory_format=layout), torch.randint(0, 10, (128,), device="cuda")
    return net, torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9, **how), lambda: F.cross_entropy(net(x), y)


class Attention(nn.Module):
    def __init__(self, n, heads):
        super().__init__()
        self.heads, self.qkv, self.out = heads, nn.Linear(n, 3 * n), nn.Linear(n, n)

    def forward(self, x):
        b, t, n = x.shape
        q, k, v = (h.view(b, t, self.heads, n // self.heads).transpose(1, 2) for h in self.qkv(x).split(n, dim=2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(b, t, n))


class GPT(nn.Module):
    def __init__(self, vocabulary, context, n, layers, heads):
        super().__init__()
        self.tok, self.pos = nn.Embedding(vocabulary, n), nn.Embedding(context, n)
        self.blocks = nn.ModuleList(
            nn.ModuleList([nn.LayerNorm(n), Attention(n, heads), nn.LayerNorm(n), nn.Sequential(nn.Linear(n, 4 * n), nn.GELU(), nn.Linear(4 * n, n))])
            for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(n), nn.Linear(n, vocabulary, bias=False)

    def forward(self, x):
        h = self.tok(x) + self.pos(torch.arange(x.shape[1], device=x.device))
        for norm1, attention, norm2, hidden in self.blocks:
            h = h + attention(norm1(h))
            h = h + hidden(norm2(h))
        return self.head(self.norm(h))


def gpt(layout, **how):
    net = GPT(256, 1024, 768, 12, 12).cuda()
    x, y = torch.randint(0, 256, (8, 1024), device="cuda"), torch.randint(0, 256, (8, 1024), device="cuda")
    return net, torch.optim.AdamW(net.parameters(), lr=1e-4, **how), lambda: F.cross_entropy(net(x).flatten(0, 1), y.flatten())


def timed(model, n, captured=False, counted=5):
    """The median of rounds of n steps, and a remark."""
    net, opt, loss = model
    scaler = torch.amp.GradScaler(init_scale=1024.0)

    def step():
        opt.zero_grad(set_to_none=True)
        with torch.autocast("cuda", torch.float16):
            l = loss()
        scaler.scale(l).backward()
        scaler.step(opt)
        scaler.update()

    torch.cuda.reset_peak_memory_stats()
    run = step
    if captured:  # torch.amp.GradScaler waits for the device in step: only forward and backward can be captured
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                step()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        opt.zero_grad(set_to_none=True)
        with torch.cuda.graph(graph):
            with torch.autocast("cuda", torch.float16):
                l = loss()
            scaler.scale(l).backward()

        def run():
            graph.replay()
            scaler.step(opt)
            scaler.update()

    for _ in range(max(3, n // 10)):
        run()
    torch.cuda.synchronize()
    rounds = []
    for _ in range(counted):
        t = time.perf_counter()
        for _ in range(n):
            run()
        torch.cuda.synchronize()
        rounds.append((time.perf_counter() - t) / n)
    return statistics.median(rounds), f"{min(rounds) * 1e6:.1f} to {max(rounds) * 1e6:.1f} µs; peak {torch.cuda.max_memory_allocated() / 2**20:.1f} MiB"


def tuned(build, n):
    """The same with what PyTorch has for it beside its defaults."""
    torch.backends.cudnn.benchmark = True
    try:
        layout, note = torch.contiguous_format, "cudnn.benchmark, fused optimizer"
        if build is resnet:
            few = {kind: timed(build(kind, fused=True), 5, counted=2)[0] for kind in (torch.contiguous_format, torch.channels_last)}
            layout = min(few, key=few.get)
            note += ", channels last" if layout == torch.channels_last else ", not channels last, which is slower"
        s, spread = timed(build(layout, fused=True), n, counted=3)
        return s, f"{note}; {spread}"
    finally:
        torch.backends.cudnn.benchmark = False


def main():
    wanted, failed = sys.argv[1] if len(sys.argv) > 1 else "", []
    for name, build, n in (("MLP 8-16-16-1 batch 32", mlp, 300), ("ResNet-18 32×32 batch 128", resnet, 30), ("GPT 12×768 8×1024 tokens", gpt, 10)):
        if wanted not in name:
            continue
        for kind, time_it in (
            ("eager", lambda: timed(build(torch.contiguous_format), n)),
            ("captured", lambda: timed(build(torch.contiguous_format), n, captured=True)),
            ("eager, tuned", lambda: tuned(build, n)),
        ):
            try:
                s, note = time_it()
            except Exception as e:  # the other figures are still of use
                print(f"{name}, {kind}: {e}", file=sys.stderr)
                failed.append(f"{name}, {kind}")
                continue
            print(json.dumps({"name": f"{name} step, {kind}", "value": s * 1e6, "unit": "µs", "note": note}, ensure_ascii=False), flush=True)
    if failed:
        sys.exit("not timed: " + "; ".join(failed))


main()
