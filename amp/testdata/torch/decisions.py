"""Result dtypes under CUDA autocast, for every case of the families and every module. No GPU is needed: fake tensors have a device,
dtypes and shapes, but no numbers, and PyTorch's dispatcher sends them through the same autocast rules as real ones.
"""

import logging
import zlib

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

import modules
from vectors import NAMES, SEED, tuple_of

LOWER = (torch.float16, torch.bfloat16)
OTHER = {"cross": torch.cross}  # the function on the lists, where the numbers are another's
NOT = ("interpolate", "affine_grid",  # fake tensors take these apart before autocast sees their parts
       "linalg_solve_triangular",  # does not look whether its inputs are of one dtype, and has one's
       "cast")  # whose case asks for the dtype of its input


def mixes(n, low):
    """Dtypes for n float inputs: all in one, and two kinds among them."""
    other = LOWER[low == torch.float16]
    out = [[dt] * n for dt in (torch.float32, low, other, torch.float64)]
    if n > 1:
        out += [[low] + [torch.float32] * (n - 1), [torch.float32] + [low] * (n - 1), [torch.float32] * (n - 1) + [low],
                [other] + [low] * (n - 1), [torch.float64] + [torch.float32] * (n - 1), [low] + [torch.float64] * (n - 1)]
    return out


def empty(t, dtype=None):
    return torch.empty(t.shape, dtype=dtype or t.dtype, device="cuda")


def under(low, fn):
    """Result dtypes; none where autocast refuses. Without a list torch fails otherwise, mostly as it needs the numbers."""
    torch.set_autocast_dtype("cuda", low)
    torch.set_autocast_enabled("cuda", True)  # torch.autocast would look for a GPU
    try:
        return [NAMES[y.dtype] for y in tuple_of(fn())]
    except Exception as e:
        return [] if "at::autocast" in str(e) or "unsafe to autocast" in str(e) else None
    finally:
        torch.set_autocast_enabled("cuda", False)
        torch.clear_autocast_cache()


def decide(case, drawn, mix, low):
    floats = iter(mix)
    with FakeTensorMode(), torch.no_grad():
        xs = [None if d is None else empty(d, next(floats) if d.is_floating_point() else None) for d in drawn]
        return under(low, lambda: OTHER.get(case.op, case.fn)(*xs, **case.args))


def of_modules():
    """Those of every module, its parameters in float32 and its inputs in one dtype."""
    out = []

    def note(name, module, *inputs, train=True):
        module.train(train)
        kept = module.state_dict()
        for low in LOWER:
            found = []
            for dt in (torch.float32, *LOWER):
                with FakeTensorMode(), torch.no_grad():
                    state = {k: empty(v) for k, v in kept.items()}
                    xs = [torch.empty(x, dtype=dt, device="cuda") if isinstance(x, tuple) else empty(x) for x in inputs]
                    dts = under(low, lambda: modules.plain(torch.func.functional_call(module, state, tuple(xs))))
                if dts is not None:
                    found.append({"in": [NAMES[dt]], "out": dts})
            if found:
                out.append({"name": name, "to": NAMES[low], "decisions": found})

    full, modules.case = modules.case, note
    try:
        modules.modules()
    finally:
        modules.case = full
    return out


def decisions(families):
    logging.getLogger("torch").setLevel(logging.CRITICAL)  # it logs a trace for each refusal
    out, seen = [], set()
    for cases in families:
        for case in cases():
            if (case.op, case.name) in seen or case.op in NOT:
                continue
            seen.add((case.op, case.name))
            gen = torch.Generator().manual_seed(SEED ^ zlib.crc32(f"{case.op}/{case.name}/float32".encode()))
            drawn = [spec.draw(gen) if spec is not None else None for spec in case.inputs]
            n = sum(d is not None and d.is_floating_point() for d in drawn)
            for low in LOWER:
                found = []
                for mix in mixes(n, low):
                    dts = decide(case, drawn, mix, low)
                    if dts is not None:
                        found.append({"in": [NAMES[dt] for dt in mix], "out": dts})
                if found:
                    out.append({"op": case.op, "name": case.name, "to": NAMES[low], "decisions": found})
    return out

