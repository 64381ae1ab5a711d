#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The tables of bytes on a GPU, from statements as a user writes them (the host's are in tests/training/memory_table.test.cpp),
// and the peak of a step, which `Meta` tells before it runs. [MEM-3, MEM-4, MEM-8]

#include <tests/support/suite.hpp>
#include <tests/training/byte_table.hpp>

#include <twill/memory/statistics.hpp>
#include <twill/nn/linear.hpp>
#include <twill/optim/adam.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/tensor/create.hpp>
#include <twill/training/optimiser.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

namespace memory_tables_suite { namespace {

using namespace twill;
using namespace twill::test;

/// The bytes of the table, and the peak behind them.
using BytesAndPeak = std::array<std::int64_t, 8>;

void require_bytes(const BytesAndPeak& left, const BytesAndPeak& right,
                   const std::source_location& where = std::source_location::current()) {
  for (std::size_t i = 0; i < left.size(); ++i) require_equal(left[i], right[i], where);
}

template <int Inputs, nn::Bias HasBias, class D, class R>
BytesAndPeak bytes_and_peak(D device, std::int64_t rows, R rule) {
  (void)empty_cache(device);
  reset_peak_memory_stats(device);
  const Bytes bytes = bytes_of_training<Inputs, HasBias>(device, rows, rule);
  synchronize(device);
  BytesAndPeak all{};
  std::copy(bytes.begin(), bytes.end(), all.begin());
  all.back() = max_memory_allocated(device);
  return all;
}

template <int Inputs, nn::Bias HasBias, class R> void require_table(std::int64_t rows, R rule, BytesAndPeak expected) {
  const BytesAndPeak here = bytes_and_peak<Inputs, HasBias>(TestedDevice{0}, rows, rule);
  expected[7] = here[7]; // the table does not tell the peak; `Meta` does
  require_bytes(here, expected);
  require_bytes(bytes_and_peak<Inputs, HasBias>(Meta{1}, rows, rule), here);
  require_equal(memory_allocated(TestedDevice{0}), std::int64_t{0});
}

void without_bias() { require_table<1, nn::Bias::no>(1, optim::Adam{}, {0, 512, 1024, 1536, 2048, 2560, 3584}); }
const Case no_bias{"training without a bias takes the bytes of the table on a GPU", &without_bias};

void with_bias() { require_table<1, nn::Bias::yes>(1024, optim::Sgd{}, {0, 1024, 5120, 9216, 9728, 10752, 10752}); }
const Case bias{"training with a bias takes the bytes of the table on a GPU", &with_bias};

void layers() { require(bytes_of_layers(TestedDevice{0}) == expected_bytes_of_layers); }
const Case rounded{"a layer on a GPU takes its weights, rounded up to 512 bytes", &layers};

void losses_keep_nothing() {
  const TestedDevice device{0};
  nn::Network<Line<1, nn::Bias::yes>, TestedDevice> model{device};
  training::Optimiser optimiser{model, optim::Sgd{}};
  const auto x = full<float, Shape<dyn, 1>>(Dims(1024, 1), 0.5F, device);
  const auto before = memory_allocated(device);
  float total = 0;
  for (int iteration = 0; iteration < 4; ++iteration) {
    {
      const auto y = model.forward(x);
      const auto loss = mean(y);
      loss.backward();
      optimiser.step();
      total += loss.item();
    }
    require_equal(memory_allocated(device), before + 2 * 512); // the gradients of weight and bias
  }
  require(total == total);
}
const Case losses{"adding up losses on a GPU keeps no graph", &losses_keep_nothing};

}} // namespace memory_tables_suite
