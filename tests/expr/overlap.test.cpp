// SPDX-License-Identifier: Apache-2.0
//
// Assignment between views of one memory: whatever overlaps, the result is that of evaluating everything into new memory
// first. Random pairs of slices, turned and transposed views, in several kinds of statement.

#include "tests/support/numbers.hpp"

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <random>
#include <vector>

using namespace twill;
using twill::test::numbers;

namespace {

using Line = Tensor<float, Cpu, Shape<dyn>>;
using Matrix = Tensor<float, Cpu, Shape<dyn, dyn>>;

/// Which of the statements to run on a target and two sources that may overlap it.
constexpr int statements = 6;
template <class X> void run(int statement, const X& target, const X& a, const X& b) {
  const auto through = [&] { return X(target); };
  switch (statement) {
  case 0:
    through() = a;
    break;
  case 1:
    through() = a * 2.F + b;
    break;
  case 2:
    target.copy_from(b);
    break;
  case 3:
    through() = a - target;
    break;
  case 4: {
    X named = target;
    named += a;
    break;
  }
  default:
    through() = where(a > b, a, target) + 1.F;
  }
}

/// Runs the statement where everything overlaps, and where the sources are copies.
template <class X, class View> bool is_right(int statement, const X& memory, View&& view_of) {
  const X apart = memory.clone();
  const auto [target, a, b] = view_of(memory);
  const auto [other_target, other_a, other_b] = view_of(apart);
  run(statement, target, a, b);
  run(statement, other_target, other_a.clone(), other_b.clone());
  return numbers(memory) == numbers(apart);
}

template <class X> struct Views {
  X target;
  X a;
  X b;
};

} // namespace

TEST_CASE("slices of one line may be assigned to one another", "[expr]") {
  std::mt19937 random{7};
  const auto pick = [&](int n) { return static_cast<std::int64_t>(random() % static_cast<unsigned>(n)); };
  for (int round = 0; round < 600; ++round) {
    const std::int64_t n = 1 + pick(90);
    const std::int64_t count = 1 + pick(static_cast<int>(n));
    struct Cut {
      std::int64_t first;
      std::int64_t step;
    };
    const auto cut = [&] {
      const std::int64_t most = count == 1 ? 3 : (n - 1) / (count - 1);
      const std::int64_t step = most < 1 ? 1 : 1 + pick(static_cast<int>(most));
      const std::int64_t reach = (count - 1) * step;
      const std::int64_t first = pick(static_cast<int>(n - reach));
      return pick(2) == 0 ? Cut{first, step} : Cut{first + reach, -step};
    };
    const Cut cuts[]{cut(), cut(), cut()};
    const auto views = [&](const Line& memory) {
      const auto view = [&](const Cut& c) {
        return Line(memory.storage(), memory.data() + c.first, Dims(count), Dims(c.step));
      };
      return Views<Line>{view(cuts[0]), view(cuts[1]), view(cuts[2])};
    };
    for (int statement = 0; statement < statements; ++statement) {
      CAPTURE(n, count, statement, cuts[0].first, cuts[0].step, cuts[1].first, cuts[1].step);
      CHECK(is_right(statement, rand<float, Shape<dyn>>(Dims(n)), views));
    }
  }
}

TEST_CASE("turned, transposed and shifted matrices may be assigned to one another", "[expr]") {
  std::mt19937 random{8};
  const auto pick = [&](int n) { return static_cast<std::int64_t>(random() % static_cast<unsigned>(n)); };
  for (int round = 0; round < 200; ++round) {
    const std::int64_t side = 1 + pick(20);
    const std::int64_t kinds[]{pick(6), pick(6), pick(6)};
    const auto views = [&](const Matrix& memory) {
      const Matrix whole = memory;
      const auto view = [&](std::int64_t kind) -> Matrix {
        const Matrix inner = narrow<0>(narrow<1>(whole, 0, side), 0, side);
        switch (kind) {
        case 0:
          return inner;
        case 1:
          return inner.transpose();
        case 2:
          return flip<0>(inner);
        case 3:
          return flip<0, 1>(inner.transpose());
        case 4:
          return narrow<0>(narrow<1>(whole, 1, side), 0, side);
        default:
          return narrow<0>(narrow<1>(whole, 0, 1), 1, side).template expand<Shape<dyn, dyn>>(Dims(side, side));
        }
      };
      return Views<Matrix>{view(kinds[0] == 5 ? 0 : kinds[0]), view(kinds[1]), view(kinds[2])};
    };
    for (int statement = 0; statement < statements; ++statement) {
      CAPTURE(side, statement, kinds[0], kinds[1], kinds[2]);
      CHECK(is_right(statement, rand<float, Shape<dyn, dyn>>(Dims(side + 1, side + 1)), views));
    }
  }
}

TEST_CASE("the statements that NumPy's users write are right", "[expr]") {
  auto x = arange(6.F);
  x[slice{1, {}}] = x[slice{{}, -1}];
  CHECK(numbers(x) == std::vector<double>{0, 0, 1, 2, 3, 4});
  x[slice{{}, -1}] = x[slice{1, {}}] * 2.F;
  CHECK(numbers(x) == std::vector<double>{0, 2, 4, 6, 8, 4});
  x[slice{.step = -1}] = x;
  CHECK(numbers(x) == std::vector<double>{4, 8, 6, 4, 2, 0});
  out(flip<0>(x)) = x + 1.F;
  CHECK(numbers(x) == std::vector<double>{1, 3, 5, 7, 9, 5});
  auto m = arange(9.F).reshape<Shape<3, 3>>();
  m[slice{}] = m.transpose();
  CHECK(numbers(m) == std::vector<double>{0, 3, 6, 1, 4, 7, 2, 5, 8});
  m = m.transpose() + m;
  CHECK(numbers(m) == std::vector<double>{0, 4, 8, 4, 8, 12, 8, 12, 16});
  m[slice{}] = m - m[0];
  CHECK(numbers(m) == std::vector<double>{0, 0, 0, 4, 4, 4, 8, 8, 8});
  m[slice{}] = m - mean<0>(m, keepdims);
  CHECK(numbers(m) == std::vector<double>{-4, -4, -4, 0, 0, 0, 4, 4, 4});
  m[0] = sum<0>(m + 1.F);
  CHECK(numbers(m[0]) == std::vector<double>{3, 3, 3});
  auto narrower = arange(8); // other widths over the same bytes
  const Tensor<std::uint8_t, Cpu, Shape<dyn>> bytes(narrower.storage(),
                                                    reinterpret_cast<std::uint8_t*>(narrower.data()), Dims(8), Dims(1));
  narrower[slice{}] = cast<int>(bytes) + 1;
  CHECK(numbers(narrower) == std::vector<double>{1, 1, 1, 1, 2, 1, 1, 1});
}
