# SPDX-License-Identifier: Apache-2.0
"""interpolate in modes beyond nearest and bilinear, grid_sample and affine_grid: results, and gradients for a cotangent."""

import functools
import warnings

import torch
from cases import save_case
from torch.nn import functional as F

warnings.simplefilter("ignore")  # of grids of one pixel, which are meant


def make(save):
    line, image, volume = torch.randn(2, 3, 7), torch.randn(2, 3, 5, 6), torch.randn(1, 2, 3, 4, 5)
    for name, tensor in [("line", line), ("image", image), ("volume", volume)]:
        save(name, tensor)

    case = functools.partial(save_case, save)

    def resampled(name, x, **options):
        case(name, [x], lambda x: F.interpolate(x, **options))

    resampled("cubic_up", image, size=(9, 11), mode="bicubic")
    resampled("cubic_down", image, size=(3, 4), mode="bicubic")
    resampled("cubic_corners", image, size=(8, 1), mode="bicubic", align_corners=True)
    resampled("cubic_scale", image, scale_factor=(1.7, 0.6), mode="bicubic")
    resampled("cubic_antialias", image, size=(2, 9), mode="bicubic", antialias=True)
    resampled("linear_antialias", image, size=(2, 4), mode="bilinear", antialias=True)
    resampled("linear_antialias_corners", image, size=(2, 4), mode="bilinear", antialias=True, align_corners=True)
    resampled("trilinear", volume, size=(5, 2, 7), mode="trilinear")
    resampled("trilinear_corners", volume, size=(5, 2, 7), mode="trilinear", align_corners=True)
    resampled("trilinear_scale", volume, scale_factor=(1.5, 1.3, 0.5), mode="trilinear")
    resampled("linear", line, size=4, mode="linear")
    resampled("area_line", line, size=3, mode="area")
    resampled("area_image", image, size=(2, 4), mode="area")
    resampled("area_volume", volume, size=(2, 5, 3), mode="area")
    resampled("nearest_volume", volume, size=(2, 5, 7), mode="nearest")
    resampled("nearest_exact", image, size=(3, 8), mode="nearest-exact")
    resampled("nearest_exact_scale", image, scale_factor=(0.7, 1.9), mode="nearest-exact")

    grid, places = torch.rand(2, 4, 3, 2) * 4 - 2, torch.rand(1, 2, 3, 4, 3) * 4 - 2
    save("grid", grid)
    save("places", places)
    for mode in ("bilinear", "nearest"):
        for padding in ("zeros", "border", "reflection"):
            for align in (False, True):
                name = f"{mode}_{padding}_{'corners' if align else 'edges'}"
                options = dict(mode=mode, padding_mode=padding, align_corners=align)
                case(f"grid_{name}", [image, grid], lambda x, g: F.grid_sample(x, g, **options))
                case(f"volume_{name}", [volume, places], lambda x, g: F.grid_sample(x, g, **options))
    on_pixels = F.affine_grid(torch.eye(2, 3)[None].repeat(2, 1, 1), (2, 1, 5, 6), align_corners=True)
    save("on_pixels", on_pixels)
    for padding in ("zeros", "border", "reflection"):
        options = dict(padding_mode=padding, align_corners=True)
        case(f"on_pixels_{padding}", [image, on_pixels], lambda x, g: F.grid_sample(x, g, **options))
    flat, deep = torch.randn(2, 2, 3), torch.randn(1, 3, 4)
    save("flat", flat)
    save("deep", deep)
    for align in (False, True):
        end = "corners" if align else "edges"
        case(f"affine_{end}", [flat], lambda t: F.affine_grid(t, (2, 1, 4, 5), align_corners=align))
        case(f"affine_one_{end}", [flat], lambda t: F.affine_grid(t, (2, 1, 1, 3), align_corners=align))
        case(f"affine_volume_{end}", [deep], lambda t: F.affine_grid(t, (1, 1, 2, 3, 4), align_corners=align))
    for padding in ("zeros", "border", "reflection"):
        for align in (False, True):
            options = dict(mode="bicubic", padding_mode=padding, align_corners=align)
            case(f"grid_bicubic_{padding}_{'corners' if align else 'edges'}", [image, grid], lambda x, g: F.grid_sample(x, g, **options))
