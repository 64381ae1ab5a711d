#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The state dictionaries of torchvision's ResNets: a line for each entry, name and extents. Run from the root of the tree."""

import torchvision

for name in ("resnet18", "resnet50"):
    model = getattr(torchvision.models, name)()
    with open(f"tests/golden/resnet/{name}.txt", "w") as file:
        for key, value in model.state_dict().items():
            print(key, *value.shape, file=file)
