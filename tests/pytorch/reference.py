#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains a model for five steps with PyTorch and leaves everything that a twill program compares itself with.

    reference.py resnet18|resnet50|gpt2 FOLDER

Files: weights (before), batch (input, target), first (logits, loss, gradients of the first step), after (weights and buffers
after five steps of SGD). Ends with 4 where PyTorch or torchvision is not installed.
"""

import json
import pathlib
import struct
import sys

try:
    import torch
    from torch import nn
    from torch.nn import functional
except ImportError:
    print("PyTorch is not installed")
    sys.exit(4)

STEPS = 5
RATE = 0.01
MOMENTUM = 0.9
NAMES = {torch.float32: "F32", torch.float64: "F64", torch.int64: "I64"}


def save(path, tensors):
    """Writes a safetensors file."""
    header, position, bodies = {}, 0, []
    for name, tensor in tensors.items():
        body = tensor.detach().contiguous().numpy().tobytes()
        header[name] = {
            "dtype": NAMES[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [position, position + len(body)],
        }
        position += len(body)
        bodies.append(body)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(bodies))


def resnet(name):
    try:
        import torchvision
    except ImportError:
        print("torchvision is not installed")
        sys.exit(4)
    model = getattr(torchvision.models, name)(weights=None)
    # In training, gradients behind fifty batch norms of few values are ill-conditioned: in float32 PyTorch's own are 10 to 20 %
    # away from those it computes in float64. So both compute in float64.
    model = model.double()
    # Torchvision starts every scale at one; with others a mistake in any of them shows.
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            nn.init.uniform_(module.weight, 0.5, 1.5)
            nn.init.uniform_(module.bias, -0.2, 0.2)
    return model, torch.randn(8, 3, 64, 64, dtype=torch.float64), torch.randint(0, 1000, (8,))


class Product(nn.Module):
    """A linear layer whose weight lies inputs x outputs, as GPT-2's published weights do."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(inputs, outputs) * 0.02)
        self.bias = nn.Parameter(torch.randn(outputs) * 0.02)

    def forward(self, x):
        return x @ self.weight + self.bias


class Block(nn.Module):
    """One layer of GPT-2, with the names of its published weights."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.ln_1 = nn.LayerNorm(width)
        self.attn = nn.ModuleDict({"c_attn": Product(width, 3 * width), "c_proj": Product(width, width)})
        self.ln_2 = nn.LayerNorm(width)
        self.mlp = nn.ModuleDict({"c_fc": Product(width, 4 * width), "c_proj": Product(4 * width, width)})

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.attn["c_attn"](self.ln_1(x)).split(width, dim=2)
        q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2) for part in parts)
        scores = q @ k.transpose(2, 3) / (width // self.heads) ** 0.5
        hidden = torch.ones(length, length, dtype=torch.bool).triu(1)
        y = scores.masked_fill(hidden, float("-inf")).softmax(-1) @ v
        x = x + self.attn["c_proj"](y.transpose(1, 2).reshape(batch, length, width))
        return x + self.mlp["c_proj"](functional.gelu(self.mlp["c_fc"](self.ln_2(x)), approximate="tanh"))


class Gpt2(nn.Module):
    def __init__(self, layers=12, heads=12, width=768, vocabulary=50257, context=1024):
        super().__init__()
        self.wte = nn.Embedding(vocabulary, width)
        self.wpe = nn.Embedding(context, width)
        self.h = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.ln_f = nn.LayerNorm(width)
        nn.init.normal_(self.wte.weight, std=0.02)
        nn.init.normal_(self.wpe.weight, std=0.02)

    def forward(self, tokens):
        x = self.wte(tokens) + self.wpe.weight[: tokens.shape[1]]
        for block in self.h:
            x = block(x)
        return self.ln_f(x) @ self.wte.weight.T


def gpt2():
    tokens = torch.randint(0, 50257, (1, 65))
    return Gpt2(), tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous()


def main():
    name, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(0)
    model, x, target = gpt2() if name == "gpt2" else resnet(name)
    model.train()
    save(folder / "weights.safetensors", model.state_dict())
    save(folder / "batch.safetensors", {"input": x, "target": target})
    optimiser = torch.optim.SGD(model.parameters(), lr=RATE, momentum=MOMENTUM)
    for step in range(STEPS):
        optimiser.zero_grad()
        logits = model(x)
        loss = functional.cross_entropy(logits.reshape(-1, logits.shape[-1]), target.reshape(-1))
        loss.backward()
        if step == 0:
            first = {"logits": logits, "loss": loss.reshape(1)}
            first.update({"gradient." + key: value.grad for key, value in model.named_parameters()})
            save(folder / "first.safetensors", first)
        optimiser.step()
    save(folder / "after.safetensors", model.state_dict())


if __name__ == "__main__":
    main()
