// SPDX-License-Identifier: Apache-2.0
//
// A convolutional network on Fashion-MNIST: two convolutions with pooling, then two linear layers. After ten epochs it knows
// 92.5% of the 10,000 test images:
//
//     build/release/examples/06_cnn --devices 2 --epochs 10
//
// Comments at the end of lines say what PyTorch calls it.
//
// prints: test accuracy

#include "examples/support/command_line.hpp"
#include "examples/support/loss_curve.hpp"
#include "examples/support/training_options.hpp"

#include <twill/all.hpp>
#include <twill/data/fashion_mnist.hpp>

#include <iostream>
#include <string>

using namespace twill;

// region: model
struct Classifier {
  static constexpr auto forward(Input<Dim<"batch">, 784> image) {
    auto x = unflatten(image, 1, {1, 28, 28});
    x = relu(nn::conv2d(x, 32, "conv1", {.kernel = 3, .padding = 1}));
    x = nn::max_pool2d(x, {.window = 2});
    x = relu(nn::conv2d(x, 64, "conv2", {.kernel = 3, .padding = 1}));
    x = nn::max_pool2d(x, {.window = 2});
    x = nn::dropout(flatten(x), 0.25);
    x = nn::dropout(relu(nn::linear(x, 128, "hidden")), 0.25);
    return nn::linear(x, 10, "output");
  }
};
// end region

/// Which test images the model takes for what.
template <class Model> profile::ConfusionMatrix evaluate(const Model& model, const data::FashionMnist& images) {
  data::DataLoader loader{images, data::SequentialSampler{}, model.device(), {.batch_size = 250}};
  profile::ConfusionMatrix confusion{data::fashion_mnist_classes};
  for (auto [image, label] : loader) {
    const Tensor predicted = argmax<1>(model.infer(image)); // model(image).argmax(1), under no_grad
    if constexpr (Model::device_type::has_memory)
      confusion.add(to_vector(label).data(), to_vector(predicted).data(), label.size(0));
  }
  return confusion;
}

template <class D> void train_and_report(D device, const examples::TrainingOptions& options) {
  manual_seed_all(options.seed);

  const auto images = data::fashion_mnist(data::Part::train, options.data);
  const auto test_images = data::fashion_mnist(data::Part::test, options.data);
  const data::LimitedSampler order{data::ShuffledSampler{options.seed}, options.limit};
  data::DataLoader loader{images, order, device, {.batch_size = options.batch}};

  nn::Network<Classifier, D> model{device};
  model.set("dropout", options.dropout);
  DataParallel parallel{model, {.devices = examples::devices_from(device, options.devices)}};
  auto step = train_step(parallel, nn::cross_entropy, optim::MomentumSgd{{.rate = options.rate, .momentum = 0.9F}});

  const int epochs = D::has_memory ? options.epochs : 1;
  const auto last_step = static_cast<float>(epochs * loader.batches());
  examples::LossCurve curve;
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
  const double seconds = progress.elapsed_seconds();

  const auto confusion = evaluate(model, test_images);
  if constexpr (D::has_memory) {
    curve.save(options.plot, "Fashion-MNIST, convolutional", loader.batches());
    std::cout << "\n" << confusion << "\n";
    std::cout << "test accuracy  " << 100 * confusion.accuracy() << "% after " << epochs << " epochs of "
              << seconds / epochs << " s\n";
  }
  std::cout << to_string(device) << " needs " << max_memory_allocated(device) << " bytes\n";
}

int main(int count, char** arguments) {
  return examples::run_main(arguments[0], [&] {
    examples::TrainingOptions options{.epochs = 10,
                                      .batch = 64,
                                      .rate = 0.05F,
                                      .dropout = 0.25,
                                      .data = std::string{data::fashion_mnist_folder},
                                      .plot = "cnn_loss.svg"};
    if (examples::parse("Trains a convolutional network on Fashion-MNIST.", count, arguments, options))
      with_device(options.device, [&](auto device) { train_and_report(device, options); });
  });
}
