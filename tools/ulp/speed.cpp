// SPDX-License-Identifier: Apache-2.0
//
// Nanoseconds an element of the vector functions, on 4096 numbers in cache: the median of 21 runs of a tenth of a millisecond
// and more. Prints a table.

#include "functions.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <vector>

namespace {

using namespace ulp;

template <class F> double nanoseconds(F run, int elements) {
  using clock = std::chrono::steady_clock;
  std::vector<double> times;
  for (int i = 0; i < 21; ++i) {
    constexpr int repetitions = 64;
    const auto start = clock::now();
    for (int n = 0; n < repetitions; ++n) run();
    times.push_back(std::chrono::duration<double, std::nano>(clock::now() - start).count() / repetitions / elements);
  }
  std::nth_element(times.begin(), times.begin() + 10, times.end());
  return times[10];
}

/// Numbers that a function is called with: most are of ordinary size.
float argument(int i, float low, float high) { return low + (high - low) * static_cast<float>(i % 977) / 977.0F; }

} // namespace

int main() {
  alignas(64) static float a[block], b[block], y[block];
  alignas(64) static double wide[block], wide_y[block];
  std::puts("| function | type | ns / element |\n|---|---|---|");
  const auto print = [](std::string_view name, const char* type, double time) {
    std::printf("| %.*s | %s | %.3f |\n", static_cast<int>(name.size()), name.data(), type, time);
  };
  for (const Unary& function : unary_functions) {
    const bool inside = function.name == "asin" || function.name == "acos" || function.name == "atanh";
    const bool positive = function.name.substr(0, 3) == "log" || function.name == "lgamma" ||
                          function.name == "acosh" || function.name == "digamma" || function.name == "sqrt" ||
                          function.name == "rsqrt";
    for (int i = 0; i < block; ++i)
      a[i] = argument(i, inside ? -0.99F : positive ? 1.01F : -4.0F, inside ? 0.99F : 4.0F);
    print(function.name, "float32", nanoseconds([&] { function.evaluate(a, y); }, block));
  }
  for (const Binary& function : binary_functions) {
    for (int i = 0; i < block; ++i) {
      a[i] = argument(i, 0.1F, 4.0F);
      b[i] = argument(i * 7, 0.5F, 3.0F);
    }
    print(function.name, "float32", nanoseconds([&] { function.evaluate(a, b, y); }, block));
  }
  for (const UnaryDouble& function : double_functions) {
    for (int i = 0; i < block; ++i)
      wide[i] = static_cast<double>(argument(i, function.name == "log" ? 0.1F : -4.0F, 4.0F));
    print(function.name, "float64", nanoseconds([&] { function.evaluate(wide, wide_y); }, block));
  }
}
