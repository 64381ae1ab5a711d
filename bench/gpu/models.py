# SPDX-License-Identifier: Apache-2.0
"""Training steps of models in PyTorch, for bench/gpu/peers.py: what bench/gpu/resnet50.bench.cu and bench/gpu/gpt2.bench.cu do,
written as its users would for speed. tests/pytorch compares the numbers."""

import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    """One layer of GPT-2, its attention by PyTorch's fused operation."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.c_attn, self.c_proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(approximate="tanh"), nn.Linear(4 * width, width))

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2)
                   for part in self.c_attn(self.ln_1(x)).split(width, dim=2))
        seen = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.c_proj(seen.transpose(1, 2).reshape(batch, length, width))
        return x + self.mlp(self.ln_2(x))


class Gpt2(nn.Module):
    """124 million weights; the head is the table of tokens."""

    def __init__(self, layers=12, heads=12, width=768, vocabulary=50257, context=1024):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocabulary, width), nn.Embedding(context, width)
        self.h = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.ln_f = nn.LayerNorm(width)
        nn.init.normal_(self.wte.weight, std=0.02)
        nn.init.normal_(self.wpe.weight, std=0.02)

    def forward(self, tokens):
        x = self.wte(tokens) + self.wpe.weight[: tokens.shape[1]]
        for block in self.h:
            x = block(x)
        return F.linear(self.ln_f(x), self.wte.weight)


def model_step(report, workload, size, model, loss, x, y):
    """A step with products and convolutions in bfloat16: eager, and compiled, each with its peak of memory."""
    optimiser = torch.optim.SGD(model.parameters(), lr=0.01)

    def forward(x, y):
        with torch.autocast("cuda", torch.bfloat16):
            return loss(model(x), y)

    def step(compute):
        optimiser.zero_grad(set_to_none=True)
        compute(x, y).backward()
        optimiser.step()
    compiled = torch.compile(forward, dynamic=False)
    for name, compute in {"pytorch": forward, "torch_compile": compiled}.items():
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        report.compare(workload, size, {name: lambda: step(compute)})
        report.peak(f"{workload}/{name}/{size}", torch.cuda.max_memory_allocated())


def resnet50(report):
    import torchvision

    like = {"device": "cuda", "memory_format": torch.channels_last}
    model = torchvision.models.resnet50(weights=None).to(**like)
    x, labels = torch.randn(256, 3, 224, 224).to(**like), torch.arange(256, device="cuda") * 7919 % 1000
    model_step(report, "gpu_resnet50_step_bf16", 256, model, F.cross_entropy, x, labels)


def gpt2(report):
    tokens = torch.randint(0, 50257, (16, 1025), device="cuda")
    model_step(report, "gpu_gpt2_step_bf16", 16, Gpt2().cuda(),
               lambda logits, y: F.cross_entropy(logits.reshape(-1, logits.shape[-1]), y.reshape(-1)),
               tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous())
