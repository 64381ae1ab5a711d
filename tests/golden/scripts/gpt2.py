# SPDX-License-Identifier: Apache-2.0
"""A tiny GPT-2: logits, loss, gradients, and the losses of five steps of SGD. Names of weights are the published model's."""

import torch
from torch.nn import functional as F

VOCABULARY, POSITIONS, WIDTH, LAYERS, HEADS, TOKENS = 13, 9, 8, 2, 2, 7


def forward(w, tokens):
    def linear(x, name):
        return x @ w[name + ".weight"] + w[name + ".bias"]

    def norm(x, name):
        return F.layer_norm(x, (WIDTH,), w[name + ".weight"], w[name + ".bias"])

    def apart(x):
        return x.view(*x.shape[:2], HEADS, WIDTH // HEADS).transpose(1, 2)

    count = tokens.shape[1]
    causal = torch.tril(torch.ones(count, count, dtype=torch.bool))
    x = w["wte.weight"][tokens] + w["wpe.weight"][:count]
    for i in range(LAYERS):
        h = f"h.{i}."
        q, k, v = (apart(part) for part in linear(norm(x, h + "ln_1"), h + "attn.c_attn").split(WIDTH, -1))
        scores = (q @ k.transpose(-2, -1) / (WIDTH // HEADS) ** 0.5).masked_fill(~causal, float("-inf"))
        seen = (F.softmax(scores, -1) @ v).transpose(1, 2).reshape(x.shape)
        x = x + linear(seen, h + "attn.c_proj")
        x = x + linear(gelu(linear(norm(x, h + "ln_2"), h + "mlp.c_fc")), h + "mlp.c_proj")
    return norm(x, "ln_f") @ w["wte.weight"].T


def gelu(x):
    return F.gelu(x, approximate="tanh")


def make(save):
    shapes = {"wte.weight": (VOCABULARY, WIDTH), "wpe.weight": (POSITIONS, WIDTH)}
    for i in range(LAYERS):
        h = f"h.{i}."
        for name, shape in (
            ("ln_1.weight", (WIDTH,)), ("ln_1.bias", (WIDTH,)),
            ("attn.c_attn.weight", (WIDTH, 3 * WIDTH)), ("attn.c_attn.bias", (3 * WIDTH,)),
            ("attn.c_proj.weight", (WIDTH, WIDTH)), ("attn.c_proj.bias", (WIDTH,)),
            ("ln_2.weight", (WIDTH,)), ("ln_2.bias", (WIDTH,)),
            ("mlp.c_fc.weight", (WIDTH, 4 * WIDTH)), ("mlp.c_fc.bias", (4 * WIDTH,)),
            ("mlp.c_proj.weight", (4 * WIDTH, WIDTH)), ("mlp.c_proj.bias", (WIDTH,)),
        ):
            shapes[h + name] = shape
    shapes["ln_f.weight"] = shapes["ln_f.bias"] = (WIDTH,)
    w = {name: (torch.randn(shape) * 0.3).requires_grad_(True) for name, shape in shapes.items()}
    tokens = torch.randint(0, VOCABULARY, (3, TOKENS))
    labels = torch.randint(0, VOCABULARY, (3, TOKENS))
    save("tokens", tokens)
    save("labels", labels)
    for name, value in w.items():
        save(name, value)
    logits = forward(w, tokens)
    save("logits", logits)
    losses = []
    for step in range(5):
        loss = F.cross_entropy(forward(w, tokens).flatten(0, 1), labels.flatten())
        losses.append(loss.item())
        gradients = torch.autograd.grad(loss, w.values())
        if step == 0:
            for name, gradient in zip(w, gradients):
                save("grad_" + name, gradient)
        with torch.no_grad():
            for value, gradient in zip(w.values(), gradients):
                value -= 0.5 * gradient
    save("losses", torch.tensor(losses))
    save("trained_wte.weight", w["wte.weight"])
