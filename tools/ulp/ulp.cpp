// SPDX-License-Identifier: Apache-2.0
//
// Measures the errors of the vector functions: unary float32 ones over all 2^32 inputs, activation
// functions over every 61st, binary ones and those of float64 by dense sampling. Prints a table. `tools/ulp/measure` builds and runs it for each instruction set.
//
//   ulp [--stride N] [--threads N] [function ...]

#include "formulas.hpp"
#include "functions.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using namespace ulp;

Finding over_all_floats(const Unary& function, std::uint64_t stride, int threads) {
  // short pieces in turn, since some ranges cost more than others
  constexpr int pieces = 256;
  std::vector<Finding> found(static_cast<std::size_t>(threads));
  std::vector<std::thread> team;
  for (int rank = 0; rank < threads; ++rank)
    team.emplace_back([&, rank] {
      Finding& own = found[static_cast<std::size_t>(rank)];
      for (std::uint64_t piece = static_cast<std::uint64_t>(rank); piece < pieces;
           piece += static_cast<std::uint64_t>(threads)) {
        const std::uint64_t size = (std::uint64_t{1} << 32) / pieces;
        const std::uint64_t first = (piece * size + stride - 1) / stride * stride;
        own.take(sweep(first, (piece + 1) * size, stride, function.evaluate, function.exact, function.nearly_exact));
      }
    });
  Finding all;
  for (int rank = 0; rank < threads; ++rank) {
    team[static_cast<std::size_t>(rank)].join();
    all.take(found[static_cast<std::size_t>(rank)]);
  }
  return all;
}

void print(std::string_view name, const char* type, const Finding& found, const char* where) {
  std::printf("| %.*s | %s | %llu | %.2f | %s | %llu |\n", static_cast<int>(name.size()), name.data(), type,
              static_cast<unsigned long long>(found.inputs), found.worst, where,
              static_cast<unsigned long long>(found.wrong));
  std::fflush(stdout);
}

/// Any bit pattern, or a number of ordinary size, or one near 1.
float some_float(std::mt19937_64& random) {
  const std::uint64_t bits = random();
  switch (bits >> 62) {
  case 0:
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  case 1:
    return std::bit_cast<float>(0x3f000000U + static_cast<std::uint32_t>(bits % 0x1000000U));
  default:
    return std::ldexp(static_cast<float>(static_cast<std::int32_t>(bits)), static_cast<int>((bits >> 40) % 16) - 31);
  }
}

void measure(const Binary& function, int blocks) {
  std::mt19937_64 random{1};
  Finding found;
  char where[80] = "";
  alignas(64) float a[block], b[block], y[block];
  for (int n = 0; n < blocks; ++n) {
    for (int i = 0; i < block; ++i) {
      a[i] = some_float(random);
      b[i] = some_float(random);
    }
    function.evaluate(a, b, y);
    for (int i = 0; i < block; ++i) {
      const double error = error_of(y[i], function.exact(static_cast<double>(a[i]), static_cast<double>(b[i])));
      if (error < 0 && found.wrong++ == 0)
        std::printf("wrong: %.*s(%a, %a) = %a\n", static_cast<int>(function.name.size()), function.name.data(),
                    static_cast<double>(a[i]), static_cast<double>(b[i]), static_cast<double>(y[i]));
      if (error > found.worst) {
        found.worst = error;
        std::snprintf(where, sizeof where, "%a, %a", static_cast<double>(a[i]), static_cast<double>(b[i]));
      }
    }
    found.inputs += block;
  }
  print(function.name, "float32, sampled", found, where);
}

void measure(const UnaryDouble& function, int blocks) {
  std::mt19937_64 random{1};
  Finding found;
  char where[80] = "";
  alignas(64) double x[block], y[block];
  for (int n = 0; n < blocks; ++n) {
    for (int i = 0; i < block; ++i) {
      const std::uint64_t bits = random();
      x[i] = i % 4 == 0 ? std::bit_cast<double>(bits)
                        : std::ldexp(static_cast<double>(static_cast<std::int64_t>(bits)),
                                     static_cast<int>(random() % 24) - 76);
    }
    function.evaluate(x, y);
    for (int i = 0; i < block; ++i) {
      const long double exact = function.exact(static_cast<long double>(x[i]));
      const auto rounded = static_cast<double>(exact);
      const bool same = rounded == y[i] ? rounded != 0 || std::signbit(rounded) == std::signbit(y[i])
                                        : std::isnan(rounded) && std::isnan(y[i]);
      if (!same && (!std::isfinite(rounded) || !std::isfinite(y[i]) || (rounded == 0 && y[i] == 0))) {
        if (found.wrong++ == 0)
          std::printf("wrong: %.*s(%a) = %a\n", static_cast<int>(function.name.size()), function.name.data(), x[i],
                      y[i]);
      }
      if (!std::isfinite(rounded) || !std::isfinite(y[i])) continue;
      const double unit = std::max(std::ldexp(1.0, rounded == 0 ? -1074 : std::ilogb(rounded) - 52), 0x1p-1074);
      const auto error =
          static_cast<double>(std::fabs(static_cast<long double>(y[i]) - exact) / static_cast<long double>(unit));
      if (error > found.worst) {
        found.worst = error;
        std::snprintf(where, sizeof where, "%a", x[i]);
      }
    }
    found.inputs += block;
  }
  print(function.name, "float64, sampled", found, where);
}

} // namespace

int main(int count, char** arguments) {
  std::uint64_t stride = 1;
  int threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  std::vector<std::string_view> names;
  for (int i = 1; i < count; ++i) {
    const std::string_view argument = arguments[i];
    if (argument == "--stride" && i + 1 < count)
      stride = static_cast<std::uint64_t>(std::atoll(arguments[++i]));
    else if (argument == "--threads" && i + 1 < count)
      threads = std::atoi(arguments[++i]);
    else
      names.push_back(argument);
  }
  const auto wanted = [&](std::string_view name) {
    return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
  };
  std::puts(
      "| function | type | inputs | largest error (ULP) | at | special values wrong |\n|---|---|---|---|---|---|");
  for (const Unary& function : unary_functions) {
    if (!wanted(function.name)) continue;
    const Finding found = over_all_floats(function, stride, threads);
    char where[80];
    std::snprintf(where, sizeof where, "%a", static_cast<double>(found.where));
    print(function.name, "float32", found, where);
    if (found.wrong > 0) std::printf("wrong: at %a\n", static_cast<double>(found.where_wrong));
  }
  for (const Formula& formula : formulas) {
    if (!wanted(formula.name)) continue;
    const Finding found = sweep(formula, std::max<std::uint64_t>(stride, 61));
    char type[40] = "float32, sampled", where[80];
    if (std::isfinite(formula.least))
      std::snprintf(type, sizeof type, "float32 from %g", static_cast<double>(formula.least));
    std::snprintf(where, sizeof where, "%a", static_cast<double>(found.where));
    print(formula.name, type, found, where);
    if (found.wrong > 0) std::printf("wrong: at %a\n", static_cast<double>(found.where_wrong));
  }
  const int blocks = static_cast<int>(std::max<std::uint64_t>(100, 2000 / stride));
  for (const Binary& function : binary_functions)
    if (wanted(function.name)) measure(function, blocks);
  for (const UnaryDouble& function : double_functions)
    if (wanted(function.name)) measure(function, blocks);
}
