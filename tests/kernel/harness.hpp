#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Runs a program on random operands in heap buffers of exactly the size it may touch, beside the reference, and compares
// every output. Used by the tests of the kernel shapes; with AddressSanitizer it also proves that nothing else is touched.

#include "reference.hpp"

#include <twill/core/dtype.hpp>
#include <twill/core/shape.hpp>
#include <twill/kernel/run.hpp>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <vector>

namespace kernel_test {

using namespace twill;
using namespace twill::kernel;

template <class T> using Along = In<T, Access::contiguous>;
template <class T> using Shared = In<T, Access::uniform>;
template <class T> using Apart = In<T, Access::strided>;

/// A team that starts its threads for each call.
class Threads {
public:
  explicit Threads(int size) : size_{size} {}
  [[nodiscard]] int size() const { return size_; }
  template <class F> void parallel(F&& f) const {
    std::vector<std::thread> threads;
    for (int rank = 1; rank < size_; ++rank) threads.emplace_back([&f, rank, this] { f(rank, size_); });
    f(0, size_);
    for (std::thread& thread : threads) thread.join();
  }

private:
  int size_;
};

/// Memory of exactly so many bytes, filled with random values of a type.
class Memory {
public:
  Memory(DType type, std::int64_t elements, std::mt19937& random)
      : bytes_{static_cast<std::size_t>(elements) * size_of(type)}, data_{new std::byte[bytes_]} {
    std::uniform_real_distribution<double> real{-2.0, 2.0};
    std::uniform_int_distribution<int> whole{-6, 6};
    for (std::int64_t i = 0; i < elements; ++i) {
      const auto put = [&](auto value) {
        std::memcpy(data_.get() + static_cast<std::size_t>(i) * sizeof(value), &value, sizeof(value));
      };
      switch (type) {
      case DType::boolean:
        put(whole(random) > 0);
        break;
      case DType::uint8:
        put(static_cast<std::uint8_t>(whole(random) + 6));
        break;
      case DType::int32:
        put(static_cast<std::int32_t>(whole(random)));
        break;
      case DType::int64:
        put(static_cast<std::int64_t>(whole(random)));
        break;
      case DType::float16:
        put(half{real(random)});
        break;
      case DType::bfloat16:
        put(bfloat16{real(random)});
        break;
      case DType::float32:
        put(static_cast<float>(real(random)));
        break;
      case DType::float64:
        put(real(random));
        break;
      default:
        throw std::logic_error("no random elements of this type");
      }
    }
  }
  [[nodiscard]] std::byte* data() const { return data_.get(); }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

private:
  std::size_t bytes_;
  std::unique_ptr<std::byte[]> data_;
};

/// The operands of a program over a grid, with room for its outputs.
template <class P> struct Bound {
  std::vector<Memory> memory;
  std::vector<Operand> operands;

  Bound(const Grid& grid, unsigned seed) {
    std::mt19937 random{seed};
    for (const Line& line : summary_of<P>.lines) {
      if (line.operand < 0) continue;
      Operand operand{};
      if (line.kind == LineKind::immediate) {
        const Memory value{line.type, 1, random};
        std::memcpy(&operand.bits, value.data(), value.bytes());
      } else if (line.kind == LineKind::iota) {
        operand.bits = 100;
        const Dims strides = contiguous_strides(grid);
        operand.strides = strides.extents;
      } else {
        // extents that this operand really has: 1 where it does not move
        Dims own = grid;
        const int last = grid.rank - 1;
        bool apart = line.kind == LineKind::input && line.access == Access::strided;
        if (grid.rank > 0 && line.kind == LineKind::input && line.access == Access::uniform) own[last] = 1;
        if (grid.rank > 0 && line.kind == LineKind::output && line.uniform && summary_of<P>.shape == KernelShape::row)
          own[last] = 1;
        if (grid.rank > 0 && line.column) own[0] = 1;
        const Dims strides = contiguous_strides(own);
        std::int64_t elements = own.elements();
        for (int axis = 0; axis < grid.rank; ++axis) {
          const auto d = static_cast<std::size_t>(axis);
          operand.strides[d] = own[axis] == 1 && grid[axis] != 1 ? 0 : strides[axis] * (apart ? 3 : 1);
        }
        if (apart && elements > 0) elements = 3 * (elements - 1) + 1;
        memory.emplace_back(line.type, elements, random);
        operand.data = memory.back().data();
      }
      operands.push_back(operand);
    }
  }
};

[[nodiscard]] inline double as_double(DType type, const std::byte* from) {
  const auto get = [&]<class T>(T value) {
    std::memcpy(static_cast<void*>(&value), from, sizeof(T));
    return value;
  };
  switch (type) {
  case DType::boolean:
    return get(std::uint8_t{}) != 0 ? 1 : 0;
  case DType::uint8:
    return get(std::uint8_t{});
  case DType::int32:
    return get(std::int32_t{});
  case DType::int64:
    return static_cast<double>(get(std::int64_t{}));
  case DType::float16:
    return static_cast<double>(float{get(half{})});
  case DType::bfloat16:
    return static_cast<double>(float{get(bfloat16{})});
  case DType::float32:
    return static_cast<double>(get(float{}));
  case DType::float64:
    return get(double{});
  default: // a type that models do not have
    break;
  }
  return 0;
}

/// The largest difference of any output from another run's, relative where values are above 1; NaN only equals NaN.
template <class P> double difference_of(const Bound<P>& ours, const Bound<P>& expected) {
  double worst = 0;
  std::size_t next = 0;
  for (const Line& line : summary_of<P>.lines) {
    if (line.operand < 0 || line.kind == LineKind::immediate || line.kind == LineKind::iota) continue;
    const Memory& mine = ours.memory[next];
    const Memory& theirs = expected.memory[next++];
    const std::size_t size = size_of(line.type);
    for (std::size_t at = 0; at < mine.bytes(); at += size) {
      const double a = as_double(line.type, mine.data() + at), b = as_double(line.type, theirs.data() + at);
      if (a == b || (std::isnan(a) && std::isnan(b))) continue;
      const double error = std::abs(a - b) / std::max(1.0, std::abs(b));
      if (!(error <= worst)) worst = std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
    }
  }
  return worst;
}

/// The largest difference of any output from the reference's, relative where values are above 1; NaN only equals NaN.
template <class P> double difference(const Grid& grid, int threads = 1, unsigned seed = 1) {
  const Bound<P> ours{grid, seed}, expected{grid, seed};
  run(P{}, Threads{threads}, grid, ours.operands.data());
  reference::run(P{}, grid, expected.operands.data());
  return difference_of(ours, expected);
}

/// True when another number of threads gives the same bytes in all outputs.
template <class P> bool same_bits(const Grid& grid, int threads, unsigned seed = 1) {
  const Bound<P> one{grid, seed}, many{grid, seed};
  run(P{}, Threads{1}, grid, one.operands.data());
  run(P{}, Threads{threads}, grid, many.operands.data());
  for (std::size_t i = 0; i < one.memory.size(); ++i)
    if (std::memcmp(one.memory[i].data(), many.memory[i].data(), one.memory[i].bytes()) != 0) return false;
  return true;
}

} // namespace kernel_test
