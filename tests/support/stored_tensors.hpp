#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Tensors of a state dictionary with random elements, and whether two are the same. For tests of files.

#include <twill/nn/state_dict.hpp>

#include <algorithm>
#include <cstddef>
#include <random>

namespace twill::test {

/// Any bits for any element, but for booleans.
[[nodiscard]] inline nn::StoredTensor random_tensor(DType dtype, const Dims& shape, std::mt19937_64& random) {
  auto [tensor, data] = nn::StoredTensor::make(dtype, shape);
  for (std::size_t i = 0; i < tensor.bytes.size(); ++i)
    data[i] = static_cast<std::byte>(dtype == DType::boolean ? random() % 2 : random());
  return tensor;
}

/// Whether types, shapes and bits are the same.
[[nodiscard]] inline bool same(const nn::StoredTensor& a, const nn::StoredTensor& b) {
  return a.dtype == b.dtype && a.shape == b.shape &&
         std::equal(a.bytes.begin(), a.bytes.end(), b.bytes.begin(), b.bytes.end());
}

} // namespace twill::test
