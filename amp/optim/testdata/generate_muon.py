"""Writes torch_muon.json: Muon of torch.optim, for optim's tests.

    python generate_muon.py > torch_muon.json

Made with torch 2.x from PyPI; the version is in the file.
"""
import json
import math

import torch
from torch.optim import _muon

SHAPES = [[6, 4], [3, 8], [5, 5], [1, 3]]
CONFIGS = [{}, {"lr": 0.02, "weight_decay": 0.0, "momentum": 0.5, "nesterov": False}, {"lr": 0.1, "weight_decay": 0.3, "adjust_lr_fn": "match_rms_adamw"},
           {"lr": 0.1, "adjust_lr_fn": "spectral_unclamped", "ns_steps": 3, "eps": 0.5}, {"lr": 0.1, "ns_coefficients": (1.5, -0.5, 0.0), "ns_steps": 12}]
DTYPES = {"float64": torch.float64, "float32": torch.float32, "bfloat16": torch.bfloat16}


def numbers(shape, seed):
    return [round(math.sin(1.7 * i + seed) + 0.3 * math.cos(5.1 * i * seed), 4) for i in range(shape[0] * shape[1])]


START = [numbers(s, 1 + i) for i, s in enumerate(SHAPES)]
GRADS = [[numbers(s, 10 * step + i) for i, s in enumerate(SHAPES)] for step in range(1, 7)]


def unrounded(grad, coefficients, steps, eps):
    """torch's iteration in float64."""
    a, b, c = coefficients
    x = grad.T if grad.size(0) > grad.size(1) else grad
    x = x / x.norm().clamp(min=eps)
    for _ in range(steps):
        gram = x @ x.T
        x = a * x + (b * gram + c * gram @ gram) @ x
    return x.T if grad.size(0) > grad.size(1) else x


def run(config, dt, as_dt):
    params = [torch.tensor(v, dtype=as_dt).to(dt).reshape(s).requires_grad_() for v, s in zip(START, SHAPES)]
    opt = torch.optim.Muon(params, **config)
    after = []
    for step in GRADS:
        for p, g in zip(params, step):
            p.grad = torch.tensor(g, dtype=as_dt).to(dt).reshape(p.shape)
        opt.step()
        after.append([p.flatten().tolist() for p in params])
    return after, {f"{i}.momentum_buffer": opt.state[p]["momentum_buffer"].flatten().tolist() for i, p in enumerate(params)}


def optimizers():
    theirs = _muon._zeropower_via_newtonschulz
    for config in CONFIGS:
        for dtype, dt in DTYPES.items():
            after, state = run(config, dt, dt)
            _muon._zeropower_via_newtonschulz = unrounded
            exact, _ = run(config, torch.float64, dt)
            _muon._zeropower_via_newtonschulz = theirs
            yield {"name": "Muon", "config": config, "dtype": dtype, "after": after, "exact": exact, "state": state}


print(json.dumps({"torch": torch.__version__, "shapes": SHAPES, "start": START, "grads": GRADS, "runs": list(optimizers())}, separators=(",", ":")).replace('{"name"', '\n{"name"'))
