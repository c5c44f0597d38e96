"""Writes torch_parametrizations.json: layers under torch.nn.utils.parametrizations' weight_norm and spectral_norm, for nn's tests.

    python generate_parametrizations.py > torch_parametrizations.json

Made with torch 2.x from PyPI on a CPU, in float32 and under its autocast; the version is in the file. Weights and inputs follow the formula in
filled.py, which the tests have too.
"""
import json

import torch
from torch import nn
from torch.nn.utils.parametrizations import spectral_norm, weight_norm

from filled import data, fill, prepare, short

LAYERS = {
    "Linear": (lambda: nn.Linear(6, 5), (4, 6)),
    "Conv1d": (lambda: nn.Conv1d(4, 6, 3, padding=1, groups=2), (2, 4, 5)),
    "Conv2d": (lambda: nn.Conv2d(3, 5, 3, stride=2, bias=False), (2, 3, 5, 5)),
    "Conv3d": (lambda: nn.Conv3d(2, 3, 2), (1, 2, 3, 3, 3)),
    "ConvTranspose1d": (lambda: nn.ConvTranspose1d(4, 3, 3), (2, 4, 5)),
    "ConvTranspose2d": (lambda: nn.ConvTranspose2d(4, 6, 3, stride=2, groups=2), (1, 4, 3, 3)),
    "ConvTranspose3d": (lambda: nn.ConvTranspose3d(2, 3, 2), (1, 2, 2, 2, 2)),
    "Bilinear": (lambda: nn.Bilinear(4, 4, 3), (2, 4)),
    "Embedding": (lambda: nn.Embedding(7, 4, padding_idx=2), None),
}
RULES = {
    "weight_norm": (weight_norm, {}),
    "weight_norm dim=1": (weight_norm, {"dim": 1}),
    "weight_norm whole": (weight_norm, {"dim": None}),
    "spectral_norm": (spectral_norm, {}),
    "spectral_norm dim=1 iterations=3 eps=0.5": (spectral_norm, {"dim": 1, "n_power_iterations": 3, "eps": 0.5}),
}
INDEX = torch.tensor([[1, 3, 1], [0, 2, 6]])


def loss(y):
    return y.float().mul(fill(torch.empty(y.shape, dtype=torch.float64), 99).float()).sum()


def call(net, x):
    return net(x, x) if isinstance(net, nn.Bilinear) else net(x)


def cases():
    for kind, (make, shape) in LAYERS.items():
        for rule, (norm, options) in RULES.items():
            for autocast in (None, torch.bfloat16, torch.float16):
                if autocast and "=" in rule:
                    continue
                torch.manual_seed(0)
                net = norm(make(), **options)
                state = prepare(net)
                x = INDEX if shape is None else data(1, *shape).detach().float().requires_grad_()
                run = lambda: call(net, x)
                if autocast:
                    def run():
                        with torch.autocast("cpu", autocast):
                            return call(net, x)
                parameters = list(net.parameters())
                opt = torch.optim.SGD(parameters, lr=0.1)
                y = run()
                loss(y).backward()
                case = {"layer": kind, "rule": rule, "autocast": str(autocast).removeprefix("torch."), "state": state, "y": y.flatten().tolist(),
                        "names": [n for n, _ in net.named_parameters()],
                        "dx": [] if shape is None else x.grad.flatten().tolist(), "grads": [p.grad.flatten().tolist() for p in parameters]}
                for _ in range(3):
                    opt.step()
                    opt.zero_grad()
                    loss(run()).backward()
                net.eval()
                with torch.no_grad():
                    case["eval"] = run().flatten().tolist()
                yield case | {"after": {n: t.flatten().tolist() for n, t in net.state_dict().items()}}


print(json.dumps({"torch": torch.__version__, "cases": [short(c) for c in cases()]}, separators=(",", ":")).replace('{"layer"', '\n{"layer"'))
