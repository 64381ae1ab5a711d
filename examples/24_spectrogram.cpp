// SPDX-License-Identifier: Apache-2.0
//
// Spectrogram of a sound whose pitch rises and falls: overlapping windows are a view, one call transforms all of them, and the
// strongest frequency of each follows the pitch. The plot is spectrogram_pitch.svg.
//
// prints: 122 windows of 1024 samples, 513 frequencies
// prints: the pitch is followed to 16 Hz: yes

#include <twill/fft.hpp>
#include <twill/profile/svg_plot.hpp>
#include <twill/twill.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <numbers>
#include <vector>

using namespace twill;

namespace {

constexpr double rate = 16000;        // samples in a second
constexpr std::int64_t length = 1024; // of a window
constexpr std::int64_t step = 256;    // from one window to the next

/// The frequency at a time, from 400 to 1200 Hz, and its integral in cycles.
double pitch_at(double seconds) { return 800 + 400 * std::sin(std::numbers::pi * seconds); }

} // namespace

int main() {
  manual_seed_all(3);
  constexpr double pi = std::numbers::pi;
  const Tensor time = eval(arange<double>(32000.0) / rate);
  const Tensor sound =
      eval(sin(2 * pi * (800 * time - 400 / pi * cos(pi * time))) + 0.5 * randn<double, Shape<dyn>>(time.shape()));

  // region: spectrogram
  const Tensor windows = sliding_window_view<0>(sound, length)(slice{.step = step}); // shares the memory of the sound
  const Tensor hann = eval(0.5 - 0.5 * cos(arange<double>(length) * (2 * pi / length)));
  const Tensor spectra = fft::rfft(windows * hann); // a row for each window
  const Tensor power = eval(square(abs(spectra)));
  const Tensor pitch = eval(take<0>(fft::rfftfreq<double>(length, 1 / rate), eval(argmax<1>(power))));
  // end region

  std::cout << power.size(0) << " windows of " << length << " samples, " << power.size(1) << " frequencies\n";
  std::vector<double> middle;
  std::vector<double> true_pitch;
  bool is_followed = true;
  const std::vector<double> found = to_vector(pitch);
  for (std::size_t i = 0; i < found.size(); ++i) {
    middle.push_back(static_cast<double>(static_cast<std::int64_t>(i) * step + length / 2) / rate);
    true_pitch.push_back(pitch_at(middle.back()));
    is_followed = is_followed && std::abs(found[i] - true_pitch.back()) <= 16;
  }
  std::cout << "the pitch is followed to 16 Hz: " << (is_followed ? "yes" : "no") << '\n';
  profile::LinePlot({.title = "pitch of a sound", .x_label = "seconds", .y_label = "Hz"})
      .add("pitch", middle, true_pitch)
      .add("strongest frequency", middle, found)
      .save("spectrogram_pitch.svg");
}
