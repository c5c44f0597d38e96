"""Writes torch_more.json: Adam's kin, Adadelta, Rprop, ASGD and cyclic schedules of torch.optim, for optim's tests.

    python generate_more.py > torch_more.json

Made with torch 2.x from PyPI; the version is in the file. Scalars of state, such as NAdam's mu_product, have torch's default dtype: that of
the parameters here.
"""
import json
import warnings

import torch
from torch.optim import lr_scheduler as ls
from torch.optim.swa_utils import SWALR

warnings.simplefilter("ignore")

START = [[1.0, -2.0, 0.5, 1e-3], [0.25, -0.125]]


def grads(step):
    """The gradients of a step: some change sign, some are tiny, one is 0 now and then."""
    return [[0.3 * step, -0.2, 1e-4 * (-1) ** step, 5.0 / step], [0.01 * (step - 3), -1e-6]]


OPTIMIZERS = {
    "NAdam": [{}, {"lr": 0.1, "betas": (0.5, 0.9), "eps": 1e-3, "weight_decay": 0.1, "momentum_decay": 0.1},
              {"lr": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True, "maximize": True}],
    "RAdam": [{}, {"lr": 0.1, "betas": (0.5, 0.9), "eps": 1e-3, "weight_decay": 0.1},
              {"lr": 0.1, "betas": (0.9, 0.99), "weight_decay": 0.1, "decoupled_weight_decay": True, "maximize": True}],
    "Adamax": [{}, {"lr": 0.1, "betas": (0.5, 0.9), "eps": 1e-3, "weight_decay": 0.1, "maximize": True}],
    "Adadelta": [{}, {"lr": 0.5, "rho": 0.7, "eps": 1e-3, "weight_decay": 0.1, "maximize": True}],
    "Rprop": [{}, {"lr": 0.1, "etas": (0.3, 1.5), "step_sizes": (1e-3, 0.2), "maximize": True}],
    "ASGD": [{}, {"lr": 0.1, "lambd": 0.1, "alpha": 0.5, "t0": 2, "weight_decay": 0.1, "maximize": True}],
}

DTYPES = {"float64": torch.float64, "float32": torch.float32}


def optimizers():
    for name, configs in OPTIMIZERS.items():
        for config in configs:
            for dtype in DTYPES:
                torch.set_default_dtype(DTYPES[dtype])
                params = [torch.tensor(v, dtype=DTYPES[dtype], requires_grad=True) for v in START]
                opt = getattr(torch.optim, name)(params, **config)
                after = []
                for step in range(1, 13):
                    for p, g in zip(params, grads(step)):
                        p.grad = torch.tensor(g, dtype=DTYPES[dtype])
                    opt.step()
                    after.append([p.tolist() for p in params])
                state = {f"{i}.{k}": v.tolist() for i, p in enumerate(params) for k, v in opt.state[p].items() if v.dim()}
                torch.set_default_dtype(torch.float32)
                yield {"name": name, "config": config, "dtype": dtype, "after": after, "state": state}


def build(kind=torch.optim.SGD, **config):
    leaf = lambda: torch.zeros(1, requires_grad=True)
    return kind([{"params": [leaf()]}, {"params": [leaf()], "lr": 0.05}], lr=0.5, **config)


SCHEDULES = {
    "CyclicLR": lambda o: ls.CyclicLR(o, 0.1, 0.9, 4),
    "CyclicLR aslant": lambda o: ls.CyclicLR(o, [0.1, 0.02], [0.9, 0.3], 3, 5, base_momentum=0.5, max_momentum=0.7),
    "CyclicLR triangular2": lambda o: ls.CyclicLR(o, 0.1, 0.9, 4, 2, mode="triangular2"),
    "CyclicLR exp_range": lambda o: ls.CyclicLR(o, 0.1, 0.9, 4, mode="exp_range", gamma=0.9, cycle_momentum=False),
    "CyclicLR in a sequence": lambda o: ls.SequentialLR(o, [ls.ConstantLR(o, 0.1, 4), ls.CyclicLR(o, 0.1, 0.9, 4)], [3]),
    "SWALR by group": lambda o: SWALR(o, [0.02, 0.3], anneal_epochs=7),
}


def schedules():
    for name, make in SCHEDULES.items():
        opt = build(momentum=0.9)
        schedule = make(opt)
        rates, momenta = [], []
        for _ in range(40):
            rates.append([g["lr"] for g in opt.param_groups])
            momenta.append(opt.param_groups[1]["momentum"])
            opt.step()
            schedule.step()
        yield {"name": name, "rates": rates, "momenta": momenta}
    opt = build(torch.optim.AdamW)
    schedule = ls.CyclicLR(opt, 0.1, 0.9, 4)
    rates, momenta = [], []
    for _ in range(40):
        rates.append([g["lr"] for g in opt.param_groups])
        momenta.append(opt.param_groups[1]["betas"][0])
        opt.step()
        schedule.step()
    yield {"name": "CyclicLR of AdamW", "rates": rates, "momenta": momenta}


def restarts():
    """Epochs given as fractions, and None where the schedule steps by itself. Powers of 3 are left out, where torch's logarithm is too small."""
    epochs = [e + i / 4 for e in range(9) for i in range(4)] + [None, None, 2.25, None, None, 0.5, None, 26.75, None, None, None, 1.0, None]
    for n, mult in [(3, 1), (3, 2), (2, 4)]:
        opt = build(momentum=0.9)
        schedule = ls.CosineAnnealingWarmRestarts(opt, n, mult, 0.01)
        rates = []
        for e in epochs:
            opt.step()
            schedule.step(e) if e is not None else schedule.step()
            rates.append([g["lr"] for g in opt.param_groups])
        yield {"name": f"{n} {mult}", "n": n, "mult": mult, "epochs": [-1 if e is None else e for e in epochs], "rates": rates}


print(json.dumps({"torch": torch.__version__, "start": START, "grads": [grads(s) for s in range(1, 13)], "optimizers": list(optimizers()),
                  "schedules": list(schedules()), "restarts": list(restarts())}, separators=(",", ":")).replace('{"name"', '\n{"name"'))
