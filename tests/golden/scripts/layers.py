# SPDX-License-Identifier: Apache-2.0
"""Results of layers with all their weights by name: <case>_<weight>, <case>_y; and of functions of images."""

import torch
from torch import nn
from torch.nn import functional as F


def make(save):
    x, memory = torch.randn(2, 3, 4), torch.randn(2, 5, 4)
    image, sequence = torch.randn(2, 4, 5, 6), torch.randn(2, 4, 7)
    key, value = torch.randn(2, 5, 3), torch.randn(2, 5, 6)
    rows, state, cell = torch.randn(3, 4), torch.randn(3, 2), torch.randn(3, 2)
    for name, tensor in [("x", x), ("memory", memory), ("image", image), ("sequence", sequence), ("key", key),
                         ("value", value), ("rows", rows), ("state", state), ("cell", cell)]:
        save(name, tensor)

    def case(name, module, run):
        with torch.no_grad():
            for parameter in module.parameters():  # no zeros, no ones
                parameter.copy_(torch.randn(parameter.shape) * 0.5)
            for weight, parameter in module.state_dict().items():
                save(f"{name}_{weight}", parameter)
            results = run(module)
            for end, result in zip(("y", "z"), results if isinstance(results, tuple) else (results,)):
                save(f"{name}_{end}", result)

    def encoder(**options):
        return nn.TransformerEncoderLayer(4, 2, 6, 0.0, batch_first=True, **options)

    def decoder(**options):
        return nn.TransformerDecoderLayer(4, 2, 6, 0.0, batch_first=True, **options)

    later = nn.Transformer.generate_square_subsequent_mask(3)
    case("encoder", encoder(), lambda m: m(x))
    case("encoder_first", encoder(norm_first=True, activation="gelu"), lambda m: m(x, src_mask=later))
    case("decoder", decoder(), lambda m: m(x, memory, tgt_mask=later))
    case("decoder_first", decoder(norm_first=True), lambda m: m(x, memory))
    case("heads", nn.MultiheadAttention(4, 2, kdim=3, vdim=6, batch_first=True), lambda m: m(x, key, value))
    case("heads_of_one", nn.MultiheadAttention(4, 2, batch_first=True), lambda m: m(x, memory, memory))
    case("rnn", nn.RNNCell(4, 2), lambda m: m(rows, state))
    case("lstm", nn.LSTMCell(4, 2), lambda m: m(rows, (state, cell)))
    case("gru", nn.GRUCell(4, 2, bias=False), lambda m: m(rows, state))
    case("prelu", nn.PReLU(4), lambda m: m(image))
    case("instance", nn.InstanceNorm2d(4, affine=True), lambda m: m(image))
    case("instance_plain", nn.InstanceNorm1d(4), lambda m: m(sequence))
    for mode in ("zeros", "reflect", "replicate", "circular"):
        case(f"conv_{mode}", nn.Conv2d(4, 2, (3, 2), padding=(2, 1), stride=2, padding_mode=mode), lambda m: m(image))
        case(f"same_{mode}", nn.Conv1d(4, 2, 4, padding="same", dilation=2, padding_mode=mode, bias=False),
             lambda m: m(sequence))
    index = torch.tensor([[1, 0, 1], [3, 3, 1], [1, 1, 1], [2, 0, 4]])
    shares = torch.randn(4, 3)
    save("index", index)
    save("shares", shares)
    for mode in ("sum", "mean", "max"):
        case(f"bag_{mode}", nn.EmbeddingBag(5, 3, mode=mode), lambda m: m(index))
        case(f"padded_bag_{mode}", nn.EmbeddingBag(5, 3, mode=mode, padding_idx=1), lambda m: m(index))
    case("weighted_bag", nn.EmbeddingBag(5, 3, mode="sum"), lambda m: m(index, per_sample_weights=shares))
    save("unfold", F.unfold(image, (3, 2), dilation=(1, 2), padding=(1, 2), stride=(2, 1)))
    patches = torch.randn(2, 12, 6)
    save("patches", patches)
    save("fold", F.fold(patches, (5, 4), (3, 2), stride=2, padding=(1, 0)))
    save("pixel_shuffle", F.pixel_shuffle(image, 2))
    save("pixel_unshuffle", F.pixel_unshuffle(image[:, :, :4], 2))
    save("response", F.local_response_norm(image * 9, 3, alpha=0.5))
    save("response_of_two", F.local_response_norm(sequence, 2, alpha=0.3, beta=0.5, k=2.0))
    save("glu", F.glu(image, 1))
    save("softmin", F.softmin(image, 1))
    save("replicate", F.pad(sequence, (2, 3), mode="replicate"))
    save("circular", F.pad(sequence, (2, 3), mode="circular"))
    weights = nn.MultiheadAttention(4, 2, batch_first=True)
    case("each_head", weights, lambda m: m(x, memory, memory, average_attn_weights=False))
    volume = torch.randn(2, 4, 3, 5, 4)
    save("volume", volume)
    for mode in ("zeros", "reflect", "replicate", "circular"):
        case(f"volume_{mode}", nn.Conv3d(4, 2, (2, 3, 2), padding=(1, 2, 1), stride=(1, 2, 1), padding_mode=mode), lambda m: m(volume))
        case(f"kept_{mode}", nn.Conv3d(4, 2, (2, 3, 1), padding="same", padding_mode=mode, bias=False), lambda m: m(volume))
