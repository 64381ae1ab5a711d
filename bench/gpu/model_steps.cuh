#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Training steps of models: their losses on a small batch are compared with those that the host computes in float32 from the
// same seed, then steps on the large batch are timed, and one is traced node by node. A traced step is not captured. Read
// next: bench/gpu/model_losses.hpp, the losses of the host.

#include "bench/gpu/programs.cuh"

#include <twill/profile/trace.hpp>
#include <twill/profile/trace_report.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// Where the time of one run of `step` goes, and the most memory that was used since the last reset.
template <class Step>
void explain_step(Report& report, std::string_view workload, std::string_view size, const Step& step) {
  const std::int64_t peak = twill::max_memory_allocated(twill::Cuda{0});
  const twill::profile::Trace trace = twill::profile::trace([&] {
    step();
    require(cudaStreamSynchronize(report.stream()), "cudaStreamSynchronize");
  });
  std::vector<NodeTimes> nodes{};
  for (const twill::profile::NodeTotal& total : twill::profile::node_totals(trace))
    nodes.push_back({total.operation, (total.is_gradient ? "gradient of " : "") + total.layer,
                     std::string{twill::name(total.dtype)}, total.launches, 1e9 * total.seconds, total.bytes,
                     total.flops});
  report.explain(workload, size, peak, nodes);
}

/// Whether losses are near those of float32 on the host: each step multiplies what rounding does.
inline bool are_losses(const std::vector<float>& found, const std::vector<float>& expected, float tolerance) {
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (!(std::abs(found[i] - expected[i]) <= tolerance * static_cast<float>(i + 1) * std::abs(expected[i])))
      return false;
  return true;
}

} // namespace bench
