"""Times one peer of the CPU backend for package bench: torch, numpy (the OpenBLAS it is packaged with) or a C loop.

Reads names of cases, one a line, and answers each with the median and the fastest time of one call in nanoseconds, as worker does.
The first argument is the peer, the second the threads, the third the milliseconds a case may take, the fourth the C library.
"""

import json
import sys
import time

PEER, THREADS, BUDGET = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]) / 1e3


def numbers(parts):
    return [int(p) for p in parts if p.isdigit()]


def with_numpy():
    import numpy as np

    def build(parts):
        if parts[0] != "gemm" or parts[1] not in ("f32", "f64"):
            return None
        size = numbers(parts[2:])
        m, n, k = size if len(size) == 3 else size * 3
        rng = np.random.default_rng(1)
        dtype = {"f32": np.float32, "f64": np.float64}[parts[1]]
        a, b, out = rng.standard_normal((m, k)).astype(dtype), rng.standard_normal((k, n)).astype(dtype), np.empty((m, n), dtype)
        if parts[-1] == "nt":
            b = np.ascontiguousarray(b.T).T
        return lambda: np.matmul(a, b, out=out)

    return build, "numpy " + np.__version__


def with_c():
    import ctypes

    lib = ctypes.CDLL(sys.argv[4])
    lib.filled.restype = ctypes.c_void_p
    lib.filled.argtypes = [ctypes.c_long]

    def build(parts):
        if parts[0] != "cast":
            return None
        n = int(parts[3])
        f = getattr(lib, parts[1] + "_" + parts[2])
        f.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_long, ctypes.c_int]
        src, dst = ctypes.c_void_p(lib.filled(4 * n)), ctypes.c_void_p(lib.filled(4 * n))
        return lambda: f(dst, src, n, THREADS)

    return build, "C loop"


def with_torch():
    import torch
    import torch.nn.functional as F

    torch.set_num_threads(THREADS)
    torch.manual_seed(1)
    dtypes = {"f32": torch.float32, "f64": torch.float64, "f16": torch.float16, "bf16": torch.bfloat16}

    def build(parts):
        kind = parts[0]
        randn = lambda dt, *shape: torch.randn(*shape).to(dtypes[dt])
        if kind == "gemm":
            size = numbers(parts[2:])
            m, n, k = size if len(size) == 3 else size * 3
            a, b = randn(parts[1], m, k), randn(parts[1], k, n)
            if parts[-1] == "nt":
                b = b.t().contiguous().t()
            return lambda: torch.mm(a, b)
        if kind == "cast":
            x, to = randn(parts[1], int(parts[3])), dtypes[parts[2]]
            return lambda: x.to(to)
        if kind in ("conv", "pointwise", "depthwise"):
            c, size, batch = numbers(parts[3:])
            shape = {"conv": (c, c, 3, 3), "pointwise": (c, c, 1, 1), "depthwise": (c, 1, 3, 3)}[kind]
            pad, groups = int(kind != "pointwise"), c if kind == "depthwise" else 1
            x, w = randn(parts[1], batch, c, size, size), randn(parts[1], *shape)
            if parts[2] == "fwd":
                def forward():
                    with torch.no_grad():
                        F.conv2d(x, w, padding=pad, groups=groups)
                return forward
            x.requires_grad_()
            w.requires_grad_()
            dy = randn(parts[1], batch, c, size, size)

            def both():
                x.grad = w.grad = None
                F.conv2d(x, w, padding=pad, groups=groups).backward(dy)
            return both
        if kind in ("softmax", "layer_norm", "gelu", "cross_entropy", "batch_norm"):
            shape = (4096, 1024)
            if len(parts) > 3:
                c, size, batch = numbers(parts[3:])
                shape = (batch, c, size, size)
            x, w, b, dy = randn(parts[1], *shape), randn(parts[1], shape[1]), randn(parts[1], shape[1]), randn(parts[1], *shape)
            target = torch.randint(0, shape[1], shape[:1])
            mean, var = torch.zeros(shape[1]).to(x.dtype), torch.ones(shape[1]).to(x.dtype)
            op = {
                "softmax": lambda: F.softmax(x, -1), "layer_norm": lambda: F.layer_norm(x, (1024,), w, b),
                "gelu": lambda: F.gelu(x), "cross_entropy": lambda: F.cross_entropy(x, target),
                "batch_norm": lambda: F.batch_norm(x, mean, var, w, b, True),
            }[kind]
            if parts[2] == "fwd":
                def forward():
                    with torch.no_grad():
                        op()
                return forward
            for t in (x, w, b):
                t.requires_grad_()

            def both():
                x.grad = w.grad = b.grad = None
                y = op()
                y.backward() if kind == "cross_entropy" else y.backward(dy)
            return both
        if kind in ("mlp", "resnet18", "gpt"):
            return step(torch, F, kind, dtypes[parts[1]])
        if kind == "ops":
            return single(torch, F, parts[1], dtypes[parts[2]], parts[3] == "step")
        return other(torch, F, parts, randn)

    return build, "PyTorch " + torch.__version__


def other(torch, F, parts, randn):
    """The ops of othercases.go."""
    kind, params = parts[0], []
    if kind == "op":
        if parts[1] == "decisions":
            return None
        x = torch.ones(1, requires_grad=parts[1] == "tape")

        def hundred():
            for _ in range(100):
                torch.relu(x)
        hundred.calls = 100
        return hundred
    if kind in ("sgd", "adamw", "unscale"):
        x = torch.randn(4096, 1024, requires_grad=True)
        x.grad = torch.randn(4096, 1024)
        if kind == "adamw":
            return torch.optim.AdamW([x], lr=1e-6, fused=True).step
        if kind == "sgd":
            return torch.optim.SGD([x], lr=1e-6, fused=True).step
        found, inv = torch.zeros(1), torch.tensor(2.0)

        def unscale():
            inv.reciprocal_()
            torch._amp_foreach_non_finite_check_and_unscale_([x.grad], found, inv)
            found.item()
        return unscale
    if kind == "attention":
        params = q, k, v = [randn(parts[1], 2, 8, 1024, 64) for _ in range(3)]
        op = lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True)
    elif kind in ("max_pool", "avg_pool"):
        params, pool = [torch.randn(32, 64, 32, 32)], F.max_pool2d if kind == "max_pool" else F.avg_pool2d
        op = lambda: pool(params[0], 2)
    elif kind in ("sum", "sum_rows", "sum_columns", "argmax"):
        x = torch.randn(4096, 1024)
        op = {"sum": x.sum, "sum_rows": lambda: x.sum(1), "sum_columns": lambda: x.sum(0), "argmax": lambda: x.argmax(1)}[kind]
    elif kind == "randn":
        op = lambda: torch.randn(4096, 1024)
    elif kind == "dropout":
        params = [torch.randn(4096, 1024)]
        op = lambda: F.dropout(params[0], 0.1)
    elif kind == "embedding":
        params, index = [torch.randn(8192, 256)], torch.randint(0, 8192, (4096,))
        op = lambda: F.embedding(index, params[0])
    elif kind == "transpose":
        x = torch.randn(2048, 2048)
        op = lambda: x.t().contiguous()
    elif kind == "cat":
        x, y = torch.randn(4096, 512), torch.randn(4096, 512)
        op = lambda: torch.cat([x, y], 1)
    else:
        return None
    return passes(torch, op, params, parts[-1] == "step")


def passes(torch, op, params, backward):
    """One op without a tape, or with one and then backward."""
    if not backward:
        def forward():
            with torch.no_grad():
                op()
        return forward
    for t in params:
        t.requires_grad_()
    y = op()
    dy = torch.randn_like(y) if y.dim() else None

    def both():
        for t in params:
            t.grad = None
        op().backward(dy)
    return both


def single(torch, F, name, dtype, backward):
    """The cases of opcases.go, as worker/ops.go has them."""
    if name in ("clip_grad", "adam", "sgd_momentum", "adam_many", "sgd_many", "clip_many", "unscale_many"):
        return updates(torch, name, dtype)
    rows, columns = 4096, 1024
    randn = lambda *shape: torch.randn(*shape).to(dtype)
    uniform = lambda *shape: (torch.rand(*shape) * 0.998 + 0.001).to(dtype)
    one = {
        "relu": F.relu, "silu": F.silu, "sigmoid": torch.sigmoid, "tanh": torch.tanh, "softplus": F.softplus, "mish": F.mish,
        "hardswish": F.hardswish, "leaky_relu": F.leaky_relu, "elu": F.elu, "exp": torch.exp, "sin": torch.sin, "abs": torch.abs,
        "square": torch.square, "clamp": lambda x: x.clamp(-1, 1), "add_scalar": lambda x: x + 2, "sum": torch.sum, "mean": torch.mean,
        "mean_rows": lambda x: x.mean(1), "mean_columns": lambda x: x.mean(0), "var_rows": lambda x: x.var(1), "std_columns": lambda x: x.std(0),
        "norm": torch.linalg.vector_norm, "max_rows": lambda x: x.max(1)[0], "amax_columns": lambda x: x.amax(0),
        "logsumexp": lambda x: x.logsumexp(1), "cumsum": lambda x: x.cumsum(1), "prod_rows": lambda x: x.prod(1),
        "sort": lambda x: x.sort(1)[0], "argsort": lambda x: x.argsort(1), "topk": lambda x: x.topk(5, 1)[0],
        "topk_many": lambda x: x.topk(100, 1)[0], "median": lambda x: x.median(1)[0], "tril": torch.tril,
        "transpose": lambda x: x.t().contiguous(), "cast_transposed": lambda x: x.t().to(torch.bfloat16, memory_format=torch.contiguous_format),
        "split": lambda x: x.split(columns // 4, 1)[1].contiguous(), "pad": lambda x: F.pad(x, (1, 1, 1, 1)), "flip": lambda x: x.flip(1),
        "roll": lambda x: x.roll(3, 1), "repeat": lambda x: x.repeat(2, 1), "softmax": lambda x: F.softmax(x, -1),
        "log_softmax": lambda x: F.log_softmax(x, -1), "gelu": F.gelu, "dropout": lambda x: F.dropout(x, 0.1),
    }
    positive = {"log": torch.log, "sqrt": torch.sqrt, "rsqrt": torch.rsqrt, "pow": lambda x: x ** 1.5}
    images = {
        "mean_images": lambda x: x.mean((0, 2, 3)), "nhwc": lambda x: x.permute(0, 2, 3, 1).contiguous(),
        "nearest": lambda x: F.interpolate(x, scale_factor=2), "bilinear": lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"),
        "global_pool": lambda x: F.adaptive_avg_pool2d(x, 1), "max_pool": lambda x: F.max_pool2d(x, 2), "avg_pool": lambda x: F.avg_pool2d(x, 2),
        "max_pool_3x3": lambda x: F.max_pool2d(x, 3, 2, 1), "avg_pool_3x3": lambda x: F.avg_pool2d(x, 3, 2, 1),
    }
    two = {
        "add": torch.add, "mul": torch.mul, "div": torch.div, "maximum": torch.maximum, "gt": torch.gt, "add_bias": torch.add, "mul_column": torch.mul,
        "cat": lambda a, b: torch.cat([a, b], 1), "cat_rows": lambda a, b: torch.cat([a, b]), "stack": lambda a, b: torch.stack([a, b], 1),
        "mse": F.mse_loss, "l1": F.l1_loss, "smooth_l1": F.smooth_l1_loss,
    }
    if name in one or name in positive or name in images:
        x = randn(32, 64, 32, 32) if name in images else uniform(rows, columns) if name in positive else randn(rows, columns)
        f = one.get(name) or positive.get(name) or images[name]
        op, params = lambda: f(x), [x]
    elif name in two:
        x, y = randn(rows, columns), randn(*{"add_bias": (columns,), "mul_column": (rows, 1)}.get(name, (rows, columns)))
        op, params = lambda: two[name](x, y), [x] if name in ("mse", "l1", "smooth_l1") else [x, y]
    else:
        op, params = layer(torch, F, name, rows, columns, randn, uniform)
        if op is None:
            return None
    return passes(torch, op, params, backward)


def layer(torch, F, name, rows, columns, randn, uniform):
    if name == "bce_logits":
        x, y = randn(rows, columns), uniform(rows, columns)
        return lambda: F.binary_cross_entropy_with_logits(x, y), [x]
    if name == "kl_div":
        x, y = randn(rows, columns).log_softmax(-1), randn(rows, columns).softmax(-1)
        return lambda: F.kl_div(x, y), [x]
    if name in ("cross_entropy", "smoothed_cross_entropy"):
        x, y, smoothing = randn(rows, columns), torch.randint(0, columns, (rows,)), 0.1 if name != "cross_entropy" else 0.0
        return lambda: F.cross_entropy(x, y, label_smoothing=smoothing), [x]
    if name in ("layer_norm", "rms_norm"):
        x, w, b = randn(rows, columns), randn(columns), randn(columns)
        if name == "rms_norm":
            return lambda: F.rms_norm(x, (columns,), w, 1e-5), [x, w]
        return lambda: F.layer_norm(x, (columns,), w, b), [x, w, b]
    if name in ("group_norm", "instance_norm"):
        x, w, b = randn(32, 64, 32, 32), randn(64), randn(64)
        if name == "instance_norm":
            return lambda: F.instance_norm(x, weight=w, bias=b), [x, w, b]
        return lambda: F.group_norm(x, 8, w, b), [x, w, b]
    if name == "linear":
        x, w, b = randn(512, 512), randn(512, 512), randn(512)
        return lambda: F.linear(x, w, b), [x, w, b]
    if name in ("lstm_cell", "gru_cell"):
        x, h, c = randn(64, 256), randn(64, 256), randn(64, 256)
        cell = torch.nn.LSTMCell(256, 256) if name == "lstm_cell" else torch.nn.GRUCell(256, 256)
        if name == "gru_cell":
            return lambda: cell(x, h), [x, *cell.parameters()]
        return lambda: cell(x, (h, c))[0], [x, *cell.parameters()]
    if name == "lstm":
        x, net = randn(32, 64, 128), torch.nn.LSTM(128, 128)
        return lambda: net(x)[0], [x, *net.parameters()]
    if name == "stem":
        x, w = randn(4, 3, 224, 224), randn(64, 3, 7, 7)
        return lambda: F.conv2d(x, w, stride=2, padding=3), [w]
    if name == "conv1d":
        x, w = randn(16, 64, 1024), randn(64, 64, 3)
        return lambda: F.conv1d(x, w, padding=1), [x, w]
    if name == "rand":
        return lambda: torch.rand(rows, columns), []
    if name == "randint":
        return lambda: torch.randint(0, 1000, (rows, columns)), []
    if name == "randperm":
        return lambda: torch.randperm(60000), []
    if name == "nchw":
        x = randn(32, 32, 32, 64)
        return lambda: x.permute(0, 3, 1, 2).contiguous(), [x]
    if name == "heads":
        x = randn(8, 512, 16, 64)
        return lambda: x.transpose(1, 2).contiguous(), [x]
    if name == "embedding_few":
        table, index = randn(256, 256), torch.randint(0, 256, (16384,))
        return lambda: F.embedding(index, table), [table]
    if name == "one_hot":
        index = torch.randint(0, 256, (rows,))
        return lambda: F.one_hot(index, 256), []
    x = randn(rows, columns)
    if name in ("where", "masked_fill", "masked_select", "nonzero"):
        y, mask = randn(rows, columns), x > 0
        return {"where": lambda: torch.where(mask, x, y), "masked_fill": lambda: x.masked_fill(mask, 0), "masked_select": lambda: x.masked_select(mask),
                "nonzero": lambda: mask.nonzero()}[name], [x, y]
    if name in ("gather", "scatter_add"):
        y, index = randn(rows, columns), torch.randint(0, columns, (rows, columns))
        return (lambda: x.gather(1, index)) if name == "gather" else (lambda: x.scatter_add(1, index, y)), [x]
    if name == "index_select":
        index = torch.randint(0, rows, (rows,))
        return lambda: x.index_select(0, index), [x]
    return None, None


def updates(torch, name, dtype):
    shapes = [(32, 32)] * 200 if name.endswith("_many") else [(4096, 1024)]
    params = [torch.randn(*s).to(dtype).requires_grad_() for s in shapes]
    for p in params:
        p.grad = torch.randn_like(p)
    if name in ("adam", "adam_many"):
        return torch.optim.Adam(params, lr=1e-6, fused=True).step
    if name == "sgd_momentum":
        return torch.optim.SGD(params, lr=1e-6, momentum=0.9, fused=True).step
    if name == "sgd_many":
        return torch.optim.SGD(params, lr=1e-6, fused=True).step
    if name in ("clip_grad", "clip_many"):
        return lambda: torch.nn.utils.clip_grad_norm_(params, 1.0)
    grads, found, inv = [p.grad for p in params], torch.zeros(1), torch.tensor(2.0)

    def unscale():
        inv.reciprocal_()
        torch._amp_foreach_non_finite_check_and_unscale_(grads, found, inv)
        found.item()
    return unscale


def step(torch, F, kind, dtype):
    nn = torch.nn
    if kind == "mlp":
        net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 1))
        x, y = torch.randn(512, 8), torch.randn(512, 1)
        loss = lambda: F.mse_loss(net(x), y)
    elif kind == "resnet18":
        net = resnet18(torch, F)
        x, y = torch.randn(32, 3, 32, 32), torch.randint(0, 10, (32,))
        loss = lambda: F.cross_entropy(net(x), y)
    else:
        net = gpt(torch, F, 256, 128, 256, 4, 4)
        x, y = torch.randint(0, 256, (8, 128)), torch.randint(0, 256, (8 * 128,))
        loss = lambda: F.cross_entropy(net(x).reshape(-1, 256), y)
    opt = torch.optim.AdamW(net.parameters(), lr=1e-4) if kind == "gpt" else torch.optim.SGD(net.parameters(), lr=1e-3)
    scaler = torch.amp.GradScaler("cpu", enabled=dtype == torch.float16)

    def run():
        opt.zero_grad()
        with torch.autocast("cpu", dtype=dtype if dtype != torch.float32 else torch.bfloat16, enabled=dtype != torch.float32):
            value = loss()
        scaler.scale(value).backward()
        scaler.step(opt)
        scaler.update()
    return run


def resnet18(torch, F):
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self, cin, cout, stride):
            super().__init__()
            self.conv1, self.bn1 = nn.Conv2d(cin, cout, 3, stride, 1, bias=False), nn.BatchNorm2d(cout)
            self.conv2, self.bn2 = nn.Conv2d(cout, cout, 3, 1, 1, bias=False), nn.BatchNorm2d(cout)
            self.down = nn.Identity()
            if stride != 1 or cin != cout:
                self.down = nn.Sequential(nn.Conv2d(cin, cout, 1, stride, bias=False), nn.BatchNorm2d(cout))

        def forward(self, x):
            y = F.relu(self.bn1(self.conv1(x)))
            return F.relu(self.bn2(self.conv2(y)) + self.down(x))

    layers = [nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64), nn.ReLU()]
    cin = 64
    for i in range(4):
        cout = 64 << i
        layers += [Block(cin, cout, 1 if i == 0 else 2), Block(cout, cout, 1)]
        cin = cout
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10))


def gpt(torch, F, vocabulary, context, features, layers, heads):
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.ln1, self.ln2 = nn.LayerNorm(features), nn.LayerNorm(features)
            self.qkv, self.out = nn.Linear(features, 3 * features), nn.Linear(features, features)
            self.up, self.down = nn.Linear(features, 4 * features), nn.Linear(4 * features, features)

        def forward(self, x):
            b, t, c = x.shape
            q, k, v = self.qkv(self.ln1(x)).view(b, t, 3, heads, c // heads).permute(2, 0, 3, 1, 4)
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.out(y.transpose(1, 2).reshape(b, t, c))
            return x + self.down(F.gelu(self.up(self.ln2(x))))

    class GPT(nn.Module):
        def __init__(self):
            super().__init__()
            self.wte, self.wpe = nn.Embedding(vocabulary, features), nn.Embedding(context, features)
            self.blocks = nn.Sequential(*[Block() for _ in range(layers)])
            self.ln, self.head = nn.LayerNorm(features), nn.Linear(features, vocabulary, bias=False)

        def forward(self, tokens):
            x = self.wte(tokens) + self.wpe(torch.arange(tokens.shape[1]))
            return self.head(self.ln(self.blocks(x)))

    return GPT()


def forget_peak():
    import gc

    gc.collect()
    try:  # what the allocator keeps of the last case
        import ctypes

        ctypes.CDLL(None).malloc_trim(0)
    except (OSError, AttributeError):
        pass
    try:
        with open("/proc/self/clear_refs", "w") as f:
            f.write("5")
    except OSError:
        pass


def peak():
    with open("/proc/self/status") as f:
        for line in f:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    return 0


def measure(run):
    calls = getattr(run, "calls", 1)
    used = time.process_time_ns()
    began = time.perf_counter_ns()
    run()
    once = time.perf_counter_ns() - began
    if once > 40e9 * BUDGET:  # PyTorch multiplies halves for a minute where the processor has no instruction for them: nobody waits for more
        used = time.process_time_ns() - used
        return {"median": once / calls, "min": once / calls, "wall": once / calls, "cpu": used / calls, "rss": peak()}
    batch = max(1, int(200_000 / max(once, 1)))
    times = []
    used = time.process_time_ns()
    began = time.perf_counter()
    least = 1 if once > 4e9 * BUDGET else 3  # as worker does
    while len(times) < least or time.perf_counter() - began < BUDGET:
        t = time.perf_counter_ns()
        for _ in range(batch):
            run()
        times.append((time.perf_counter_ns() - t) / (batch * calls))
    used = (time.process_time_ns() - used) / (len(times) * batch * calls)
    wall = sum(times) / len(times)
    times.sort()
    return {"median": times[len(times) // 2], "min": times[0], "wall": wall, "cpu": used, "rss": peak()}


def main():
    try:
        build, version = {"torch": with_torch, "numpy": with_numpy, "c": with_c}[PEER]()
    except Exception as err:
        print(json.dumps({"error": "%s: %s" % (type(err).__name__, err)}), flush=True)
        return
    print(json.dumps({"version": version}), flush=True)
    name, run = None, None
    for line in sys.stdin:
        line = line.strip()
        if line != name:
            run = None
            forget_peak()
            name, run = line, build(line.split("/"))
        if run is None:
            print(json.dumps({"error": "no such case"}), flush=True)
            continue
        try:
            print(json.dumps(measure(run)), flush=True)
        except Exception as err:
            print(json.dumps({"error": "%s: %s" % (type(err).__name__, err)}), flush=True)


main()
