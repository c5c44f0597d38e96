"""Writes torch_adafactor.json: Adafactor of torch.optim, for optim's tests.

    python generate_adafactor.py > torch_adafactor.json

Made with torch 2.x from PyPI; the version is in the file. One optimizer for each parameter: torch takes the first one's machine epsilon for all.
"""
import json
import math

import torch

SHAPES = [[6, 4], [3], [2, 3, 5], [1, 3], []]
CONFIGS = [{}, {"lr": 0.5, "weight_decay": 0.1, "maximize": True}, {"lr": 0.05, "beta2_decay": -0.5, "eps": (0.01, 0.1), "d": 1.5}]
DTYPES = {"float64": torch.float64, "float32": torch.float32, "bfloat16": torch.bfloat16}


def numbers(shape, seed):
    return [round(math.sin(1.7 * i + seed) + 0.3 * math.cos(5.1 * i * seed), 4) for i in range(math.prod(shape))]


START = [numbers(s, 1 + i) for i, s in enumerate(SHAPES)]
GRADS = [[numbers(s, 10 * step + i) for i, s in enumerate(SHAPES)] for step in range(1, 7)]


def run(config, dt, as_dt):
    """Steps in dt from numbers rounded to as_dt, with the bounds of as_dt."""
    eps = config.get("eps", (torch.finfo(as_dt).eps, 1e-3))
    params = [torch.tensor(v, dtype=as_dt).to(dt).reshape(s).requires_grad_() for v, s in zip(START, SHAPES)]
    opts = [torch.optim.Adafactor([p], **{**config, "eps": eps if dt != as_dt else config.get("eps", (None, 1e-3))}) for p in params]
    after = []
    for step in GRADS:
        for p, g, opt in zip(params, step, opts):
            p.grad = torch.tensor(g, dtype=as_dt).to(dt).reshape(p.shape)
            opt.step()
        after.append([p.flatten().tolist() for p in params])
    state = {f"{i}.{k}": v.flatten().tolist() for i, (p, opt) in enumerate(zip(params, opts)) for k, v in opt.state[p].items() if k != "step"}
    return after, state


def optimizers():
    for config in CONFIGS:
        for dtype, dt in DTYPES.items():
            after, state = run(config, dt, dt)
            exact, exact_state = run(config, torch.float64, dt)
            yield {"name": "Adafactor", "config": config, "dtype": dtype, "after": after, "exact": exact, "state": state, "exact_state": exact_state}


print(json.dumps({"torch": torch.__version__, "shapes": SHAPES, "start": START, "grads": GRADS, "runs": list(optimizers())}, separators=(",", ":")).replace('{"name"', '\n{"name"'))
