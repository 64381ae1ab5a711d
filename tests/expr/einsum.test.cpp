// SPDX-License-Identifier: Apache-2.0
//
// einsum against loops over all indices, which read the pattern again in their own way: every kind of pattern, random
// extents, operands that lie contiguous, transposed or backwards.

#include "tests/support/message_of.hpp"
#include "tests/support/numbers.hpp"

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

using namespace twill;
using twill::test::message_of;
using twill::test::numbers;

namespace {

/// Axes of one operand: letters, and digits for the axes behind an ellipsis (0 is the last one).
std::string axes_of(std::string part, std::size_t rank) {
  std::erase(part, ' ');
  const auto dots = part.find("...");
  if (dots == std::string::npos) return part;
  std::string hidden;
  for (std::size_t i = rank - (part.size() - 3); i > 0; --i) hidden += static_cast<char>('0' + i - 1);
  return part.replace(dots, 3, hidden);
}

struct Reference {
  std::vector<std::string> operands;
  std::string result;

  Reference(const std::string& text, const std::vector<std::size_t>& ranks) {
    const auto arrow = text.find("->");
    const std::string inputs = text.substr(0, arrow);
    std::size_t begin = 0;
    for (const std::size_t rank : ranks) {
      const auto end = std::min(inputs.find(',', begin), inputs.size());
      operands.push_back(axes_of(inputs.substr(begin, end - begin), rank));
      begin = end + 1;
    }
    std::size_t hidden = 0;
    std::string all;
    for (const auto& axes : operands) {
      all += axes;
      hidden = std::max<std::size_t>(
          hidden, static_cast<std::size_t>(std::count_if(axes.begin(), axes.end(), [](char c) { return c <= '9'; })));
    }
    if (arrow != std::string::npos) {
      std::string part = text.substr(arrow + 2);
      std::erase(part, ' ');
      const std::size_t letters = part.find("...") == std::string::npos ? part.size() : part.size() - 3;
      result = axes_of(part, letters + hidden);
    } else {
      for (std::size_t i = hidden; i > 0; --i) result += static_cast<char>('0' + i - 1);
      for (char c = 'A'; c <= 'z'; ++c)
        if (std::count(all.begin(), all.end(), c) == 1) result += c;
    }
  }

  [[nodiscard]] std::map<char, std::int64_t> extents(const std::vector<Dims>& shapes) const {
    std::map<char, std::int64_t> found;
    for (std::size_t o = 0; o < operands.size(); ++o)
      for (std::size_t axis = 0; axis < operands[o].size(); ++axis) {
        auto& extent = found.try_emplace(operands[o][axis], 1).first->second;
        extent = shapes[o][static_cast<int>(axis)] == 1 ? extent : shapes[o][static_cast<int>(axis)];
      }
    return found;
  }

  [[nodiscard]] std::vector<double> compute(const std::vector<Dims>& shapes,
                                            const std::vector<std::vector<double>>& values) const {
    const auto extent = extents(shapes);
    std::int64_t elements = 1;
    for (const char label : result) elements *= extent.at(label);
    std::vector<double> sums(static_cast<std::size_t>(elements));
    std::int64_t combinations = 1;
    for (const auto& [label, size] : extent) combinations *= size;
    for (std::int64_t number = 0; number < combinations; ++number) {
      std::map<char, std::int64_t> index;
      std::int64_t rest = number;
      for (const auto& [label, size] : extent) {
        index[label] = rest % size;
        rest /= size;
      }
      double product = 1;
      for (std::size_t o = 0; o < operands.size(); ++o) {
        std::int64_t offset = 0;
        for (std::size_t axis = 0; axis < operands[o].size(); ++axis) {
          const std::int64_t own = shapes[o][static_cast<int>(axis)];
          offset = offset * own + (own == 1 ? 0 : index[operands[o][axis]]);
        }
        product *= values[o][static_cast<std::size_t>(offset)];
      }
      std::int64_t place = 0;
      for (const char label : result) place = place * extent.at(label) + index[label];
      sums[static_cast<std::size_t>(place)] += product;
    }
    return sums;
  }
};

std::mt19937& generator() {
  static std::mt19937 engine{20261};
  return engine;
}

/// Small integers, so that sums are exact in any order; in one of three layouts.
template <int Rank> auto random_operand(const Dims& shape) {
  using S = dynamic_shape_t<Rank>;
  const auto fill = [](const Dims& extents) { return eval(round(randn<double, S>(extents) * 3)); };
  if constexpr (Rank == 0) {
    return fill(shape);
  } else {
    Dims reversed = shape;
    for (int axis = 0; axis < Rank; ++axis) reversed[axis] = shape[Rank - 1 - axis];
    switch (generator()() % 3) {
    case 0:
      return fill(shape);
    case 1:
      return fill(reversed).transpose();
    default:
      return Tensor<double, Cpu, S>(fill(shape)[slice{.step = -1}]);
    }
  }
}

/// Random shapes that fit the pattern; behind `...` some extents are 1 and broadcast.
std::vector<Dims> random_shapes(const Reference& reference, unsigned largest) {
  std::map<char, std::int64_t> extent;
  std::vector<Dims> shapes;
  for (const auto& axes : reference.operands) {
    Dims shape{};
    for (const char label : axes) {
      const std::int64_t own = extent.try_emplace(label, 1 + generator()() % largest).first->second;
      shape[shape.rank++] = label <= '9' && generator()() % 4 == 0 ? 1 : own;
    }
    shapes.push_back(shape);
  }
  return shapes;
}

void compare(const Reference& reference, const std::vector<Dims>& shapes,
             const std::vector<std::vector<double>>& operands, const Dims& shape, const std::vector<double>& values) {
  const auto found = reference.extents(shapes);
  Dims wanted{};
  for (const char label : reference.result) wanted[wanted.rank++] = found.at(label);
  REQUIRE(shape == wanted);
  CHECK(values == reference.compute(shapes, operands));
}

template <FixedString Text, int... Ranks> void check(unsigned largest = 6) {
  const std::string text(Text.view());
  CAPTURE(text);
  const Reference reference(text, {static_cast<std::size_t>(Ranks)...});
  for (int round = 0; round < 4; ++round) {
    const std::vector<Dims> shapes = random_shapes(reference, largest);
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      [&](const auto&... operand) {
        const auto result = eval(einsum<Text>(operand...));
        compare(reference, shapes, {numbers(operand)...}, result.shape(), numbers(result));
      }(random_operand<Ranks>(shapes[I])...);
    }
    (std::make_index_sequence<sizeof...(Ranks)>{});
  }
}

} // namespace

TEST_CASE("einsum of one operand permutes, sums and takes diagonals", "[expr]") {
  check<"ij->ji", 2>();
  check<"ij->j", 2>(20);
  check<"ij->i", 2>(20);
  check<"ij->", 2>();
  check<"ii->", 2>();
  check<"ii->i", 2>();
  check<"iij->ji", 3>();
  check<"ijk->ik", 3>();
  check<"kji", 3>();
  check<"...i->...", 3>();
}

TEST_CASE("einsum of two operands is every product", "[expr]") {
  check<"ij,jk->ik", 2, 2>(20);
  check<"ij,jk", 2, 2>();
  check<"ij,kj->ki", 2, 2>();
  check<"bij,bjk->bik", 3, 3>();
  check<"bij,bjk->ibk", 3, 3>();
  check<"ijb,bjk->kbi", 3, 3>();
  check<"i,j->ij", 1, 1>();
  check<"i,i->i", 1, 1>();
  check<"i,i->", 1, 1>(40);
  check<"ij,ij->i", 2, 2>();
  check<"ij,i->ji", 2, 1>();
  check<"ij,->ij", 2, 0>();
  check<"abcd,cdef->abef", 4, 4>(4);
  check<"abcd,dcef->feab", 4, 4>(4);
  check<"abc,dc->abd", 3, 2>();
  check<"ii,ij->j", 2, 2>();
  check<"ij,kl->il", 2, 2>();
  check<"ij,jk->", 2, 2>();
  check<"...ij,...jk->...ik", 4, 3>(4);
  check<"...ij, jk -> ...ik", 3, 2>();
  check<"bhqd,bhkd->bhqk", 4, 4>(4);
}

TEST_CASE("einsum of many operands is contracted pair by pair", "[expr]") {
  check<"ij,jk,kl->il", 2, 2, 2>();
  check<"i,ij,j->", 1, 2, 1>();
  check<"ij,ik,il->jkl", 2, 2, 2>(4);
  check<"ab,bc,cd,de->ea", 2, 2, 2, 2>(4);
  check<"a,b,c,d->dcba", 1, 1, 1, 1>(4);
  check<"ai,bi,ci,i->abc", 2, 2, 2, 1>(4);
  check<"ab,bc,cd,de,ef,fg,gh->ah", 2, 2, 2, 2, 2, 2, 2>(3);
  check<"...a,ab,b...->...", 2, 2, 2>(4);
}

TEST_CASE("the order of a chain of products is the cheapest", "[expr]") {
  using namespace twill::expr;
  constexpr int ranks[] = {2, 2, 2, 2};
  constexpr Pattern pattern = PatternReader{"ab,bc,cd,de->ae", ranks, 4}.read();
  // (100 x 2)(2 x 100)(100 x 2)(2 x 100): the middle pair first
  constexpr Dims shapes[] = {Dims(100, 2), Dims(2, 100), Dims(100, 2), Dims(2, 100)};
  constexpr ContractionOrder order = contraction_order(pattern, extents_of_labels(pattern, shapes));
  static_assert(order.count == 3 && order.steps[0].left == 1 && order.steps[0].right == 2);
  static_assert(order.multiply_adds == 2 * 100 * 2 + 100 * 2 * 2 + 100 * 2 * 100);
}

TEST_CASE("einsum takes expressions and static extents, and names differing extents", "[expr]") {
  const auto a = randn<float, Shape<2, 3, 4>>();
  const auto b = randn<float, Shape<2, 4, 5>>();
  Tensor c = einsum<"bij,bjk->bik">(a * 2, b) + 1;
  static_assert(std::is_same_v<decltype(c)::shape_type, Shape<2, 3, 5>>);
  Tensor expected = matmul(a * 2, b) + 1;
  CHECK(to_vector(c) == to_vector(expected));
  CHECK(message_of([&] { (void)eval(einsum<"ij,jk">(a[0].reshape(3, 4), b[0].reshape(5, 4))); }) ==
        "einsum: letter j has extent 4 and, in operand 1, 5");
  CHECK(to_vector(eval(einsum<"ij,jk">(zeros<float, Shape<2, 0>>(), zeros<float, Shape<0, 3>>()))) ==
        std::vector<float>(6, 0));
  CHECK(einsum<"ij->">(zeros<std::int32_t, Shape<2, 0>>()).item() == 0);
}
