// SPDX-License-Identifier: Apache-2.0
//
// What the devices of this machine do now, whoever uses them: the host devices that twill makes of the cores, and the GPUs that
// NVIDIA's driver knows, with the processes on them. `--watch` shows it again every two seconds, or as often as it is told, and
// `--times` ends after so many tables.
//
// prints: cpu:0
// prints: load

#include <twill/profile/cuda/utilization.hpp>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <thread>

using namespace twill;

namespace {

struct Options {
  double seconds = 0; ///< between two tables; 0: one table
  long times = 0;     ///< 0: until it is interrupted
};

/// A number that stands behind a flag, or what holds without one.
double number_behind(int count, char** words, int& at, double otherwise) {
  if (at + 1 >= count || words[at + 1][0] == '-') return otherwise;
  char* end = nullptr;
  const char* const word = words[++at];
  const double number = std::strtod(word, &end);
  if (*end == '\0' && number > 0) return number;
  std::cerr << "smi: '" << word << "' is no positive number\n";
  std::exit(2);
}

Options options_of(int count, char** words) {
  Options options{};
  for (int at = 1; at < count; ++at) {
    const std::string_view word = words[at];
    if (word == "--watch") {
      options.seconds = number_behind(count, words, at, 2);
    } else if (word == "--times") {
      options.times = static_cast<long>(number_behind(count, words, at, 1));
    } else {
      (word == "--help" ? std::cout : std::cerr) << "16_smi [--watch [seconds]] [--times count]\n";
      std::exit(word == "--help" ? 0 : 2);
    }
  }
  return options;
}

} // namespace

int main(int count, char** words) {
  const Options options = options_of(count, words);
  const bool watches = options.seconds > 0;
  for (long shown = 1;; ++shown) {
    const std::string text = profile::machine_text();
    if (watches) std::cout << "\033[H\033[2J"; // the screen is cleared when everything is known
    std::cout << text << std::flush;
    if (!watches || shown == options.times) return 0;
    std::this_thread::sleep_for(std::chrono::duration<double>(options.seconds));
  }
}
