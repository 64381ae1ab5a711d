#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/pipeline/run/measure.hpp.

#include <twill/parallel/pipeline/run/measure.hpp>

namespace twill::inline v0::pipeline::detail::inline TWILL_ISA {

TWILL_BODY double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : 0.5 * (values[half - 1] + values[half]);
}

} // namespace twill::inline v0::pipeline::detail::inline TWILL_ISA
