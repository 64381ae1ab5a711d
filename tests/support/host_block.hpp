#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Block of GPU threads simulated on the host, one thread after the other, so that kernel bodies are tested without a GPU and under
// sanitizers. The emulated device and the queues of the tests of single bodies run their launches on it. Read next:
// emulated_device.hpp, threaded_block.hpp.

#include <twill/kernel/apply.hpp>
#include <twill/kernel/gpu/block.hpp>

#include <cstddef>
#include <cstring>
#include <memory>
#include <type_traits>

namespace twill::test {

/// A block whose threads run in order, phase by phase, so `barrier` is empty.
class HostBlock {
public:
  HostBlock(int block, int blocks, int threads, std::byte* shared)
      : block_{block}, blocks_{blocks}, threads_{threads}, shared_{shared} {}

  [[nodiscard]] constexpr int block() const { return block_; }
  [[nodiscard]] constexpr int blocks() const { return blocks_; }
  [[nodiscard]] constexpr int threads() const { return threads_; }

  /// Begins with bytes of ones, which are NaN, -1 and no truth value, where the type gives none.
  template <class T> class Local {
  public:
    Local() : bytes_{std::make_unique<std::byte[]>(sizeof(T) * kernel::gpu::most_threads)} {
      static_assert(std::is_trivially_destructible_v<T> && alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
      std::memset(bytes_.get(), 0xff, sizeof(T) * kernel::gpu::most_threads);
      if constexpr (!std::is_trivially_default_constructible_v<T>)
        std::uninitialized_default_construct_n(values(), kernel::gpu::most_threads);
    }
    [[nodiscard]] T& operator[](int thread) { return values()[thread]; }
    [[nodiscard]] const T& operator[](int thread) const { return values()[thread]; }

  private:
    [[nodiscard]] T* values() const { return reinterpret_cast<T*>(bytes_.get()); }
    std::unique_ptr<std::byte[]> bytes_;
  };

  template <class F> void each(F&& f) const {
    for (int thread = 0; thread < threads_; ++thread) f(thread);
  }

  void barrier() const {}

  template <class T> [[nodiscard]] T* shared(std::size_t offset_bytes = 0) const {
    return reinterpret_cast<T*>(shared_ + offset_bytes);
  }

  template <kernel::Reduction Op, class T> void all_reduce(Local<T>& values, int width) const {
    for (int step = width / 2; step > 0; step /= 2)
      for (int thread = 0; thread < threads_; ++thread) {
        const int partner = thread ^ step;
        if (partner < thread || partner >= threads_) continue;
        values[thread] = values[partner] = kernel::combine<Op>(values[thread], values[partner]);
      }
  }

  [[nodiscard]] bool is_last(unsigned* counter, unsigned count) const {
    if (++*counter < count) return false;
    *counter = 0;
    return true;
  }

private:
  int block_;
  int blocks_;
  int threads_;
  std::byte* shared_;
};

static_assert(kernel::gpu::Block<HostBlock> && !kernel::gpu::Block<int>);

} // namespace twill::test
