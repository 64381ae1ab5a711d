// SPDX-License-Identifier: Apache-2.0
//
// More lines of docs/reference/tensors.md, which need TBB: sorting and searching.

#include <twill/all.hpp>

using namespace twill;

// clang-format off

// Sorting and searching: along the last axis unless another is named.
void sorting(const Tensor<float, Cpu, Shape<dyn, 4>>& x, const Tensor<float, Cpu, Shape<dyn>>& v, const Tensor<std::int64_t, Cpu, Shape<dyn>>& label) {
  { const Tensor sorted = sort(x); }
  { const Tensor order = argsort(x, descending); }
  { const Tensor sorted = sort(v, ascending); }
  { const Tensor sorted = sort(x, in_parallel); }
  { const Tensor sorted = sort(x, in_sequence); }
  { const auto [values, indices] = topk(x, 3); }
  { const auto [value, index] = kthvalue(x, 2); }
  { const Tensor places = searchsorted(v, v); }
  { const Tensor places = searchsorted(v, v, side_left); }
  { const Tensor places = searchsorted(v, v, side_right); }
  { const Tensor counts = bincount(label); }
  { const auto [counts, edges] = histogram(v, 10); }
  // PyTorch: `bucketize`; bins have their lower edges, where it gives them the upper ones.
  { const Tensor bins = digitize(v, v); }
  { const Tensor heights = interp(v, v, v, {.left = 0}); }
  // PyTorch: `conv1d` of a flipped kernel.
  { const Tensor sums = convolve(v, v, ConvolveMode::same); }
  { const Tensor is_member = isin(label, label); }
  { const Tensor common = intersect1d(label, label); }
  { const Tensor both = union1d(label, label); }
  { const Tensor others = setdiff1d(label, label); }
  { const Tensor in_one = setxor1d(label, label); }
  { const Tensor partly = partition(v, 3); }
  { const Tensor places = argpartition(v, 3); }
  { const Tensor values = unique(label); }
  { const auto [values, indices, inverse, counts] = unique_all(label); }
}
