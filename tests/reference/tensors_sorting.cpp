// SPDX-License-Identifier: Apache-2.0
//
// More lines of docs/reference/tensors.md, which need TBB: sorting and searching.

#include <twill/twill.hpp>

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
  { const Tensor values = unique(label); }
  { const auto [values, indices, inverse, counts] = unique_all(label); }
}
