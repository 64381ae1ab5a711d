#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Host threads that share a GPU and its default stream: each gets its own numbers from work that is several launches over the
// stream's working memory.

#include <tests/support/runtime_calls.hpp>
#include <tests/support/same_values.hpp>
#include <tests/support/suite.hpp>

#include <twill/device/gpu/copy.hpp>
#include <twill/expr.hpp>
#include <twill/kernel/gpu/index_sums.hpp>
#include <twill/kernel/gpu/launch.hpp>
#include <twill/kernel/gpu/row_orders.hpp>
#include <twill/memory/gpu/capture.hpp>
#include <twill/memory/gpu/stream.hpp>
#include <twill/tensor/create.hpp>
#include <twill/tensor/random.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <exception>
#include <string>
#include <thread>
#include <vector>

namespace host_threads_suite { namespace {

using namespace twill;
using test::Case;
using test::require_equal;
using test::TestedDevice;

constexpr int thread_count = 2;

template <class X> [[nodiscard]] bool are_same(const X& left, const X& right) {
  const auto a = left.to(Cpu{0}), b = right.to(Cpu{0});
  return std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.elements()) * sizeof(*a.data())) == 0;
}

/// Runs `work(thread)`, which returns a tensor, alone at first and then `turns` times in each of several threads at once.
/// Requires all results of a thread to be the first one, bit for bit.
template <class Work> void require_own_numbers(int turns, Work work) {
  std::array<decltype(work(0)), thread_count> alone{};
  for (int t = 0; t < thread_count; ++t) alone[static_cast<std::size_t>(t)] = work(t);
  synchronize(TestedDevice{0});
  std::atomic<int> ready{0};
  std::atomic<int> wrong{0};
  std::array<std::exception_ptr, thread_count> errors{};
  std::vector<std::thread> threads;
  for (int t = 0; t < thread_count; ++t)
    threads.emplace_back([&, t] {
      const auto own = static_cast<std::size_t>(t);
      try {
        ++ready;
        while (ready < thread_count) std::this_thread::yield();
        for (int turn = 0; turn < turns; ++turn)
          if (!are_same(work(t), alone[own])) ++wrong;
      } catch (...) {
        errors[own] = std::current_exception();
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors)
    if (error != nullptr) std::rethrow_exception(error);
  require_equal(wrong.load(), 0);
}

[[nodiscard]] int turns_of(int wanted) { return test::wants_small_sizes() ? std::min(wanted, 2) : wanted; }

template <class X> auto there(const X& x) { return x.to(TestedDevice{0}); }

/// A tensor of random numbers for each thread.
template <class Make> auto one_each(Make make) {
  std::vector<decltype(there(make()))> made;
  for (int t = 0; t < thread_count; ++t) made.push_back(there(make()));
  return made;
}

void softmax_of_long_rows() {
  const auto x = one_each([] { return randn<float, Shape<dyn, dyn>>(Dims(1, 70'001)); });
  require_own_numbers(turns_of(20), [&](int t) { return eval(softmax(x[static_cast<std::size_t>(t)])); });
}
const Case softmaxes{"threads that share a stream get their own softmax of a long row", &softmax_of_long_rows};

void sums_of_tall_columns() {
  const auto x = one_each([] { return randn<float, Shape<dyn, dyn>>(Dims(20'011, 5)); });
  require_own_numbers(turns_of(8), [&](int t) { return eval(sum<0>(x[static_cast<std::size_t>(t)])); });
}
const Case columns{"threads that share a stream get their own sums of columns", &sums_of_tall_columns};

void running_sums_of_long_rows() {
  const auto x = one_each([] { return randn<float, Shape<dyn>>(Dims(70'001)); });
  require_own_numbers(turns_of(8), [&](int t) {
    const auto& own = x[static_cast<std::size_t>(t)];
    auto sums = empty<float, Shape<dyn>>(Dims(own.elements()), TestedDevice{0});
    launch(TestedDevice{0}, [&](const auto& queue) {
      kernel::running<kernel::Running<kernel::Reduction::sum>>(queue, own.data(), sums.data(),
                                                               kernel::ScanShape{1, own.elements(), 1});
    });
    return sums;
  });
}
const Case scans{"threads that share a stream get their own running sums", &running_sums_of_long_rows};

void orders_of_long_rows() {
  const auto x = one_each([] { return randn<float, Shape<dyn>>(Dims(20'011)); });
  require_own_numbers(turns_of(4), [&](int t) {
    const auto& own = x[static_cast<std::size_t>(t)];
    auto places = empty<std::int64_t, Shape<dyn>>(Dims(own.elements()), TestedDevice{0});
    launch(TestedDevice{0}, [&](const auto& queue) {
      kernel::order_places(queue, own.data(), places.data(),
                           kernel::PlaceRows{.length = own.elements(), .count = own.elements()});
    });
    return places;
  });
}
const Case orders{"threads that share a stream get their own order of a long row", &orders_of_long_rows};

void sums_by_index() {
  constexpr std::int64_t count = 20'011, extent = 501;
  const auto x = one_each([] { return randn<float, Shape<dyn>>(Dims(count)); });
  const auto index = one_each([] { return randint<std::int64_t, Shape<dyn>>(0, extent, Dims(count), Cpu{0}); });
  require_own_numbers(turns_of(6), [&](int t) {
    const auto own = static_cast<std::size_t>(t);
    auto sums = empty<float, Shape<dyn>>(Dims(extent), TestedDevice{0});
    launch(TestedDevice{0}, [&](const auto& queue) {
      kernel::scatter_sums(queue, x[own].data(), index[own].data(), sums.data(),
                           kernel::IndexedBlocks{.outer = 1,
                                                 .places = count,
                                                 .extent = extent,
                                                 .inner = 1,
                                                 .index_outer = 0,
                                                 .index_place = 1,
                                                 .index_inner = 0});
    });
    return sums;
  });
}
const Case by_index{"threads that share a stream get their own sums by index", &sums_by_index};

void matrix_products() {
  const auto x = one_each([] { return randn<float, Shape<dyn, dyn>>(Dims(67, 301)); });
  const auto w = one_each([] { return randn<float, Shape<dyn, dyn>>(Dims(301, 45)); });
  require_own_numbers(
      turns_of(8), [&](int t) { return eval(matmul(x[static_cast<std::size_t>(t)], w[static_cast<std::size_t>(t)])); });
}
const Case products{"threads that share a stream get their own matrix products", &matrix_products};

void graphs_beside_launches() {
  const auto x = one_each([] { return randn<float, Shape<dyn, dyn>>(Dims(1, 70'001)); });
  auto recorded = eval(softmax(x[0]));
  const auto graph = gpu::capture(TestedDevice{0}, [&] { out(recorded) = softmax(x[0]); });
  require_equal(graph.reason(), std::string{});
  require_own_numbers(turns_of(12), [&](int t) {
    if (t > 0) return eval(softmax(x[1]));
    graph.launch();
    return eval(recorded + 0.0F);
  });
}
const Case graphs{"a graph and another thread's launches take turns with working memory", &graphs_beside_launches};

void recordings_add_no_working_memory() {
  const auto x = there(randn<float, Shape<dyn, dyn>>(Dims(1, 70'001)));
  const gpu::Stream<TestedDevice> other{TestedDevice{0}}; // nothing was recorded for it
  const StreamGuard<TestedDevice> guard{TestedDevice{0}, other.handle()};
  auto y = eval(softmax(x));
  const long before = test::runtime_calls<TestedDevice>({"allocate"});
  const auto graph = gpu::capture(TestedDevice{0}, [&] { out(y) = softmax(x); });
  require_equal(graph.reason(), std::string{});
  require_equal(test::runtime_calls<TestedDevice>({"allocate"}), before);
}
const Case recordings{"a recording uses the working memory of its stream", &recordings_add_no_working_memory};

}} // namespace host_threads_suite
