"""Five training steps: an MLP with every optimizer, a conv net with batch norm, and a transformer block.

Data and initial weights are float32. Each training runs in float32 (the reference), float64 (how far rounding moves it) and, for the two
nets, in float32 under CPU autocast to bfloat16. Losses are kept of every step, weights and buffers after the last.
"""

import contextlib

import torch
import torch.nn.functional as F

from vectors import SEED, tensor

STEPS = 5


def named(tensors):
    return {k: tensor(v) for k, v in tensors.items()}


def train(forward, init, buffers, make, dtype=torch.float32, autocast=False):
    """Losses and final tensors of STEPS steps of make(params); forward(params, buffers) is the loss."""
    params = {k: v.to(dtype).clone().requires_grad_() for k, v in init.items()}
    kept = {k: v.to(dtype).clone() for k, v in buffers.items()}
    opt = make(list(params.values()))
    losses = []
    for _ in range(STEPS):
        opt.zero_grad()
        with torch.autocast("cpu", torch.bfloat16) if autocast else contextlib.nullcontext():
            loss = forward(params, kept)
        loss.backward()
        opt.step()
        losses.append(float(loss.detach()))
    return {"losses": losses, "final": named({k: v.detach() for k, v in params.items()} | kept)}


def runs(forward, init, make, buffers=None, lower=True):
    buffers = buffers or {}
    out = {"float32": train(forward, init, buffers, make), "float64": train(forward, init, buffers, make, torch.float64)}
    if lower:
        out["bfloat16"] = train(forward, init, buffers, make, autocast=True)
    return out


def drawn(gen, shapes):
    """Normal weights with variance 1/fan-in; vectors are small, scales (names ending in .scale) close to 1."""
    out = {}
    for k, shape in shapes.items():
        v = torch.randn(shape, generator=gen, dtype=torch.float64)
        if k.endswith(".scale"):
            v = 1 + 0.1 * v
        elif len(shape) == 1:
            v = 0.1 * v
        else:
            v = v / torch.tensor(shape[1:]).prod().item() ** 0.5
        out[k] = v.to(torch.float32)
    return out


OPTIMIZERS = {
    "sgd": (torch.optim.SGD, dict(lr=0.1)),
    "sgd momentum": (torch.optim.SGD, dict(lr=0.1, momentum=0.9)),
    "sgd dampening decay": (torch.optim.SGD, dict(lr=0.1, momentum=0.9, dampening=0.3, weight_decay=0.05)),
    "sgd nesterov": (torch.optim.SGD, dict(lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01)),
    "sgd maximize": (torch.optim.SGD, dict(lr=0.01, momentum=0.5, maximize=True)),
    "adam": (torch.optim.Adam, dict(lr=0.02)),
    "adam decay": (torch.optim.Adam, dict(lr=0.02, betas=(0.8, 0.95), eps=1e-6, weight_decay=0.1)),
    "adam amsgrad": (torch.optim.Adam, dict(lr=0.02, betas=(0.5, 0.6), amsgrad=True)),
    "adamw": (torch.optim.AdamW, dict(lr=0.02)),
    "adamw decay": (torch.optim.AdamW, dict(lr=0.02, weight_decay=0.3, amsgrad=True)),
    "rmsprop": (torch.optim.RMSprop, dict(lr=0.01)),
    "rmsprop centered": (torch.optim.RMSprop, dict(lr=0.01, alpha=0.9, momentum=0.7, centered=True, weight_decay=0.01)),
    "adagrad": (torch.optim.Adagrad, dict(lr=0.05)),
    "adagrad decay": (torch.optim.Adagrad, dict(lr=0.05, lr_decay=0.1, weight_decay=0.02, initial_accumulator_value=0.1)),
}


def mlp(gen):
    init = drawn(gen, {"w1": (5, 4), "b1": (5,), "w2": (3, 5), "b2": (3,)})
    x, y = torch.randn((6, 4), generator=gen), torch.randn((6, 3), generator=gen)

    def forward(p, _):
        d = p["w1"].dtype
        return F.mse_loss(F.linear(torch.tanh(F.linear(x.to(d), p["w1"], p["b1"])), p["w2"], p["b2"]), y.to(d))

    trainings = {}
    for name, (kind, options) in OPTIMIZERS.items():
        trainings[name] = {"kind": kind.__name__, "options": options,
                           "runs": runs(forward, init, lambda p, kind=kind, options=options: kind(p, **options), lower=False)}
    return {"init": named(init), "x": tensor(x), "y": tensor(y), "optimizers": trainings}


def convnet(gen):
    init = drawn(gen, {"conv1.w": (4, 3, 3, 3), "conv1.b": (4,), "bn1.scale": (4,), "bn1.b": (4,),
                       "conv2.w": (6, 4, 3, 3), "conv2.b": (6,), "bn2.scale": (6,), "bn2.b": (6,), "fc.w": (5, 24), "fc.b": (5,)})
    buffers = {"bn1.mean": torch.zeros(4), "bn1.var": torch.ones(4), "bn2.mean": torch.zeros(6), "bn2.var": torch.ones(6)}
    x, y = torch.randn((8, 3, 8, 8), generator=gen), torch.randint(0, 5, (8,), generator=gen)

    def forward(p, b):
        h = F.conv2d(x.to(p["fc.w"].dtype), p["conv1.w"], p["conv1.b"], padding=1)
        h = F.relu(F.batch_norm(h, b["bn1.mean"], b["bn1.var"], p["bn1.scale"], p["bn1.b"], True))
        h = F.conv2d(h, p["conv2.w"], p["conv2.b"], stride=2, padding=1)
        h = F.relu(F.batch_norm(h, b["bn2.mean"], b["bn2.var"], p["bn2.scale"], p["bn2.b"], True))
        h = F.max_pool2d(h, 2)
        return F.cross_entropy(F.linear(h.flatten(1), p["fc.w"], p["fc.b"]), y)

    return {"init": named(init | buffers), "buffers": list(buffers), "x": tensor(x), "y": tensor(y),
            "runs": runs(forward, init, lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, weight_decay=1e-3), buffers)}


def transformer(gen):
    """One block of a language model: embedding, layer norm, causal attention of 2 heads, MLP, layer norm, logits.

    The keys have no bias, whose gradient is zero but for rounding, and eps is larger than usual: AdamW makes steps of full size of the
    smallest gradients, and in bfloat16 those are noise.
    """
    v, t, d = 11, 6, 8
    init = drawn(gen, {"token": (v, d), "position": (t, d), "ln1.scale": (d,), "ln1.b": (d,), "qkv.w": (3 * d, d),
                       "proj.w": (d, d), "proj.b": (d,), "ln2.scale": (d,), "ln2.b": (d,), "up.w": (4 * d, d), "up.b": (4 * d,),
                       "down.w": (d, 4 * d), "down.b": (d,), "ln3.scale": (d,), "ln3.b": (d,), "head.w": (v, d)})
    x, y = torch.randint(0, v, (2, t), generator=gen), torch.randint(0, v, (2, t), generator=gen)

    def heads(z):
        return z.reshape(2, t, 2, d // 2).transpose(1, 2)

    def forward(p, _):
        h = F.embedding(x, p["token"]) + p["position"]
        n = F.layer_norm(h, (d,), p["ln1.scale"], p["ln1.b"])
        q, k, w = F.linear(n, p["qkv.w"]).split(d, -1)
        a = F.scaled_dot_product_attention(heads(q), heads(k), heads(w), is_causal=True)
        h = h + F.linear(a.transpose(1, 2).reshape(2, t, d), p["proj.w"], p["proj.b"])
        n = F.layer_norm(h, (d,), p["ln2.scale"], p["ln2.b"])
        h = h + F.linear(F.gelu(F.linear(n, p["up.w"], p["up.b"])), p["down.w"], p["down.b"])
        h = F.layer_norm(h, (d,), p["ln3.scale"], p["ln3.b"])
        return F.cross_entropy(F.linear(h, p["head.w"]).reshape(2 * t, v), y.reshape(2 * t))

    return {"init": named(init), "x": tensor(x), "y": tensor(y),
            "runs": runs(forward, init, lambda p: torch.optim.AdamW(p, lr=0.01, eps=1e-3, weight_decay=0.1))}


def trajectories():
    gen = torch.Generator().manual_seed(SEED)
    return {"mlp": mlp(gen), "convnet": convnet(gen), "transformer": transformer(gen)}
