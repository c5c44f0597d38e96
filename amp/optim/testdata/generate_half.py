"""Writes torch_half.json: torch.optim on parameters of bfloat16 and float16, for optim's tests.

    python generate_half.py > torch_half.json

Made with torch 2.x from PyPI; the version is in the file. "after" is what the optimizer's fused update gives, or the usual one where there
is none; "exact" is what it gives in float64 for the same parameters and gradients.
"""
import json
import sys

import torch

START = [[1.0, -2.0, 0.5, 1e-3], [0.25, -0.125]]


def grads(step):
    """The gradients of a step: some change sign, some are small."""
    return [[0.3 * step, -0.2, 1e-4 * (-1) ** step, 5.0 / step], [0.01 * (step - 3), -1e-3]]


FUSED = {
    "SGD": [{"lr": 0.1}, {"lr": 0.1, "momentum": 0.9}, {"lr": 0.1, "momentum": 0.8, "weight_decay": 0.01, "nesterov": True}],
    "Adam": [{}, {"lr": 0.1, "betas": (0.5, 0.9), "eps": 1e-3, "weight_decay": 0.1}, {"lr": 0.1, "amsgrad": True}],
    "AdamW": [{"lr": 0.1, "weight_decay": 0.3}, {"lr": 0.1, "maximize": True}],
    "Adagrad": [{"lr": 0.1, "eps": 1e-3}, {"lr_decay": 0.2, "weight_decay": 0.1, "eps": 1e-3}],
}
USUAL = {
    "RMSprop": [{"eps": 1e-3}, {"lr": 0.1, "momentum": 0.9, "centered": True, "eps": 1e-3}],
    "NAdam": [{"lr": 0.1, "eps": 1e-3}],
    "RAdam": [{"lr": 0.1, "eps": 1e-3}],
    "Adamax": [{"lr": 0.1, "eps": 1e-3}],
    "Adadelta": [{"lr": 0.5, "eps": 1e-3}],
    "Rprop": [{"lr": 0.1}],
    "ASGD": [{"lr": 0.1, "lambd": 0.1, "t0": 2}],
}


def run(name, config, given, dtype):
    params = [torch.tensor(v, dtype=given).to(dtype).requires_grad_() for v in START]
    opt = getattr(torch.optim, name)(params, **config)
    after = []
    for step in range(1, 9):
        for p, g in zip(params, grads(step)):
            p.grad = torch.tensor(g, dtype=given).to(dtype)
        opt.step()
        after.append([p.tolist() for p in params])
    return after


def rows():
    for table, fused in ((FUSED, True), (USUAL, False)):
        for name, configs in table.items():
            for config in configs:
                for dtype in ("bfloat16", "float16"):
                    given = getattr(torch, dtype)
                    after = run(name, dict(config, fused=True) if fused else config, given, given)
                    yield {"name": name, "config": config, "dtype": dtype, "fused": fused, "after": after, "exact": run(name, config, given, torch.float64)}


json.dump({"torch": torch.__version__, "start": START, "grads": [grads(s) for s in range(1, 9)], "optimizers": list(rows())}, sys.stdout)
