// SPDX-License-Identifier: Apache-2.0
#include <twill/nn/linear.hpp>
#include <twill/nn/losses.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/profile/plan_drawing.hpp>
#include <twill/tensor/tensor.hpp>

#include <catch2/catch.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace {

using namespace twill;

struct Mlp {
  static constexpr auto forward(Input<Dim<"batch">, 24> x) {
    return nn::linear(relu(nn::linear(x, 48, "hidden")), 24, "output");
  }
};
using Targets = Tensor<float, Cpu, Shape<dyn, 24>>;

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

/// The number after some words.
double number_after(const std::string& text, const std::string& words, std::size_t from = 0) {
  const std::size_t at = text.find(words, from);
  REQUIRE(at != std::string::npos);
  return std::strtod(text.c_str() + at + words.size(), nullptr);
}

TEST_CASE("the plan of a training step is drawn with every buffer of its arena", "[profile][MEM-9]") {
  const profile::PlanDrawingOptions options{.title = "a plan <small>"};
  const std::string svg = profile::svg_plan<Mlp, nn::mse, optim::Sgd, Targets>({{"batch", 64}}, options);
  const std::string text = dump<Mlp, nn::mse, optim::Sgd, Targets>({{"batch", 64}});
  const auto bytes = static_cast<std::int64_t>(number_after(text, "memory: arena of "));
  REQUIRE(bytes > 64 * 48 * 4); // what the hidden layer hands on, at least
  CHECK_THAT(svg, Catch::Contains("arena of " + memory::format_bytes(bytes) + " for "));
  const std::size_t buffers = count(svg, "<title>");
  CHECK(static_cast<double>(buffers) == number_after(svg, " for "));
  CHECK(buffers == count(text, " bytes at "));
  CHECK(count(svg, "a plan &lt;small&gt;") == 1);
  CHECK(count(svg, "instruction, in the order in which they run") == 1);
  CHECK(count(svg, ">offset in the arena (KiB)<") == 1);
  CHECK(count(svg, "12.00 KiB at ") >= 1); // 64 rows of 48 floats
  CHECK(count(svg, "written by #0 ") >= 1);
  CHECK(svg.ends_with("</svg>\n"));
  // Nothing leaves the drawing area, and the highest buffer ends at the line of the arena.
  const double line = number_after(svg, "y1=\"", svg.rfind("<line", svg.rfind("stroke=\"#D00000\"")));
  double top = 1e9;
  for (std::size_t at = svg.find("fill-opacity"); at != std::string::npos; at = svg.find("fill-opacity", at + 1)) {
    const std::size_t begin = svg.rfind("<rect", at);
    const double x = number_after(svg, "x=\"", begin), y = number_after(svg, "y=\"", begin);
    CHECK(x >= 84);
    CHECK(x + number_after(svg, "width=\"", begin) <= options.width_px - 24 + 0.5);
    CHECK(y + number_after(svg, "height=\"", begin) <= 78 + options.height_px + 0.5);
    top = y < top ? y : top;
  }
  CHECK(top == Approx(line).margin(2.5)); // offsets are multiples of a cache line
}

TEST_CASE("a plan needs a number for each dimension that its buffers have", "[profile][MEM-9]") {
  CHECK_THROWS_WITH(profile::svg_plan<Mlp>({}), "svg_plan: dimension 'batch' has no number; give {{\"batch\", 64}}");
  const std::string small = profile::svg_plan<Mlp>({{"batch", 1}});
  CHECK(count(small, ">offset in the arena (bytes)<") == 1);
  CHECK_THROWS_WITH(profile::save_plan<Mlp>("/nowhere/plan.svg", {{"batch", 8}}),
                    "plan: cannot write /nowhere/plan.svg");
}

} // namespace
