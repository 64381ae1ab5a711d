// SPDX-License-Identifier: Apache-2.0
//
// Reductions, norms and losses of rows with their derivatives beside PyTorch's, at ties, zeros, huge values, infinities and
// NaN. What is meant to differ is listed with its reason. Read next: tests/golden/scripts/edges.py.

#include "tests/support/edge_rows.hpp"
#include "tests/support/golden.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

using namespace twill;
using namespace twill::test;

namespace {

/// Where twill is meant to differ from PyTorch: the derivatives, 0 for the value, and the rows.
struct Difference {
  std::string_view function;
  std::vector<std::size_t> derivatives;
  std::vector<std::size_t> rows;
  std::string_view reason;
};

const Difference differences[] = {
    {"prod", {1, 2}, {10, 13, 14, 15, 17}, "quotients of the product, NaN where it is infinite or NaN"},
    {"max", {1}, {17}, "0: no element equals NaN; PyTorch divides by their number"},
    {"min", {1}, {17}, "as for max"},
    {"var", {1}, {13, 14}, "NaN: an infinite element minus the mean"},
    {"logsumexp", {1, 2}, {10}, "shares of the sum; PyTorch's exp(x - y) has lost log 2 beside 1e200"},
    {"layer_norm", {0, 1}, {9, 10}, "0: the variance is infinite; PyTorch's is NaN"},
    {"normalize", {2}, {0, 11, 12}, "0; PyTorch's is NaN where the norm is 0"},
    {"cosine_similarity", {2}, {0, 11, 12}, "as for normalize"},
};

bool has(const std::vector<std::size_t>& list, std::size_t number) {
  return std::find(list.begin(), list.end(), number) != list.end();
}
bool is_meant(std::string_view function, std::size_t derivative, std::size_t row) {
  return std::any_of(std::begin(differences), std::end(differences), [&](const Difference& each) {
    return each.function == function && has(each.derivatives, derivative) && has(each.rows, row);
  });
}

} // namespace

TEST_CASE("functions of rows and their derivatives are PyTorch's at ties and at the ends", "[graph]") {
  const Golden rows = golden("edges/rows");
  const Dims shape(rows.shape.at(0), rows.shape.at(1));
  for (const EdgeRows& function : edge_rows) {
    std::string file{function.name};
    std::replace(file.begin(), file.end(), ' ', '_');
    const std::vector<double> expected = golden("edges/" + file).values;
    std::size_t next = 0;
    std::size_t derivative = 0;
    for (const std::vector<double>& got : edge_reference(function, shape, rows.values)) {
      const std::size_t width = got.size() / static_cast<std::size_t>(shape[0]);
      for (std::size_t i = 0; i < got.size(); ++i, ++next) {
        const double right = expected.at(next);
        const bool is_right =
            agrees(got[i], right, 1e-11 * std::fabs(right) + 4e-15) || is_meant(function.name, derivative, i / width);
        if (!is_right) {
          std::ostringstream text{};
          text << function.name << ", derivative " << derivative << " of row " << i / width << ": " << got[i]
               << ", PyTorch's is " << right;
          UNSCOPED_INFO(text.str());
        }
        CHECK(is_right);
      }
      ++derivative;
    }
    CHECK(next == expected.size());
  }
}
