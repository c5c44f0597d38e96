"""Writes torch_lbfgs.json: what torch.optim.LBFGS makes of two problems, for lbfgs_test.go.

python generate_lbfgs.py > torch_lbfgs.json   # PyTorch 2.15, CPU
"""
import json

import torch

torch.set_num_threads(1)


def rosenbrock(dtype):
    x = torch.tensor([-1.5, 2.0, 0.5, -0.5], dtype=dtype, requires_grad=True)
    return [x], lambda: (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def network(dtype):
    torch.manual_seed(3)
    w, b, v = (torch.randn(s, dtype=dtype) / 2 for s in ((6, 3), (6,), (1, 6)))
    x = torch.randn(10, 3, dtype=dtype)
    y = torch.sin(x.sum(1, keepdim=True))
    leaves = [t.requires_grad_() for t in (w, b, v)]
    return leaves, lambda: ((torch.tanh(x @ w.t() + b) @ v.t() - y) ** 2).mean(), x, y


def run(name, build, dtype, steps, **options):
    leaves, f, *data = build(dtype)
    start = [p.tolist() for p in leaves]
    opt, losses, ends = torch.optim.LBFGS(leaves, **options), [], []

    def closure():
        opt.zero_grad()
        loss = f()
        loss.backward()
        losses.append(loss.item())
        return loss

    first = []
    for _ in range(steps):
        first.append(opt.step(closure).item())
        ends.append([p.flatten().tolist() for p in leaves])
    state = opt.state[leaves[0]]
    return dict(name=name, dtype=str(dtype)[6:], steps=steps, start=start, data=[t.tolist() for t in data], first=first, losses=losses, ends=ends,
                iterations=state["n_iter"], evaluations=state["func_evals"], history=len(state["old_dirs"]))


# In float32 the later steps of "rosenbrock wolfe" search where losses differ in their last bit: how often is a matter of rounding.
wolfe = dict(line_search_fn="strong_wolfe")
cases = []
for dtype in (torch.float64, torch.float32):
    cases += [
        run("rosenbrock", rosenbrock, dtype, 3, lr=0.02, max_iter=6),
        run("rosenbrock wolfe", rosenbrock, dtype, 3 if dtype == torch.float64 else 1, max_iter=8, max_eval=14, history_size=3, **wolfe),
        run("rosenbrock short", rosenbrock, dtype, 2, max_iter=9, max_eval=3, **wolfe),
        run("network", network, dtype, 3, lr=0.5, max_iter=5, history_size=2),
        run("network wolfe", network, dtype, 4, max_iter=4, **wolfe),
        run("network tolerant", network, dtype, 2, lr=0.5, tolerance_change=1e-2),
        run("network flat", network, dtype, 2, tolerance_grad=0.3, **wolfe),
    ]
print(json.dumps(cases))
