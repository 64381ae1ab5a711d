#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Expressions and tensors of a GPU as iterators: a kernel reads what they point to, element by element, and finds what
// evaluation stores. On CUDA, tests/cuda/reduce.suite.cu and thrust.suite.cu give them to CUB and Thrust.

#include <tests/support/same_values.hpp>
#include <tests/support/suite.hpp>

#include <twill/algorithms/device_iterator.hpp>
#include <twill/algorithms/element_iterator.hpp>
#include <twill/expr/functions.hpp>
#include <twill/expr/take.hpp>
#include <twill/kernel/gpu/launch.hpp>
#include <twill/kernel/gpu/sort.hpp>
#include <twill/tensor/create.hpp>
#include <twill/tensor/random.hpp>

#include <cstdint>
#include <iterator>
#include <type_traits>

namespace ranges_suite { namespace {

using namespace twill;
using test::Case;
using test::require_equal;
using test::require_near;
using test::require_same;
using test::TestedDevice;

template <class Iterator, class T> struct ReadParameters {
  Iterator from{};
  T* to = nullptr;
  std::int64_t count = 0;
};

/// Writes what an iterator points to.
struct ReadAll {
  static constexpr int most_threads = 256;
  template <class Block, class P> constexpr void operator()(const Block& block, const P& p) const {
    block.each([&](int thread) {
      const std::int64_t i = std::int64_t{block.block()} * most_threads + thread;
      if (i < p.count) p.to[i] = *(p.from + i);
    });
  }
};

/// The elements of a range, in the order of its iterators.
template <class T, class X> Tensor<T, TestedDevice, Shape<dyn>> read(const X& x) {
  const auto first = begin(x);
  using Iterator = std::remove_const_t<decltype(first)>;
  static_assert(std::is_trivially_copyable_v<Iterator> && std::random_access_iterator<Iterator>);
  const std::int64_t count = end(x) - first;
  Tensor<T, TestedDevice, Shape<dyn>> result(TestedDevice{0}, Dims(count));
  if (count == 0) return result;
  const ReadParameters<Iterator, T> p{first, result.data(), count};
  launch(TestedDevice{0},
         [&](const auto& queue) { enqueue(queue, ReadAll{}, kernel::gpu::one_thread_each(count), p); });
  return result;
}

void tensors_are_read() {
  const auto x = rand<float, Shape<dyn, dyn>>(Dims(37, 19)).to(TestedDevice{0});
  require_same(read<float>(x), x.flatten());
  require_same(read<float>(x.transpose()), x.transpose().flatten());
  const auto view = x(slice{.step = -3}, slice{1, 18, 2});
  require_same(read<float>(view), view.flatten());
}

void expressions_are_computed() {
  const auto x = eval(rand<float, Shape<dyn, dyn>>(Dims(41, 13)) - 0.5F).to(TestedDevice{0});
  const auto row = rand<float, Shape<13>>().to(TestedDevice{0});
  const auto product = lazy(x * row + 2);
  require_near(read<float>(product), eval(product).flatten(), 1e-6); // a GPU may fuse product and sum
  const auto chosen = lazy(where(x > 0, x, -x));
  require_same(read<float>(chosen), eval(chosen).flatten());
  const auto squares = lazy(square(x) * 4);
  require_same(read<float>(squares), eval(squares).flatten());
  const auto turned = lazy(x.transpose() / 3 > 0.1F);
  require_same(read<bool>(turned), eval(turned).flatten());
  const auto smooth = lazy(exp(x) + tanh(row));
  require_near(read<float>(smooth), eval(smooth).flatten(), 1e-5);
}

void gathers_and_conversions_are_computed() {
  const auto x = rand<double, Shape<dyn, dyn>>(Dims(11, 7)).to(TestedDevice{0});
  const auto index = tensor({3, 0, 10, 3, -1}).to(TestedDevice{0});
  const auto taken = lazy(take<0>(x, index) * 2);
  require_same(read<double>(taken), eval(taken).flatten());
  const auto narrow = lazy(cast<twill::half>(x));
  require_same(read<twill::half>(narrow), eval(narrow).flatten());
  const auto nothing = lazy(x(slice{0, 0}) + 1);
  require_equal(read<double>(nothing).elements(), 0);
  const auto one = lazy(x(0, 0) * 2);
  require_same(read<double>(one), eval(one).flatten());
}

const Case tensors_case{"kernels read tensors of any strides by iterators", &tensors_are_read};
const Case expressions_case{"kernels compute expressions by iterators", &expressions_are_computed};
const Case gathers_case{"kernels read by index and convert by iterators", &gathers_and_conversions_are_computed};

}} // namespace ranges_suite
