// SPDX-License-Identifier: Apache-2.0
//
// A program that is compiled without optimisation says once that its training is slow; an optimised one says nothing.

#include <twill/nn/linear.hpp>
#include <twill/nn/losses.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/tensor/random.hpp>
#include <twill/training/train_step.hpp>

#include <cstdio>
#include <string>
#include <string_view>

using namespace twill;

namespace {

struct Line {
  static constexpr auto forward(Input<Dim<"batch">, 2> x) { return nn::linear(x, 1, "line"); }
};

std::string told; // NOLINT

} // namespace

int main() {
  set_warning_sink([](std::string_view text) { told += std::string{text} + "\n"; });
  nn::Network<Line> model{Cpu{0}};
  const auto x = randn<float, Shape<8, 2>>();
  const auto y = randn<float, Shape<8, 1>>();
  for (int i = 0; i < 2; ++i) {
    auto step = train_step(model, nn::mse, optim::Sgd{});
    step(x, y);
    training::Optimiser optimiser{model, optim::Sgd{}};
  }
#if defined(__OPTIMIZE__)
  const bool is_as_expected = told.empty();
#else
  const bool is_as_expected = told.starts_with("training: this program is compiled without optimisation") &&
                              told.find("-D CMAKE_BUILD_TYPE=Release\n") == told.size() - 28;
#endif
  if (!is_as_expected) std::printf("the warnings are:\n%s", told.c_str());
  return is_as_expected ? 0 : 1;
}
