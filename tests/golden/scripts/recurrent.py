# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers, whole batches and packed ones, with first states, and the gradients of the sum of squares of all results."""

import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


def run(save, name, layer, x, state=None, lengths=None, total_length=None):
    for key, parameter in layer.named_parameters():
        save(f"{name}_{key}", parameter)
    if lengths is not None:
        packed = pack_padded_sequence(x, lengths, batch_first=layer.batch_first, enforce_sorted=False)
        output, last = layer(packed, state)
        output, _ = pad_packed_sequence(output, batch_first=layer.batch_first, total_length=total_length)
    else:
        output, last = layer(x, state)
    last = last if isinstance(last, tuple) else (last,)
    y = torch.cat([part.reshape(-1) for part in (output, *last)])
    save(f"{name}_y", y)
    layer.zero_grad()
    (y * y).sum().backward()
    for key, parameter in layer.named_parameters():
        save(f"{name}_grad_{key}", parameter.grad)


def make(save):
    x = torch.randn(5, 3, 4)
    lengths = torch.tensor([4, 1, 5])
    hidden = torch.randn(4, 3, 3)
    for key, array in (("x", x), ("lengths", lengths), ("hidden", hidden)):
        save(key, array)
    run(save, "lstm", torch.nn.LSTM(4, 3), x, lengths=lengths)
    rows = x.transpose(0, 1)
    gru = torch.nn.GRU(4, 3, bidirectional=True, batch_first=True)
    run(save, "gru", gru, rows, lengths=lengths, total_length=7)
    run(save, "rnn", torch.nn.RNN(4, 3, num_layers=2, bidirectional=True), x, hidden)
    run(save, "relu", torch.nn.RNN(4, 3, nonlinearity="relu", bias=False), x)
    layer = torch.nn.LSTM(4, 3, num_layers=2, proj_size=2, bidirectional=True)
    state = torch.randn(4, 3, 2), hidden
    save("projected_hidden", state[0])
    run(save, "projected", layer, x, state, lengths=lengths)
