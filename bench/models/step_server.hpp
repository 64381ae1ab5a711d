#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The twill side of bench/models/compare.py, which takes turns with PyTorch: a model with the weights of a file is trained
// on the batch of another, so many steps for each number read from the standard input. Answers are lines of JSON. The peak is
// predicted on a device without memory before anything runs, and compared to the byte with what the pool counted.

#include <twill/device/cpu/partition.hpp>
#include <twill/device/meta/meta.hpp>
#include <twill/io/safetensors.hpp>
#include <twill/memory/statistics.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/tensor/create.hpp>
#include <twill/training/train_step.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

namespace bench {

/// The high-water mark of this process's resident memory; that of getrusage begins with what the parent held.
inline double resident_megabytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word{}; status >> word;)
    if (word == "VmHWM:") {
      double kilobytes = 0;
      status >> kilobytes;
      return kilobytes / 1024;
    }
  return 0;
}

/// The batch of a file on the host.
template <class X> X batch_of(const twill::nn::StateDict& file, const char* name) {
  const twill::nn::StoredTensor* const stored = file.find(name);
  if (stored == nullptr) throw twill::ValueError(std::string{"step_server: the batch lacks '"} + name + "'");
  X x(twill::Cpu{}, stored->shape);
  std::memcpy(x.data(), stored->bytes.data(), stored->bytes.size());
  return x;
}

/// The high-water mark of a step on such a batch, by planning alone.
template <class Model, template <class> class Input, template <class> class Target, class Loss>
std::int64_t predicted_peak(const twill::Dims& input, const twill::Dims& target, Loss loss) {
  const twill::Meta device{};
  twill::reset_peak_memory_stats(device);
  twill::nn::Network<Model, twill::Meta> model{device};
  auto step = twill::train_step(model, loss, twill::optim::Sgd{{.rate = 0.01}});
  const Input<twill::Meta> x(device, input);
  const Target<twill::Meta> y(device, target);
  static_cast<void>(step(x, y));
  return twill::max_memory_allocated(device);
}

/// Serves one model. Arguments: the folder of weights.safetensors and batch.safetensors, the number of threads. Input and Target are tensors by their device.
template <class Model, template <class> class Input, template <class> class Target, class Loss>
int serve(int count_of_arguments, char** arguments, Loss loss) {
  using namespace twill;
  if (count_of_arguments != 3) throw ValueError("step_server: folder and number of threads are required");
  const std::string folder = arguments[1];
  configure_host({.devices = 1, .threads_per_device = std::atoi(arguments[2])});
  const double resident = resident_megabytes();
  const nn::StateDict batch = io::load_safetensors(folder + "/batch.safetensors").tensors;
  const std::int64_t predicted =
      predicted_peak<Model, Input, Target>(batch.find("input")->shape, batch.find("target")->shape, loss);
  reset_peak_memory_stats(Cpu{});
  nn::Network<Model, Cpu> model{};
  nn::load_state_dict(model, io::load_safetensors(folder + "/weights.safetensors").tensors);
  const auto x = batch_of<Input<Cpu>>(batch, "input");
  const auto y = batch_of<Target<Cpu>>(batch, "target");
  auto step = train_step(model, loss, optim::Sgd{{.rate = 0.01}});
  std::printf("{\"predicted\": %lld, \"resident\": %.1f}\n", static_cast<long long>(predicted), resident);
  std::fflush(stdout);
  for (int count = 0; std::scanf("%d", &count) == 1 && count > 0;) {
    double value = 0;
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < count; ++i) value = static_cast<double>(step(x, y).item());
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    std::printf("{\"seconds\": %.6f, \"loss\": %.9g, \"peak\": %lld, \"resident\": %.1f}\n", taken.count() / count,
                value, static_cast<long long>(max_memory_allocated(Cpu{})), resident_megabytes());
    std::fflush(stdout);
  }
  return 0;
}

} // namespace bench
