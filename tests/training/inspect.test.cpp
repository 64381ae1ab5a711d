// SPDX-License-Identifier: Apache-2.0
#include <twill/nn.hpp>
#include <twill/optim.hpp>
#include <twill/training/inspect.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <string>

using namespace twill;

namespace {

struct Mlp {
  static constexpr auto forward(Input<Dim<"batch">, 784> image) {
    auto hidden = relu(nn::linear(image, 256, "layer1"));
    hidden = relu(nn::linear(hidden, 256, "layer2"));
    return nn::linear(hidden, 10, "layer3");
  }
};

using Labels = Tensor<std::int64_t, Cpu, Shape<dyn>>;

// Forward: three products, bias and activation fused behind each.
static_assert(plan<Mlp>().launches == 6);
static_assert(plan<Mlp>().operation_launches == 3 && plan<Mlp>().elementwise_launches == 3);
// A step adds the loss with its gradient, five products, and one pass over each weight.
static_assert(plan<Mlp, nn::cross_entropy, optim::Sgd, Labels>().operation_launches == 8);
static_assert(plan<Mlp, nn::cross_entropy, optim::Sgd, Labels>().launches <= 17);

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

} // namespace

TEST_CASE("a model's plan can be asserted, printed and drawn by the model's name", "[training]") {
  const std::string forward = dump<Mlp>({{"batch", 64}});
  CHECK(contains(forward, "launches: 6"));
  CHECK_FALSE(contains(forward, "rate"));
  const std::string step = dump<Mlp, nn::cross_entropy, optim::Sgd, Labels>({{"batch", 64}});
  CHECK(contains(step, "layer3.bias"));
  CHECK(contains(step, "rate"));
  CHECK(contains(step, "memory: arena of"));
  CHECK(contains(graphviz<Mlp>(), "digraph"));
  CHECK(graphviz<Mlp, nn::cross_entropy, optim::Sgd, Labels>().size() > graphviz<Mlp>().size());
}
