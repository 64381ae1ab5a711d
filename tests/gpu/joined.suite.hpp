#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Several launches of one elementwise program as one kernel: the bits are those of launches of their own, for every size,
// for more of them than fit into one kernel, and for grids that have to be cut.

#include <tests/support/runtime_calls.hpp>
#include <tests/support/suite.hpp>
#include <tests/support/test_seed.hpp>

#include <twill/device/gpu/copy.hpp>
#include <twill/kernel/gpu/joined.hpp>
#include <twill/kernel/gpu/launch.hpp>
#include <twill/memory/buffer.hpp>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace twill::test { namespace joined_suite {

using D = TestedDevice;
using kernel::Access, kernel::In, kernel::Operand, kernel::Out, kernel::Primitive, kernel::Step;

/// y = x * rate + y, the rate being one number for all.
using Program =
    kernel::Program<In<float, Access::contiguous>, In<float, Access::uniform>, In<float, Access::contiguous>,
                    Step<Primitive::multiply, 0, 1>, Step<Primitive::add, 3, 2>, Out<float, 4>>;
constexpr int operand_count = 4;

/// What each launch works on: x, y and the rate, one behind another in one buffer, y not aligned.
struct Sets {
  explicit Sets(const std::vector<std::int64_t>& given) : sizes{given} {
    std::size_t floats = 1;
    for (std::int64_t size : sizes) floats += 2 * static_cast<std::size_t>(size) + 3;
    std::mt19937 random{test_seed()};
    std::uniform_real_distribution<float> uniform{-1, 1};
    values.resize(floats);
    for (float& value : values) value = uniform(random);
    buffer = memory::Buffer<D>(D{0}, floats * sizeof(float));
    reset();
  }
  void reset() const {
    copy_bytes(D{0}, buffer.data(), Cpu{0}, values.data(), values.size() * sizeof(float), CopyOptions{});
  }
  [[nodiscard]] std::vector<float> read() const {
    std::vector<float> result(values.size());
    copy_bytes(Cpu{0}, result.data(), D{0}, buffer.data(), values.size() * sizeof(float), CopyOptions{});
    return result;
  }
  /// The operands of all launches.
  [[nodiscard]] std::vector<Operand> operands() const {
    auto* const rate = static_cast<float*>(buffer.data());
    float* next = rate + 1;
    std::vector<Operand> all{};
    for (std::int64_t size : sizes) {
      float* const x = next;
      float* const y = x + size + 1;
      next = y + size + 2;
      for (float* data : {x, rate, y, y}) {
        Operand operand{};
        operand.data = data;
        operand.strides[0] = data == rate ? 0 : 1;
        all.push_back(operand);
      }
    }
    return all;
  }

  std::vector<std::int64_t> sizes;
  std::vector<float> values{};
  memory::Buffer<D> buffer{};
};

inline void check(const std::vector<std::int64_t>& sizes, std::int64_t most, long kernels) {
  const Sets sets{sizes};
  const std::vector<Operand> operands = sets.operands();
  std::vector<kernel::Grid> grids{};
  for (std::int64_t size : sizes) grids.emplace_back(size);
  launch(D{0}, [&](const auto& queue) {
    for (std::size_t i = 0; i < grids.size(); ++i) run(Program{}, queue, grids[i], operands.data() + i * operand_count);
  });
  const std::vector<float> expected = sets.read();
  require(expected != sets.values);
  sets.reset();
  std::vector<kernel::JoinedLaunch> launches{};
  for (std::size_t i = 0; i < grids.size(); ++i) launches.push_back({&grids[i], operands.data() + i * operand_count});
  const long before = runtime_calls<D>({"enqueue"});
  launch(D{0}, [&](const auto& queue) { run_joined(Program{}, queue, launches.data(), launches.size(), most); });
  if (kernels > 0 && HasEmulatedDriver<D>) require_equal(runtime_calls<D>({"enqueue"}) - before, kernels);
  require_equal(sets.read(), expected);
}

inline void sizes() {
  check({1, 3, 4, 5, 127, 128, 1009, 4096, 30011}, kernel::gpu::most_elements, 1);
  check({0, 7, 0, 0, 13}, kernel::gpu::most_elements, 1);
}
const Case sizes_case{"joined launches give the bits of launches of their own", &sizes};

inline void many() {
  std::vector<std::int64_t> sizes{};
  for (std::int64_t size = 1; size <= 70; ++size) sizes.push_back(size);
  check(sizes, kernel::gpu::most_elements, 0);
}
const Case many_case{"more launches than fit into one kernel take several", &many};

inline void pieces() { check({1000, 5, 3001}, 1500, 1); }
const Case pieces_case{"a joined launch too large for its offsets is cut", &pieces};

}} // namespace twill::test::joined_suite
