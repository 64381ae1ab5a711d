#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// An epoch of training on pictures of bytes, by hand: one thread, or two that each take half of a batch, hold a gradient of
// their own, and update half of the weights each between two barriers.

#include "bench/reference/mlp_step.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <thread>
#include <vector>

#include <pthread.h>
#include <sched.h>

namespace reference {

struct Pictures {
  std::span<const std::uint8_t> pixels; ///< 784 for each
  std::span<const std::uint8_t> labels;
};

/// Rows of a batch, made of pictures as they are needed.
class Batch {
public:
  explicit Batch(std::int64_t rows) : x(static_cast<std::size_t>(rows * 784)), labels(static_cast<std::size_t>(rows)) {}
  void read(const Pictures& from, std::span<const std::int64_t> which) {
    for (std::size_t r = 0; r < which.size(); ++r) {
      const auto picture = static_cast<std::size_t>(which[r]);
      const std::uint8_t* pixel = from.pixels.data() + picture * 784;
      float* to = x.data() + r * 784;
      for (int i = 0; i < 784; ++i) to[i] = static_cast<float>(pixel[i]) * (1.0F / 255);
      labels[r] = from.labels[picture];
    }
  }
  std::vector<float> x;
  std::vector<std::int64_t> labels;
};

/// The sum of the losses of all batches.
inline double epoch(MlpNumbers& w, const Pictures& pictures, std::span<const std::int64_t> order,
                    std::size_t batch_size, float rate) {
  MlpStep step{static_cast<std::int64_t>(batch_size)};
  Batch batch{static_cast<std::int64_t>(batch_size)};
  double loss = 0;
  for (std::size_t first = 0; first < order.size(); first += batch_size) {
    const auto which = order.subspan(first, std::min(batch_size, order.size() - first));
    batch.read(pictures, which);
    loss += static_cast<double>(
        step.step(w, batch.x.data(), batch.labels.data(), static_cast<std::int64_t>(which.size()), rate));
  }
  return loss;
}

/// Both threads wait here for each other.
class Barrier {
public:
  void wait() {
    const unsigned round = round_.load(std::memory_order_acquire);
    if (waiting_.fetch_add(1, std::memory_order_acq_rel) == 1) {
      waiting_.store(0, std::memory_order_relaxed);
      round_.store(round + 1, std::memory_order_release);
      return;
    }
    for (int spins = 0; round_.load(std::memory_order_acquire) == round; ++spins)
      if (spins < 20000)
        _mm_pause();
      else
        sched_yield();
  }

private:
  std::atomic<unsigned> round_{0};
  std::atomic<int> waiting_{0};
};

/// The same on two cores.
inline double epoch_of_two(MlpNumbers& w, const Pictures& pictures, std::span<const std::int64_t> order,
                           std::size_t batch_size, float rate) {
  MlpNumbers gradients[2];
  double losses[2] = {};
  Barrier barrier;
  const auto work = [&](std::size_t rank) {
    cpu_set_t core;
    CPU_ZERO(&core);
    CPU_SET(rank, &core);
    pthread_setaffinity_np(pthread_self(), sizeof core, &core); // where it fails, the system chooses
    MlpStep step{static_cast<std::int64_t>(batch_size)};
    Batch batch{static_cast<std::int64_t>(batch_size)};
    const std::size_t half = MlpNumbers::count / 32 * 16;
    const std::size_t begin = rank == 0 ? 0 : half;
    const std::size_t end = rank == 0 ? half : static_cast<std::size_t>(MlpNumbers::count);
    for (std::size_t first = 0; first < order.size(); first += batch_size) {
      const auto all = order.subspan(first, std::min(batch_size, order.size() - first));
      const std::size_t middle = (all.size() + 1) / 2;
      const auto which = rank == 0 ? all.first(middle) : all.subspan(middle);
      batch.read(pictures, which);
      losses[rank] += static_cast<double>(step.gradient(w, batch.x.data(), batch.labels.data(),
                                                        static_cast<std::int64_t>(which.size()),
                                                        static_cast<std::int64_t>(all.size()), gradients[rank]));
      barrier.wait();
      float* weight = w.all.data();
      const float* a = gradients[0].all.data();
      const float* b = gradients[1].all.data();
      for (std::size_t i = begin; i < end; ++i) weight[i] -= rate * (a[i] + b[i]);
      barrier.wait();
    }
  };
  std::thread other{work, 1};
  std::thread one{work, 0};
  one.join();
  other.join();
  return losses[0] + losses[1];
}

} // namespace reference
