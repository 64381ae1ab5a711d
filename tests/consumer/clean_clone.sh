#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# clean_clone.sh <twill>: git ignores the build folder and the plot that README's first command leaves where it is started.
set -euo pipefail
cd "$1"
git rev-parse --git-dir >/dev/null 2>&1 || { echo "skipped: no clone, or no git"; exit 4; }
plot=$(sed -n 's/.*\.plot = "\([^"]*\)".*/\1/p' examples/01_fashion_mnist.cpp)
[[ -n $plot ]] || { echo "examples/01_fashion_mnist.cpp names no plot"; exit 1; }
for path in build/release "$plot"; do
  git check-ignore -q "$path" || { echo "README's commands leave $path, which git does not ignore"; exit 1; }
done
