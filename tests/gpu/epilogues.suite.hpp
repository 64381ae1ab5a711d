#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Products with a bias, an activation and sums in the same kernel, as models for GPUs are traced with them: the numbers beside
// the host's, with a library that has epilogues and without; and which epilogues a planned step chose, of an MLP and a GPT-2.

#include <examples/models/gpt2.hpp>
#include <tests/support/suite.hpp>
#include <tests/training/models.hpp>

#include <twill/kernel/gpu/attention.hpp>
#include <twill/kernel/gpu/launch.hpp>
#include <twill/nn/autocast.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/training/train_step.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace twill::test { namespace epilogues_suite {

using D = TestedDevice;

/// The library is there while this lives.
struct Installed {
  explicit Installed(bool is_installed) {
    install_products(is_installed);
    forget_library_choices(D{0});
  }
  Installed(const Installed&) = delete;
  Installed& operator=(const Installed&) = delete;
  ~Installed() { install_products(false); }
};

struct Mlp {
  static constexpr auto forward(Input<Dim<"batch">, 40> x) {
    const auto first = relu(nn::linear(x, 24, "first"));
    const auto second = gelu_tanh(nn::linear(first, 32, "second"));
    return nn::linear(second, 8, "third");
  }
};

constexpr models::Gpt2Sizes sizes{.vocabulary = 40, .positions = 32, .width = 32, .layers = 1, .heads = 2};
constexpr std::int64_t window = 24;
using Gpt = models::Gpt2<sizes, window>;

/// Losses of three steps, then the weights, and on a GPU what the step chose.
struct Trained {
  std::vector<double> numbers{};
  std::vector<LibraryChoice> choices{};
};
template <class Model, class T, class Loss, class Device, class... Tensors>
Trained trained(Device device, const Loss& loss, const Tensors&... batch) {
  manual_seed_all(5);
  nn::Network<Model, Device, T> model{device};
  auto step = train_step(model, loss, optim::Sgd{{.rate = 0.1}});
  Trained result{};
  for (int i = 0; i < 3; ++i) result.numbers.push_back(static_cast<double>(step(batch.to(device)...).item()));
  if constexpr (std::is_same_v<Device, D>) {
    require(step.capture_report().is_captured());
    result.choices = step.library_choices();
  }
  for (const auto weight : weights_of(model)) result.numbers.push_back(static_cast<double>(weight));
  return result;
}

inline void require_near(const Trained& there, const Trained& here, double tolerance) {
  require_equal(there.numbers.size(), here.numbers.size());
  for (std::size_t i = 0; i < here.numbers.size(); ++i)
    require_close(there.numbers[i], here.numbers[i], tolerance, tolerance);
}

/// How many problems with this epilogue are somebody's.
inline std::size_t count(const Trained& step, std::string_view by, std::string_view epilogue) {
  return static_cast<std::size_t>(
      std::count_if(step.choices.begin(), step.choices.end(), [&](const LibraryChoice& choice) {
        return choice.by == by && choice.problem.ends_with("epilogue " + std::string{epilogue});
      }));
}

template <class T> Trained train_mlp(double tolerance) {
  const auto x = random_rows<T, 40>(Cpu{0}, 24, 1);
  const auto label = random_labels(Cpu{0}, 24, 8, 2);
  const Trained there = trained<Mlp, T>(D{0}, nn::cross_entropy, x, label);
  require_near(there, trained<Mlp, T>(Cpu{0}, nn::cross_entropy, x, label), tolerance);
  return there;
}

inline void mlp_takes_epilogues() {
  const Installed library{true};
  const Trained step = train_mlp<float>(1e-5);
  for (const char* const epilogue : {"relu_bias", "gelu_bias_keep", "bias", "gelu_gradient_bias", "sum_left"})
    require_equal(count(step, product_library_name, epilogue), std::size_t{1});
}
const Case mlp_case{"an MLP's step takes bias, activation, its gradient and bias gradients in products",
                    &mlp_takes_epilogues};

inline void without_a_library() {
  const Installed library{false};
  train_mlp<double>(1e-12); // no library has epilogues of float64
  const Trained step = train_mlp<float>(1e-5);
  const bool is_there = product_library_name == std::string_view{"cuBLASLt"};
  require_equal(count(step, "twill", "gelu_bias_keep"), std::size_t{is_there ? 0 : 1});
}
const Case absent_case{"products without a library's epilogues are a product and a program", &without_a_library};

inline void gpt_takes_epilogues() {
  const auto ids = [&](std::uint64_t salt) {
    return from_values<Shape<dyn, window>>(to_vector(random_labels(Cpu{0}, 2 * window, 40, salt)), Dims(2, window),
                                           Cpu{0});
  };
  const auto tokens = ids(1), next = ids(2);
  const auto compared = [&]<class Model>(std::type_identity<Model>, double tolerance) {
    const Trained there = trained<Model, float>(D{0}, models::NextToken{}, tokens, next);
    require_near(there, trained<Model, float>(Cpu{0}, models::NextToken{}, tokens, next), tolerance);
    return there;
  };
  compared(std::type_identity<nn::Autocast<Gpt, bfloat16>>{}, 2e-2);
  const Installed library{true};
  compared(std::type_identity<Gpt>{}, 1e-4);
  const Trained step = compared(std::type_identity<nn::Autocast<Gpt, bfloat16>>{}, 2e-2);
  require_equal(count(step, product_library_name, "bias"),
                std::size_t{3}); // of attention's two layers and the MLP's last
  require_equal(count(step, product_library_name, "gelu_bias_keep"), std::size_t{1});
  require_equal(count(step, product_library_name, "gelu_gradient_bias"), std::size_t{1});
  require_equal(count(step, product_library_name, "sum_right"), std::size_t{3});
  std::size_t attentions = 0;
  for (const LibraryChoice& choice : step.choices) {
    const bool is_attention = choice.problem.find("attention of 4 x 1 heads, 24 queries") != std::string::npos;
    attentions += is_attention ? 1 : 0;
    require_equal(choice.by, is_attention ? attention_library_name : product_library_name);
  }
  require_equal(attentions, std::size_t{2}); // and its gradients
}
const Case gpt_case{"a GPT-2's step in bfloat16 gives attention and products with their epilogues to libraries",
                    &gpt_takes_epilogues};

}} // namespace twill::test::epilogues_suite
