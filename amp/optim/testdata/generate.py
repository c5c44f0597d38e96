"""Writes torch.json: what torch.optim and torch.optim.lr_scheduler do, for optim's tests.

    python generate.py > torch.json

Made with torch 2.x from PyPI; the version is in the file.
"""
import json
import warnings

import torch
from torch.optim import lr_scheduler as ls
from torch.optim.swa_utils import SWALR

warnings.simplefilter("ignore")

START = [[1.0, -2.0, 0.5, 1e-3], [0.25, -0.125]]


def grads(step):
    """The gradients of a step: some change sign, some are tiny."""
    return [[0.3 * step, -0.2, 1e-4 * (-1) ** step, 5.0 / step], [0.01 * (step - 3), -1e-6]]


OPTIMIZERS = {
    "SGD": [{}, {"lr": 0.1, "momentum": 0.9}, {"lr": 0.1, "momentum": 0.9, "dampening": 0.3, "weight_decay": 0.01},
            {"lr": 0.1, "momentum": 0.8, "weight_decay": 0.01, "nesterov": True}, {"lr": 0.1, "momentum": 0.5, "maximize": True}],
    "Adam": [{}, {"lr": 0.1, "betas": (0.5, 0.9), "eps": 1e-3, "weight_decay": 0.1}, {"lr": 0.1, "amsgrad": True, "maximize": True},
             {"lr": 0.1, "betas": (0.3, 0.6), "amsgrad": True}],
    "AdamW": [{}, {"lr": 0.1, "weight_decay": 0.3, "amsgrad": True}, {"lr": 0.1, "maximize": True}],
    "RMSprop": [{}, {"lr": 0.1, "alpha": 0.9, "eps": 1e-4, "weight_decay": 0.1}, {"lr": 0.1, "momentum": 0.9, "centered": True},
                {"lr": 0.1, "centered": True, "maximize": True}, {"momentum": 0.5, "alpha": 0.3}],
    "Adagrad": [{}, {"lr": 0.1, "lr_decay": 0.2, "weight_decay": 0.1, "eps": 1e-3}, {"initial_accumulator_value": 0.5, "maximize": True}],
}

DTYPES = {"float64": torch.float64, "float32": torch.float32}


def optimizers():
    for name, configs in OPTIMIZERS.items():
        for config in configs:
            for dtype in DTYPES:
                params = [torch.tensor(v, dtype=DTYPES[dtype], requires_grad=True) for v in START]
                opt = getattr(torch.optim, name)(params, **config)
                after = []
                for step in range(1, 9):
                    for p, g in zip(params, grads(step)):
                        p.grad = torch.tensor(g, dtype=DTYPES[dtype])
                    opt.step()
                    after.append([p.tolist() for p in params])
                state = {f"{i}.{k}": v.tolist() for i, p in enumerate(params) for k, v in opt.state[p].items() if v is not None and k != "step"}
                yield {"name": name, "config": config, "dtype": dtype, "after": after, "state": state}


def build():
    leaf = lambda: torch.zeros(1, requires_grad=True)
    return torch.optim.SGD([{"params": [leaf()]}, {"params": [leaf()], "lr": 0.05}], lr=0.5, momentum=0.9)


SCHEDULES = {
    "StepLR": lambda o: ls.StepLR(o, 3, 0.3),
    "MultiStepLR": lambda o: ls.MultiStepLR(o, [2, 5, 9, 9], 0.5),
    "ExponentialLR": lambda o: ls.ExponentialLR(o, 0.9),
    "ConstantLR": lambda o: ls.ConstantLR(o, 0.3, 4),
    "LinearLR": lambda o: ls.LinearLR(o, 0.1, 0.8, 7),
    "PolynomialLR": lambda o: ls.PolynomialLR(o, 8, 1.5),
    "CosineAnnealingLR": lambda o: ls.CosineAnnealingLR(o, 5, 0.01),
    "CosineAnnealingWarmRestarts": lambda o: ls.CosineAnnealingWarmRestarts(o, 3, 2, 0.01),
    "SWALR": lambda o: SWALR(o, 0.02, anneal_epochs=7),
    "SWALR along a line": lambda o: SWALR(o, 0.7, anneal_epochs=4, anneal_strategy="linear"),
    "SWALR at once": lambda o: SWALR(o, 0.02, anneal_epochs=0),
    "LambdaLR": lambda o: ls.LambdaLR(o, lambda t: 1 / (1 + t)),
    "MultiplicativeLR": lambda o: ls.MultiplicativeLR(o, lambda t: 0.95),
    "OneCycleLR": lambda o: ls.OneCycleLR(o, 2.0, total_steps=40),
    "OneCycleLR three phases": lambda o: ls.OneCycleLR(o, [2.0, 1.0], total_steps=40, pct_start=0.4, anneal_strategy="linear",
                                                      base_momentum=0.5, max_momentum=0.8, div_factor=5, final_div_factor=7, three_phase=True),
    "OneCycleLR short": lambda o: ls.OneCycleLR(o, 2.0, total_steps=40, pct_start=0.01, cycle_momentum=False),
    "SequentialLR": lambda o: ls.SequentialLR(o, [ls.ConstantLR(o, 0.1, 4), ls.ExponentialLR(o, 0.9), ls.CosineAnnealingLR(o, 6, 0.01)], [4, 10]),
    "WarmupCosine": lambda o: ls.SequentialLR(o, [ls.LinearLR(o, 0.1, total_iters=4), ls.CosineAnnealingLR(o, 8, 0.002)], [4]),
    "SequentialLR multiplied": lambda o: ls.SequentialLR(o, [ls.StepLR(o, 2, 0.5), ls.MultiplicativeLR(o, lambda t: 0.9)], [5]),
    "SequentialLR from the second": lambda o: ls.SequentialLR(o, [ls.ConstantLR(o, 0.1, 4), ls.ExponentialLR(o, 0.9), ls.StepLR(o, 1, 0.5)], [0, 3]),
    "SequentialLR with restarts": lambda o: ls.SequentialLR(o, [ls.LinearLR(o, 0.2, 1.0, 3), ls.CosineAnnealingWarmRestarts(o, 4, 2, 0.01)], [3]),
    "SequentialLR of one cycle": lambda o: ls.SequentialLR(o, [ls.ConstantLR(o, 0.1, 4), ls.OneCycleLR(o, 2.0, total_steps=40)], [3]),
    "ChainedScheduler": lambda o: ls.ChainedScheduler([ls.LinearLR(o, 0.2, 1.0, 6), ls.ExponentialLR(o, 0.9)]),
    "ChainedScheduler with a floor": lambda o: ls.ChainedScheduler([ls.StepLR(o, 4, 0.5), ls.CosineAnnealingLR(o, 9, 0.01)]),
}


def schedules():
    for name, make in SCHEDULES.items():
        opt = build()
        schedule = make(opt)
        rates, momenta = [], []
        for _ in range(40):
            rates.append([g["lr"] for g in opt.param_groups])
            momenta.append(opt.param_groups[1]["momentum"])
            opt.step()
            schedule.step()
        yield {"name": name, "rates": rates, "momenta": momenta}


def plateau():
    measures = [3.0, 2.0, 2.5, 2.0, 1.99, 1.9999, 1.98, 1.98, 2.2, 1.97, 3.0, 3.0, 3.0, 3.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    configs = [{"patience": 1}, {"patience": 1, "cooldown": 2, "factor": 0.5}, {"patience": 0, "threshold": 0.01, "min_lr": [0.01, 0.0]},
               {"patience": 2, "threshold": 0.05, "threshold_mode": "abs"}, {"mode": "max", "patience": 1, "threshold": 0.2},
               {"mode": "max", "patience": 1, "threshold": 0.2, "threshold_mode": "abs", "eps": 0.01}]
    for config in configs:
        opt = build()
        schedule = ls.ReduceLROnPlateau(opt, **config)
        rates = []
        for m in measures:
            schedule.step(m)
            rates.append([g["lr"] for g in opt.param_groups])
        yield {"config": config, "measures": measures, "rates": rates}


print(json.dumps({"torch": torch.__version__, "start": START, "grads": [grads(s) for s in range(1, 9)], "optimizers": list(optimizers()),
                  "schedules": list(schedules()), "plateau": list(plateau())}, separators=(",", ":")).replace('{"name"', '\n{"name"').replace('{"config"', '\n{"config"'))
