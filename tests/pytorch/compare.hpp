#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Compares a model with the same one in PyTorch, from the files that reference.py left: logits, loss and every gradient of
// one step, then all weights and buffers after five steps of SGD with momentum. Prints the largest deviation of each.

#include <twill/io/safetensors.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/tensor/create.hpp>
#include <twill/training/train_step.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace twill::test {

struct Deviation {
  double largest = 0; ///< |ours - theirs|, as a share of the largest element of theirs where that was asked for
  std::string where{};

  void note(std::string_view name, double difference) {
    if (difference <= largest) return; // NaN passes on to the next line
    largest = difference;
    where = name;
  }
};

/// The largest |a - b| over the largest |b|; infinite where one is NaN.
template <class T> double relative_difference(const T* a, const T* b, std::size_t count, bool is_relative = true) {
  double difference = 0, largest = 1e-30;
  for (std::size_t i = 0; i < count; ++i) {
    const double d = std::fabs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    if (!(d <= difference)) difference = std::isnan(d) ? INFINITY : d;
    largest = std::max(largest, std::fabs(static_cast<double>(b[i])));
  }
  return is_relative ? difference / largest : difference;
}

template <class T> const T* elements(const nn::StoredTensor& tensor) {
  if (tensor.dtype != dtype_of<T>) throw ValueError("compare: a tensor of the files is not of the model's type");
  return reinterpret_cast<const T*>(tensor.bytes.data());
}

/// True, and says so, where a deviation is within its bound.
inline bool within(const char* what, const Deviation& deviation, double bound) {
  const bool holds = deviation.largest <= bound;
  std::printf("%-28s %.2e (bound %.0e)%s%s  %s\n", what, deviation.largest, bound,
              deviation.where.empty() ? "" : " at ", deviation.where.c_str(), holds ? "" : "EXCEEDED");
  return holds;
}

/// A tensor of a file as the type that a model takes.
template <AnyTensor X> X tensor_of(const nn::StateDict& file, std::string_view name) {
  const nn::StoredTensor* const stored = file.find(name);
  if (stored == nullptr || stored->dtype != dtype_of<typename X::value_type>)
    throw ValueError("compare: the batch lacks '" + std::string{name} + "' of the model's type");
  X x(Cpu{}, stored->shape);
  std::memcpy(x.data(), stored->bytes.data(), stored->bytes.size());
  return x;
}

/// The exit code of a comparison: 0 where all agrees, 1 where not, 4 where there are no files.
template <class T, class Model, class Input, class Target, class Loss>
int compare_with_pytorch(const std::string& folder, Loss loss) {
  if (!std::filesystem::exists(folder + "/after.safetensors")) {
    std::puts("skipped: reference.py left no files; is PyTorch installed?");
    return 4;
  }
  const auto load = [&](const char* name) {
    return io::load_safetensors(folder + "/" + name + ".safetensors").tensors;
  };
  const nn::StateDict weights = load("weights");
  const nn::StateDict first = load("first");
  const nn::StateDict after = load("after");
  const nn::StateDict batch = load("batch");
  const Input x = tensor_of<Input>(batch, "input");
  const Target target = tensor_of<Target>(batch, "target");
  nn::Network<Model, Cpu, T> model{};
  nn::load_state_dict(model, weights); // strict: the keys are theirs
  bool holds = true;
  {
    const auto prediction = model.forward(x);
    Deviation logits{};
    const auto value = prediction.value();
    synchronize(Cpu{});
    logits.note("", relative_difference(value.data(), elements<T>(*first.find("logits")),
                                        static_cast<std::size_t>(value.shape().elements()), false));
    holds &= within("logits (absolute)", logits, 1e-4);
    const auto mean = loss(prediction, target);
    mean.backward();
    const T own = mean.item();
    Deviation of_loss{};
    of_loss.note("", relative_difference(&own, elements<T>(*first.find("loss")), 1));
    holds &= within("loss", of_loss, 1e-3);
  }
  Deviation gradients{};
  synchronize(Cpu{});
  for (const auto& view : model.parameters()) {
    if (!view.gradient) continue;
    const nn::StoredTensor* const theirs = first.find("gradient." + std::string{view.name});
    if (theirs == nullptr) throw ValueError("compare: no gradient of '" + std::string{view.name} + "'");
    gradients.note(view.name, relative_difference(static_cast<const T*>(view.gradient.data()), elements<T>(*theirs),
                                                  theirs->bytes.size() / sizeof(T)));
  }
  holds &= within("gradients", gradients, 1e-3);
  model.zero_grad();
  nn::load_state_dict(model, weights);
  auto step = train_step(model, loss, optim::MomentumSgd{{.rate = 0.01, .momentum = 0.9}});
  for (int i = 0; i < 5; ++i) step(x, target);
  synchronize(Cpu{});
  Deviation trained{};
  for (const auto& view : model.parameters()) {
    const nn::StoredTensor& theirs = *after.find(view.name);
    if (view.dtype == dtype_of<T>)
      trained.note(view.name, relative_difference(static_cast<const T*>(view.buffer.data()), elements<T>(theirs),
                                                  theirs.bytes.size() / sizeof(T)));
    else if (std::memcmp(view.buffer.data(), theirs.bytes.data(), theirs.bytes.size()) != 0)
      trained.note(view.name, INFINITY);
  }
  holds &= within("weights after five steps", trained, 1e-3);
  return holds ? 0 : 1;
}

} // namespace twill::test
