// SPDX-License-Identifier: Apache-2.0
//
// Spectrogram of a sound whose pitch rises and falls: overlapping windows are a view, one call transforms all of them, and the
// strongest frequency of each follows the pitch. The pictures are spectrogram.svg, the power of each frequency at each time with
// the pitch as a line, and spectrogram_pitch.svg.
//
// prints: 122 windows of 1024 samples, 513 frequencies
// prints: the pitch is followed to 16 Hz: yes

#include <twill/fft.hpp>
#include <twill/profile/svg.hpp>
#include <twill/profile/svg_plot.hpp>
#include <twill/twill.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <numbers>
#include <string>
#include <vector>

using namespace twill;

namespace {

constexpr double rate = 16000;        // samples in a second
constexpr std::int64_t length = 1024; // of a window
constexpr std::int64_t step = 256;    // from one window to the next

/// The frequency at a time, from 400 to 1200 Hz, and its integral in cycles.
double pitch_at(double seconds) { return 800 + 400 * std::sin(std::numbers::pi * seconds); }
/// The time in the middle of a window.
double middle_of(std::size_t window) {
  return static_cast<double>(static_cast<std::int64_t>(window) * step + length / 2) / rate;
}

/// A colour between dark blue and yellow for a part from 0 to 1.
std::string colour_of(double part) {
  constexpr std::array<std::array<double, 3>, 4> stops{{{13, 8, 135}, {156, 23, 158}, {237, 121, 83}, {240, 249, 33}}};
  const double at = std::clamp(part, 0.0, 1.0) * 3;
  const auto first = std::min<std::size_t>(static_cast<std::size_t>(at), 2);
  std::array<char, 8> text{};
  std::array<int, 3> mixed{};
  for (std::size_t k = 0; k < 3; ++k)
    mixed[k] = static_cast<int>(stops[first][k] + (stops[first + 1][k] - stops[first][k]) * (at - double(first)));
  std::snprintf(text.data(), text.size(), "#%02x%02x%02x", mixed[0] & 255, mixed[1] & 255, mixed[2] & 255);
  return text.data();
}

/// Draws powers (windows, frequencies), in decibels below the greatest, with time to the right and frequency upwards.
void draw(const std::vector<float>& decibels, std::size_t windows, double most_hertz, const char* path) {
  constexpr double deepest = 48;
  constexpr double each = rate / length;
  const std::size_t frequencies = decibels.size() / windows;
  const double end = middle_of(windows - 1) + step / rate / 2;
  const profile::SvgAxis x{0, end, 70, 690, profile::nice_ticks(0, end, 6)};
  const profile::SvgAxis y{0, most_hertz, 390, 50, profile::nice_ticks(0, most_hertz, 8)};
  profile::Svg svg{};
  svg.title(70, "spectrogram of a sound, 48 dB");
  svg.x_axis(x, 390, "seconds");
  svg.y_axis(y, 70, 690, "Hz");
  std::string pitch;
  for (std::size_t window = 0; window < windows; ++window) {
    const double left = x.at(middle_of(window) - step / rate / 2), right = x.at(middle_of(window) + step / rate / 2);
    for (std::size_t k = 0; (double(k) + 0.5) * each <= most_hertz && k < frequencies; ++k) {
      const double low = y.at(std::max((double(k) - 0.5) * each, 0.0)), high = y.at((double(k) + 0.5) * each);
      const double part = 1 + static_cast<double>(decibels[window * frequencies + k]) / deepest;
      svg.rectangle(left, high, right - left + 0.4, low - high + 0.4, {.fill = colour_of(std::round(part * 16) / 16)});
    }
    pitch += profile::Svg::path_to(x.at(middle_of(window)), y.at(pitch_at(middle_of(window))), window == 0 ? 'M' : 'L');
  }
  svg.path(pitch, {.fill = "none", .stroke = "#00e5ff", .stroke_width = 1.2, .dashes = "6 4"});
  std::ofstream(path) << svg.document(720, 440);
}

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
    middle.push_back(middle_of(i));
    true_pitch.push_back(pitch_at(middle.back()));
    is_followed = is_followed && std::abs(found[i] - true_pitch.back()) <= 16;
  }
  std::cout << "the pitch is followed to 16 Hz: " << (is_followed ? "yes" : "no") << '\n';
  const Tensor decibels = eval(cast<float>(10 * log10(power / max(power))));
  draw(to_vector(decibels), found.size(), 1600, "spectrogram.svg");
  profile::LinePlot({.title = "pitch of a sound", .x_label = "seconds", .y_label = "Hz"})
      .add("pitch", middle, true_pitch)
      .add("strongest frequency", middle, found)
      .save("spectrogram_pitch.svg");
}
