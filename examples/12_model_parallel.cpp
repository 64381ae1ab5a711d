// SPDX-License-Identifier: Apache-2.0
//
// Model parallelism: a model that is too large for one device, its parts on two. `nn::to(x, nn::Slot{1})` inside `forward` puts
// what follows, its weights included, on the second device; which devices these are the network says. One training loop serves
// both ways: the losses of two devices are those of one, bit for bit, and what each device holds is known before.
//
// prints: the losses of two devices are those of one: yes
// prints: the peak of each device is what was predicted: yes

#include <twill/twill.hpp>

#include <cstdint>
#include <iostream>
#include <vector>

using namespace twill;

// region: model
struct ToyModel {
  static constexpr auto forward(Input<Dim<"batch">, 10> x) {
    const auto hidden = relu(nn::linear(x, 1000, "net1"));     // in slot 0, where inputs are
    return nn::linear(nn::to(hidden, nn::Slot{1}), 5, "net2"); // this layer and its weights are in slot 1
  }
};
// end region

/// What the pool of a device has held at most since a moment, beside what it held then.
class Peak {
public:
  explicit Peak(Cpu device) : device_{device}, before_{memory_allocated(device)} { reset_peak_memory_stats(device); }
  [[nodiscard]] std::int64_t bytes() const { return max_memory_allocated(device_) - before_; }

private:
  Cpu device_;
  std::int64_t before_;
};

struct Training {
  std::vector<float> losses{};
  bool peaks_are_predicted = true;
};

/// Trains with the parts of the model on these devices.
Training trained_on(const std::vector<Cpu>& devices) {
  manual_seed_all(1);
  const Tensor x = randn<float, Shape<dyn, 10>>(Dims(20, 10), Cpu{0}).to(devices[0]);
  const Tensor label = randn<float, Shape<dyn, 5>>(Dims(20, 5), Cpu{0}).to(devices[1]); // beside the prediction

  const std::vector<Peak> peaks(devices.begin(), devices.end());
  nn::Network<ToyModel> model{devices};
  auto step = train_step(model, nn::mse, optim::Sgd{{.rate = 0.01}});
  Training training{};
  for (int i = 0; i < 10; ++i) training.losses.push_back(step(x, label));

  for (std::size_t slot = 0; slot < devices.size(); ++slot) {
    std::int64_t predicted = 0; // of all parts on the device
    for (int part = 0; part < model.slots; ++part)
      if (devices[static_cast<std::size_t>(part)] == devices[slot])
        predicted += step.memory(nn::Slot{part}, x, label).total();
    const std::int64_t peak = peaks[slot].bytes();
    std::cout << "slot " << slot << ", " << to_string(devices[slot]) << ": peak " << peak << " bytes, predicted "
              << predicted << "\n";
    training.peaks_are_predicted = training.peaks_are_predicted && peak == predicted;
  }
  return training;
}

int main() {
  configure_host({.devices = 2, .threads_per_device = 1, .oversubscribe = true});
  const Training one = trained_on({Cpu{0}, Cpu{0}});
  const Training two = trained_on({Cpu{0}, Cpu{1}});
  for (std::size_t i = 0; i < two.losses.size(); i += 3)
    std::cout << "step " << i << ": loss " << two.losses[i] << "\n";
  const bool same = two.losses == one.losses;
  const bool predicted = one.peaks_are_predicted && two.peaks_are_predicted;
  std::cout << "the losses of two devices are those of one: " << (same ? "yes" : "no") << "\n";
  std::cout << "the peak of each device is what was predicted: " << (predicted ? "yes" : "no") << "\n";
  return same && predicted ? 0 : 1;
}
