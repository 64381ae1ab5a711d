// SPDX-License-Identifier: Apache-2.0
//
// Trains a network on Fashion-MNIST, 60,000 pictures of clothes of ten classes, data-parallel on two host devices:
//
//     build/release/examples/01_fashion_mnist --devices 2 --epochs 10
//
// Comments at the end of lines say what PyTorch calls it. With `--device meta` the same source runs nothing and tells how
// much memory each device would need, to the byte.
//
// prints: test accuracy

#include "examples/support/checksum.hpp"
#include "examples/support/command_line.hpp"
#include "examples/support/loss_curve.hpp"
#include "examples/support/training_options.hpp"

#include <twill/all.hpp>
#include <twill/data/fashion_mnist.hpp>

#include <iostream>
#include <string>

using namespace twill;

struct Classifier {
  static constexpr auto forward(Input<Dim<"batch">, 784> image) {
    auto hidden = nn::dropout(relu(nn::linear(image, 256, "hidden1")), 0.0);
    hidden = nn::dropout(relu(nn::linear(hidden, 256, "hidden2")), 0.0);
    return nn::linear(hidden, 10, "output");
  }
};

/// Which test images the model takes for what.
template <class Model> profile::ConfusionMatrix evaluate(const Model& model, const data::FashionMnist& images) {
  data::DataLoader loader{images, data::SequentialSampler{}, model.device(), {.batch_size = 1000}};
  profile::ConfusionMatrix confusion{data::fashion_mnist_classes};
  for (auto [image, label] : loader) {
    const Tensor predicted = argmax<1>(model.infer(image)); // model(image).argmax(1), under no_grad
    if constexpr (Model::device_type::has_memory)
      confusion.add(to_vector(label).data(), to_vector(predicted).data(), label.size(0));
  }
  return confusion;
}

template <class D> void train_and_report(D device, const examples::TrainingOptions& options) {
  manual_seed_all(options.seed); // torch.manual_seed

  // region: loader
  const auto images = data::fashion_mnist(data::Part::train, options.data);
  const auto test_images = data::fashion_mnist(data::Part::test, options.data);
  const data::LimitedSampler order{data::ShuffledSampler{options.seed}, options.limit};
  data::DataLoader loader{images, order, device, {.batch_size = options.batch}}; // DataLoader(..., shuffle=True)
  // end region

  nn::Network<Classifier, D> model{device}; // Classifier().to(device)
  model.set("dropout", options.dropout);
  const auto devices = examples::devices_from(device, options.devices);
  // region: parallel
  DataParallel parallel{model, {.devices = devices}}; // nn.DataParallel(model, devices)

  // zero_grad, forward, loss, backward, sum of gradients and update: one planned program on each device
  auto step = train_step(parallel, nn::cross_entropy, optim::MomentumSgd{{.rate = options.rate, .momentum = 0.9F}});
  // end region

  const int epochs = D::has_memory ? options.epochs : 1; // every epoch needs the memory of the first
  const auto last_step = static_cast<float>(epochs * loader.batches());
  examples::LossCurve curve;
  // region: loop
  profile::Progress progress{epochs * loader.samples(), {.unit = "images"}};
  for (int epoch = 0; epoch < epochs; ++epoch) {
    for (auto [image, label] : loader) {
      step.rule.options.rate = options.rate * (1 - static_cast<float>(step.steps()) / last_step); // LinearLR
      const auto loss = step(image, label);
      if constexpr (D::has_memory) {
        curve.add(loss.item());
        progress.update(image.size(0), loss);
      }
    }
  }
  // end region
  const double seconds = progress.elapsed_seconds();

  const auto confusion = evaluate(model, test_images);
  if constexpr (D::has_memory) {
    curve.save(options.plot, "Fashion-MNIST", loader.batches());
    std::cout << "\n" << confusion << "\n";
    std::cout << "test accuracy  " << 100 * confusion.accuracy() << "% after " << epochs << " epochs of "
              << seconds / epochs << " s\n";
    std::cout << "loss curve     " << options.plot << "\n";
    std::cout << "checksum       " << examples::checksum(model) << " of all weights\n\n";
  }
  std::cout << profile::memory_table(devices);
  for (const D& each : devices) std::cout << to_string(each) << " needs " << max_memory_allocated(each) << " bytes\n";
}

int main(int count, char** arguments) {
  return examples::run_main(arguments[0], [&] {
    examples::TrainingOptions options{.data = std::string{data::fashion_mnist_folder},
                                      .plot = "fashion_mnist_loss.svg"};
    if (examples::parse("Trains a 784-256-256-10 network on Fashion-MNIST.", count, arguments, options))
      with_device(options.device, [&](auto device) { train_and_report(device, options); });
  });
}
