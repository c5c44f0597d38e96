"""Numbers in 4 bits with scales, and random Hadamard transforms, as torchao has them on the CPU.

    git clone https://github.com/pytorch/ao && cd ao && git checkout 36027d82d1ad9949597ea16002ff4940374b1b94
    PYTHONPATH=ao:ao/test/prototype/moe_training/nvfp4_training .venv/bin/python generate.py fp4

NVFP4 is the reference of torchao's tests (nvfp4_reference.py, Transformer Engine's arithmetic) with a largest number of 2688·2^k, with which its float32 scale
for the tensor is a power of two, as amp's is. It multiplies by rounded inverses of scales, so that what lies halfway between two numbers may become
either. MXFP4 is torchao's MXTensor with ScaleCalculationMode.RCEIL.
"""

import math

import torch

from vectors import SEED, tensor

AO = "36027d82d1ad9949597ea16002ff4940374b1b94"
DTYPES = {"bfloat16": torch.bfloat16, "float32": torch.float32}


def numbers(codes):
    """The numbers of packed E2M1, the even element in the low half of a byte."""
    table = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6], dtype=torch.float64)
    table = torch.cat([table, -table])
    codes = codes.view(torch.uint8)
    return torch.stack([table[(codes & 15).long()], table[(codes >> 4).long()]], -1).flatten(-2)


def nvfp4(x, square):
    from nvfp4_reference import nvfp4_reference_quantize
    amax = x.abs().max().item()
    k = math.ceil(math.log2(amax / 2688)) if amax else 0
    q = nvfp4_reference_quantize(x, torch.tensor(math.ldexp(2688, k), dtype=torch.float32), block="16x16" if square else "1x16")
    scales = q.scales.to(torch.float64).repeat_interleave(16, 1)
    return numbers(q.codes) * scales * math.ldexp(1, k)


def mxfp4(x):
    from torchao.prototype.mx_formats.mx_tensor import ScaleCalculationMode, to_mx
    scale, codes = to_mx(x, torch.float4_e2m1fn_x2, 32, ScaleCalculationMode.RCEIL)
    scales = torch.ldexp(torch.ones((), dtype=torch.float64), scale.view(torch.uint8).to(torch.float64) - 127)
    return numbers(codes) * scales.repeat_interleave(32, -1)


def fp4():
    from nvfp4_reference import reference_rht
    gen, cases = torch.Generator().manual_seed(SEED + 4), []
    for name, dtype in DTYPES.items():
        sizes = 10 ** (torch.rand(32, 1, generator=gen, dtype=torch.float64) * 3 - 2)
        for kind, x in {"normal": torch.randn(32, 64, generator=gen, dtype=torch.float64), "lines": torch.randn(32, 64, generator=gen, dtype=torch.float64) * sizes,
                        "small": torch.randn(32, 64, generator=gen, dtype=torch.float64) * 1e-6}.items():
            x = x.to(dtype).contiguous()
            t = x.t().contiguous()
            outs = {"nv": nvfp4(x, False), "nv of columns": nvfp4(t, False).t(), "nv squares": nvfp4(x, True), "mx": mxfp4(x), "mx of columns": mxfp4(t).t()}
            if dtype == torch.bfloat16:
                outs["hadamard of columns"] = reference_rht(x, SIGNS).t()
            cases.append({"name": kind, "dtype": name, "in": tensor(x), "out": {k: tensor(v.to(dtype).contiguous()) for k, v in outs.items()}})
    return cases


# Transformer Engine's (get_wgrad_sign_vector).
SIGNS = (1, 1, 1, -1, 1, -1, -1, -1, -1, -1, -1, 1, -1, 1, -1, -1)
