// SPDX-License-Identifier: Apache-2.0
//
// A training loop in twill, for readers who know PyTorch: the blocks of docs/coming_from_pytorch.md are regions of this file and
// of pytorch.py beside it. One small model is trained in stages, as one planned step, in micro-batches and without memory.
// prints: the peak was predicted: yes
// prints: two loads, the same results: yes

#include <twill/data.hpp>
#include <twill/io.hpp>
#include <twill/profile.hpp>
#include <twill/twill.hpp>

#include <cstdint>
#include <filesystem>
#include <iostream>
#include <string>
#include <unistd.h>

using namespace twill;

// region: model
struct Classifier {
  static constexpr auto forward(Input<Dim<"batch">, 8> x) {
    auto hidden = relu(nn::linear(x, 16, "hidden"));
    hidden = checkpoint([](auto value) { return tanh(nn::linear(value, 16, "inner")); })(hidden); // computed again
    hidden = hidden + nn::dropout(nn::layer_norm(hidden, "norm"), 0.1); // a residual connection
    return nn::linear(hidden, 3, "output");
  }
};
// end region

/// The peak of a training step on a device, with or without memory.
// region: meta
template <Device D> std::int64_t peak_of_a_step(D device, std::int64_t rows) {
  reset_peak_memory_stats(device);
  nn::Network<Classifier, D> model{device};
  auto step = train_step(model, nn::cross_entropy, optim::clip_norm(optim::AdamW{{.rate = 0.01}}, 1.0));
  step(zeros<float, Shape<dyn, 8>>(Dims(rows, 8), device), zeros<std::int64_t, Shape<dyn>>(Dims(rows), device));
  return max_memory_allocated(device); // Meta{0} allocates nothing, and has the same peak as Cpu{0}
}
// end region

int main() {
  configure_host({.devices = 2, .threads_per_device = 1, .oversubscribe = true});
  const std::int64_t predicted = peak_of_a_step(Meta{0}, 32);
  std::cout << "the peak was predicted: " << (peak_of_a_step(Cpu{0}, 32) == predicted ? "yes" : "no") << '\n';

  manual_seed_all(1);
  const Tensor x = randn<float, Shape<dyn, 8>>(Dims(32, 8));
  const Tensor label = argmax<1>(x(all, slice{0, 3}));

  // region: dataset
  const data::TensorDataset pairs{x, label}; // shares their memory
  data::DataLoader batches{pairs, data::ShuffledSampler{.seed = 1}, Cpu{0}, {.batch_size = 8, .workers = 2}};
  for (auto [some, of_label] : batches) std::cout << to_string(some.shape()) << to_string(of_label.shape()) << ' ';
  // end region
  std::cout << '\n';

  // region: staged
  nn::Network<Classifier, Cpu> model{Cpu{0}};
  training::Optimiser optimiser{model, optim::Sgd{{.rate = 0.1}}};
  float total = 0;
  for (int i = 0; i < 3; ++i) {
    model.zero_grad();
    const auto output = model.forward(x);
    const auto loss = nn::cross_entropy(output, label);
    loss.backward();
    optimiser.step();
    total += loss.item(); // a number; no graph hangs on it
  }
  // end region

  // region: hooks
  const auto handle = model.on_forward([](const auto& input, const auto& output) {
    std::cout << "forward: " << to_string(input.shape()) << " to " << to_string(output.shape()) << '\n';
  });
  // end region

  // region: inference
  const Tensor predicted_labels = argmax<1>(model.infer(x)); // evaluation mode, keeps nothing
  {
    const nn::NoGrad scope;
    const auto output = model.forward(x); // training mode, keeps nothing
  }
  // end region

  // region: planned
  auto step = train_step(model, nn::cross_entropy, optim::clip_norm(optim::AdamW{{.rate = 0.01}}, 1.0));
  auto schedule = optim::scheduled(step, optim::Cosine{.rate = 0.01, .steps = 100});
  std::cout << step.arena_bytes(x, label) << " bytes hold everything that a step computes\n";
  for (int i = 0; i < 100; ++i) {
    schedule.update();
    const auto loss = step(x, label); // one planned program; no allocation from the second step on
    if (i % 50 == 0) std::cout << "loss " << loss.item() << ", norm " << step.state(optim::gradient_norm_state) << '\n';
  }
  // end region

  // region: trace
  const profile::Trace recorded = profile::trace([&] { step(x, label); }); // when each launch ran
  std::cout << profile::node_table(recorded, {.rows = 5});
  // end region

  // region: scaled
  nn::Network<nn::Autocast<Classifier>> mixed{Cpu{0}}; // products in float16, weights and norms in float32
  auto scaled = train_step(mixed, nn::cross_entropy, optim::loss_scaled(optim::Sgd{{.rate = 0.1}}));
  scaled(x, label);
  std::cout << "loss scale " << scaled.state(optim::loss_scale_state)
            << (scaled.state(optim::was_skipped_state) != 0 ? ", the step was skipped" : "") << '\n';
  // end region

  // region: accumulation
  auto accumulated = accumulated_step(model, nn::cross_entropy, optim::Sgd{{.rate = 0.01}});
  accumulated.add(x[slice{0, 12}], label[slice{0, 12}]);
  accumulated.add(x[slice{12, 32}], label[slice{12, 32}]); // weighted by rows
  const float loss = accumulated.finish();                 // of the whole batch
  // end region
  std::cout << "mean of three losses " << total / 3 << ", last " << loss << ", labels "
            << to_string(predicted_labels.shape()) << '\n';

  const std::string path = std::filesystem::temp_directory_path() / ("twill-" + std::to_string(::getpid()));
  // region: state
  io::save_safetensors(path, nn::state_dict(model));
  nn::Network<Classifier, Cpu> other{Cpu{1}}; // from whatever device, to any
  nn::load_state_dict(other, io::load_safetensors(path).tensors);
  // end region
  std::filesystem::remove(path);

  // region: prefix
  const nn::StateDict wrapped = nn::with_prefix(nn::state_dict(model), "module."); // as nn.DataParallel saves it
  nn::load_state_dict(other, nn::without_prefix(wrapped, "module."));
  // end region

  model.to(Cpu{1}); // its own weights, in place
  const Tensor results = model.infer(x.to(Cpu{1}));
  const bool same = max(abs(other.infer(x.to(Cpu{1})) - results)).item() == 0;
  std::cout << "two loads, the same results: " << (same ? "yes" : "no") << '\n';
  return same ? 0 : 1;
}
