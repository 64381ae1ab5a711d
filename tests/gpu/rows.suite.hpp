#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Row programs on a GPU: softmax, norms, losses and sums of rows agree with a host device, whatever owns a row; runs repeat
// bit for bit, results may lie over operands, and recorded work does the same.

#include <tests/support/suite.hpp>

#include <twill/device/gpu/copy.hpp>
#include <twill/expr.hpp>
#include <twill/kernel/gpu/launch.hpp>
#include <twill/kernel/launch.hpp>
#include <twill/tensor/create.hpp>
#include <twill/tensor/random.hpp>

#include <cmath>
#include <cstdint>
#include <vector>

namespace rows_suite { namespace {

using namespace twill;
using test::Case;
using test::require;
using test::require_close;
using test::require_equal;
using test::TestedDevice;

constexpr std::int64_t lengths[] = {1, 2, 31, 33, 128, 1000, 1001, 4096, 5000, 20'000, 70'001};

template <class T> std::vector<T> elements_of(const auto& tensor) {
  const auto here = tensor.to(Cpu{0}).clone();
  synchronize(Cpu{0});
  return {here.data(), here.data() + here.elements()};
}

/// Both have the same elements but for rounding.
template <class T>
void require_near(const auto& ours, const auto& theirs, double tolerance,
                  const std::source_location& where = std::source_location::current()) {
  const std::vector<T> a = elements_of<T>(ours), b = elements_of<T>(theirs);
  require_equal(a.size(), b.size(), where);
  for (std::size_t i = 0; i < a.size(); ++i)
    require_close(static_cast<double>(a[i]), static_cast<double>(b[i]), tolerance, tolerance, where);
}

using Matrix = Tensor<float, Cpu, Shape<dyn, dyn>>;

void softmax_is_the_hosts() {
  for (const std::int64_t full : lengths) {
    const std::int64_t length = test::sized(full);
    const Matrix x = randn<float, Shape<dyn, dyn>>(Dims(length > 5000 ? 2 : 37, length));
    const auto there = x.to(TestedDevice{0});
    require_near<float>(eval(softmax(there)), eval(softmax(x)), 1e-6);
    require_near<float>(eval(log_softmax(there)), eval(log_softmax(x)), 2e-6);
  }
}

/// Rows that fill the 48 KiB which any launch may ask for, and all that a block of an H100 has.
void rows_that_fill_shared_memory_are_the_hosts() {
  for (const std::int64_t length : {24'305, 24'320, 57'969, 57'984}) {
    const Matrix x = randn<float, Shape<dyn, dyn>>(Dims(2, length));
    const auto there = x.to(TestedDevice{0});
    if (length < 30'000)
      require_near<bfloat16>(eval(softmax(cast<bfloat16>(there))), eval(softmax(cast<bfloat16>(x))), 1e-3);
    else
      require_near<float>(eval(softmax(there)), eval(softmax(x)), 1e-6);
  }
}

void norms_are_the_hosts() {
  for (const std::int64_t full : lengths) {
    const std::int64_t length = test::sized(full);
    if (length < 3) continue; // the variance of two elements cancels
    const Matrix x = randn<float, Shape<dyn, dyn>>(Dims(length > 5000 ? 2 : 37, length));
    const auto there = x.to(TestedDevice{0});
    require_near<float>(eval(layer_norm(there)), eval(layer_norm(x)), 2e-5);
  }
}

void extreme_rows_are_measured() {
  const std::int64_t length = test::sized(1001);
  const Matrix x = randn<float, Shape<dyn, dyn>>(Dims(37, length));
  const auto deviations = eval(stddev<1>(x)), lengths_of_rows = eval(norm<1>(x));
  for (const float scale : {0x1p+63F, 0x1p-83F}) {
    const auto there = eval(x * scale).to(TestedDevice{0});
    require_near<float>(eval(stddev<1>(there) / scale), deviations, 1e-6);
    require_near<float>(eval(norm<1>(there) / scale), lengths_of_rows, 1e-6);
  }
  for (const float y : elements_of<float>(eval(layer_norm(full<float, Shape<3, 1001>>(777.7F, TestedDevice{0})))))
    require(y == 0);
}

void sums_are_the_hosts() {
  for (const std::int64_t full : lengths)
    for (const std::int64_t rows : {1, 50}) {
      const std::int64_t length = test::sized(full);
      if (rows * length > 100'000) continue;
      const Matrix x = rand<float, Shape<dyn, dyn>>(Dims(rows, length));
      const auto there = x.to(TestedDevice{0});
      require_near<float>(eval(sum<1>(there)), eval(sum<1>(x)), 1e-6);
      const auto [most, average] = eval(max<1>(there), mean<1>(there));
      require_near<float>(most, eval(max<1>(x)), 0);
      require_near<float>(average, eval(mean<1>(x)), 1e-6);
    }
}

void runs_repeat() {
  for (const std::int64_t length :
       {std::int64_t{1001}, test::sized<std::int64_t>(70'001), test::sized<std::int64_t>(1'000'003)}) {
    const auto x = randn<float, Shape<dyn, dyn>>(Dims(1, length)).to(TestedDevice{0});
    const auto first = elements_of<float>(eval(sum<1>(x))), soft = elements_of<float>(eval(softmax(x)));
    for (int again = 0; again < 5; ++again) {
      require(elements_of<float>(eval(sum<1>(x))) == first);
      require(elements_of<float>(eval(softmax(x))) == soft);
    }
  }
}

void results_may_lie_over_operands() {
  using namespace kernel;
  using Softmax =
      Program<In<float, Access::contiguous>, Reduce<Reduction::max, 0>, Step<Primitive::subtract, 0, 1>,
              Step<Primitive::exp, 2>, Reduce<Reduction::sum, 3>, Step<Primitive::divide, 3, 4>, Out<float, 5>>;
  for (const std::int64_t full : {100, 1001, 30'001, 100'003}) {
    const std::int64_t length = test::sized(full);
    const Matrix x = randn<float, Shape<dyn, dyn>>(Dims(3, length));
    const auto there = x.to(TestedDevice{0}).clone();
    Operand operands[2];
    operands[0].data = operands[1].data = const_cast<float*>(there.data());
    operands[0].strides = operands[1].strides = {length, 1};
    kernel::launch(Softmax{}, TestedDevice{0}, Grid(3, length), operands);
    require_near<float>(there, eval(softmax(x)), 1e-6);
  }
}

const Case softmax_case{"softmax of rows of any length is that of a host device", &softmax_is_the_hosts};
const Case full_case{"rows that fill shared memory are those of a host device",
                     &rows_that_fill_shared_memory_are_the_hosts};
const Case norm_case{"norms of rows of any length are those of a host device", &norms_are_the_hosts};
const Case extreme_case{"deviations and norms of huge and tiny rows, zeros of equal elements",
                        &extreme_rows_are_measured};
const Case sums_case{"sums, maxima and means of rows are those of a host device", &sums_are_the_hosts};
const Case repeats_case{"row programs repeat bit for bit", &runs_repeat};
const Case in_place_case{"a softmax may be written over what it reads", &results_may_lie_over_operands};

}} // namespace rows_suite
