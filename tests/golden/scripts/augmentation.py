# SPDX-License-Identifier: Apache-2.0
"""torchvision's transforms of a picture and of a batch, with given parameters."""

import torch

try:
    from torchvision.transforms import InterpolationMode, functional, v2
except ImportError:
    functional = None


def make(save):
    if functional is None:
        print("skipped: torchvision is not installed")
        return
    torch.set_default_dtype(torch.float32)  # in which images are blended
    picture = torch.randint(0, 256, (3, 7, 6), dtype=torch.uint8)
    picture[:, 0, 0] = torch.tensor([90, 90, 90])  # grey
    picture[:, 0, 1] = torch.tensor([0, 0, 0])
    picture[:, 0, 2] = torch.tensor([255, 0, 0])
    picture[:, 0, 3] = torch.tensor([200, 200, 10])  # two largest channels
    pictures = {"bytes": picture, "floats": picture.to(torch.float32) / 255}
    save("picture", picture)
    for name, image in pictures.items():
        adjust = functional
        save(f"brightness_{name}", torch.stack([adjust.adjust_brightness(image, f) for f in (0.6, 1.7)]))
        save(f"contrast_{name}", torch.stack([adjust.adjust_contrast(image, f) for f in (0.5, 1.8)]))
        save(f"saturation_{name}", torch.stack([adjust.adjust_saturation(image, f) for f in (0.2, 1.9)]))
        save(f"hue_{name}", torch.stack([adjust.adjust_hue(image, f) for f in (0.1, -0.37)]))
        save(f"grey_contrast_{name}", adjust.adjust_contrast(image[:1], 0.5))
        fill = [10.0, 20.0, 30.0] if name == "bytes" else [0.1, 0.5, 0.9]
        for mode in InterpolationMode.NEAREST, InterpolationMode.BILINEAR:
            turned = [functional.rotate(image, a, mode, fill=fill) for a in (30.0, -75.5, 161.0)]
            save(f"rotated_{mode.value}_{name}", torch.stack(turned))
        save(f"resized_crop_{name}", functional.resized_crop(image, 1, 2, 4, 3, [5, 7], antialias=False))
    save("right_angle", functional.rotate(pictures["floats"], 90, InterpolationMode.BILINEAR, fill=[0.0]))

    images = torch.rand(4, 2, 5, 6, dtype=torch.float32)
    labels = torch.tensor([2, 0, 3, 3])
    save("images", images)
    save("labels", labels)
    mix = {"labels": labels, "batch_size": 4, "lam": 0.3}
    up = v2.MixUp(num_classes=4)
    save("mixup_images", up.transform(images, mix))
    save("mixup_labels", up.transform(labels, mix))
    cut = {"labels": labels, "batch_size": 4, "box": (1, 0, 5, 3), "lam_adjusted": 1 - 12 / 30}
    mixed = v2.CutMix(num_classes=4)
    save("cutmix_images", mixed.transform(images, cut))
    save("cutmix_labels", mixed.transform(labels, cut))
    torch.set_default_dtype(torch.float64)
