"""Writes the vectors that the tests named TestTorch… compare with.

    cd amp/testdata/torch
    python3 -m venv .venv && .venv/bin/pip install torch numpy
    .venv/bin/python generate.py [name ...]

Made with torch 2.15.0 on the CPU (x86-64 with AVX-512, one thread), seed SEED of vectors.py. The float64 numbers do not depend on the
machine beyond their last bits; torch's own numbers in the short dtypes do, a little. The tests need neither torch nor Python.
"""

import gzip
import json
import os
import sys

import torch

import decisions
import empties
import extremes
import fp4
import fp8
import modules
import ops_attention
import ops_conv
import ops_dense
import ops_index
import ops_loss
import ops_math
import ops_matmul
import ops_norm
import ops_reduce
import ops_shape
import ops_spectral
import programs
import promotions
import specials
import trajectories
import vectors

FAMILIES = {m.__name__.removeprefix("ops_"): m.cases for m in
            (ops_math, ops_reduce, ops_shape, ops_index, ops_matmul, ops_norm, ops_loss, ops_conv, ops_attention, ops_dense, ops_spectral)}


def write(path, value):
    body = json.dumps(value, separators=(",", ":")).encode()
    with open(path, "wb") as f:
        f.write(gzip.compress(body, 9, mtime=0))
    print(f"{path}: {os.path.getsize(path)} bytes, {len(value.get('cases', []))} cases", flush=True)


def main():
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    for name in sys.argv[1:] or [*FAMILIES, "decisions", "empties", "extremes", "fp4", "fp8", "modules", "programs", "promotions", "specials", "trajectories"]:
        if name == "trajectories":
            write("trajectories.json.gz", {"torch": torch.__version__, "seed": vectors.SEED} | trajectories.trajectories())
            continue
        if name == "decisions":
            write("decisions.json.gz", {"torch": torch.__version__, "cases": decisions.decisions(FAMILIES.values()), "modules": decisions.of_modules()})
            continue
        if name == "empties":
            write("empties.json.gz", {"torch": torch.__version__, "cases": empties.empties(FAMILIES.values())})
            continue
        if name == "extremes":
            write("extremes.json.gz", {"torch": torch.__version__, "cases": extremes.extremes(FAMILIES.values())})
            continue
        if name == "fp4":
            write("fp4.json.gz", {"torch": torch.__version__, "torchao": fp4.AO, "seed": vectors.SEED, "cases": fp4.fp4()})
            continue
        if name == "fp8":
            write("fp8.json.gz", {"torch": torch.__version__, "seed": vectors.SEED, "cases": fp8.roundings(), "linears": fp8.linears()})
            continue
        if name == "programs":
            write("programs.json.gz", {"torch": torch.__version__, "cases": programs.programs(100, 20)})
            continue
        if name == "promotions":
            write("promotions.json.gz", {"torch": torch.__version__, "cases": promotions.promotions()})
            continue
        if name == "modules":
            write("modules.json.gz", {"torch": torch.__version__, "seed": vectors.SEED, "cases": modules.modules()})
            continue
        if name == "specials":
            write("specials.json.gz", {"torch": torch.__version__, "cases": specials.specials()})
            continue
        seen, records = set(), []
        for case in FAMILIES[name]():
            for dtype in case.dtypes:
                key = (case.op, case.name, dtype)
                if key in seen:
                    raise ValueError(f"two cases {key}")
                seen.add(key)
                try:
                    records.append(vectors.vectors(case, dtype))
                except Exception as e:
                    raise RuntimeError(f"case {key}: {e}") from e
        write(name + ".json.gz", {"torch": torch.__version__, "seed": vectors.SEED, "cases": records})


if __name__ == "__main__":
    main()
