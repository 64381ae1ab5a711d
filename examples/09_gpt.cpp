// SPDX-License-Identifier: Apache-2.0
//
// Trains a small GPT-2 on bytes of the licence texts that every Debian machine has, compares it on held-out text with a model
// that counts which byte follows three others, and writes a few lines of its own:
//
//     build/release/examples/09_gpt --steps 1500
//
// The model is examples/models/gpt2.hpp. With few steps (as in the test) the counting model is ahead; the output says who is.
//
// prints: bits per byte
// prints: the loss fell: yes

#include "examples/models/gpt2.hpp"

#include <twill/twill.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

using namespace twill;

constexpr std::int64_t window_size = 128;
constexpr models::Gpt2Sizes sizes{.vocabulary = 128, .positions = window_size, .width = 128, .layers = 4, .heads = 4};
using Model = models::Gpt2<sizes, window_size>;

/// Seven-bit bytes of texts: the first nine tenths of each to learn from, the rest to be held out.
struct Texts {
  std::string learnt;
  std::string held_out;
};
Texts read_texts(const std::string& folder) {
  Texts texts;
  for (const char* name : {"Apache-2.0", "Artistic", "BSD", "GFDL-1.2", "GFDL-1.3", "GPL-1", "GPL-2", "GPL-3", "LGPL-2",
                           "LGPL-2.1", "LGPL-3", "MPL-1.1", "MPL-2.0"}) {
    std::ifstream file{folder + "/" + name, std::ios::binary};
    std::string text;
    for (std::istreambuf_iterator<char> c{file}, end; c != end; ++c)
      if (static_cast<unsigned char>(*c) < 128) text += *c;
    texts.learnt += text.substr(0, text.size() * 9 / 10);
    texts.held_out += text.substr(text.size() * 9 / 10);
  }
  return texts;
}

/// The negative logarithm, to base 2, of what a model of three preceding bytes gives to each byte of a text, on average.
/// Counts of shorter contexts are mixed in (Witten and Bell, 1991), which is better than adding one.
double bits_of_counting(std::string_view learnt, std::string_view held_out) {
  struct Counts {
    std::array<std::uint32_t, 128> of{};
    std::uint32_t total = 0;
    std::uint32_t kinds = 0;
  };
  std::array<std::vector<Counts>, 4> tables{};
  for (std::size_t order = 0; order < 4; ++order)
    tables[order].resize(std::size_t{1} << (7 * std::min<std::size_t>(order, 2)));
  std::vector<std::uint32_t> place_of_three(std::size_t{1} << 21, 0); // contexts of three bytes that occur
  tables[3].clear();
  tables[3].emplace_back();
  const auto context_of = [](std::string_view text, std::size_t i, std::size_t order) {
    std::size_t key = 0;
    for (std::size_t k = order; k > 0; --k) key = key << 7 | static_cast<std::size_t>(text[i - k]);
    return key;
  };
  for (std::size_t i = 3; i < learnt.size(); ++i)
    for (std::size_t order = 0; order < 4; ++order) {
      std::size_t key = context_of(learnt, i, order);
      if (order == 3) {
        std::uint32_t& place = place_of_three[key];
        if (place == 0) {
          place = static_cast<std::uint32_t>(tables[3].size());
          tables[3].emplace_back();
        }
        key = place;
      }
      Counts& counts = tables[order][key];
      if (counts.of[static_cast<std::size_t>(learnt[i])]++ == 0) ++counts.kinds;
      ++counts.total;
    }
  double bits = 0;
  for (std::size_t i = 3; i < held_out.size(); ++i) {
    double probability = 1.0 / 128;
    for (std::size_t order = 0; order < 4; ++order) {
      const std::size_t key = context_of(held_out, i, order);
      const Counts& counts = tables[order][order == 3 ? place_of_three[key] : key];
      if (counts.total == 0) continue;
      probability = (counts.of[static_cast<std::size_t>(held_out[i])] + counts.kinds * probability) /
                    (counts.total + counts.kinds);
    }
    bits -= std::log2(probability);
  }
  return bits / static_cast<double>(held_out.size() - 3);
}

/// Bytes from each position on, and the bytes behind them.
struct Batch {
  Tensor<std::int64_t, Cpu, Shape<dyn, window_size>> tokens;
  Tensor<std::int64_t, Cpu, Shape<dyn, window_size>> next;
};
Batch batch_at(std::string_view text, const std::vector<std::size_t>& positions) {
  std::vector<std::int64_t> tokens;
  std::vector<std::int64_t> next;
  for (std::size_t position : positions)
    for (std::size_t i = 0; i < static_cast<std::size_t>(window_size); ++i) {
      tokens.push_back(text[position + i]);
      next.push_back(text[position + i + 1]);
    }
  const Dims shape(static_cast<std::int64_t>(positions.size()), window_size);
  return {from_values<Shape<dyn, window_size>>(tokens, shape, Cpu{0}),
          from_values<Shape<dyn, window_size>>(next, shape, Cpu{0})};
}

/// Mean bits per byte of held-out text, of bytes with at least half a window before them.
double bits_of(const nn::Network<Model, Cpu>& model, std::string_view text, std::size_t windows) {
  constexpr auto length = static_cast<std::size_t>(window_size);
  double bits = 0;
  std::size_t count = 0;
  for (std::size_t w = 0; w < windows && (w + 2) * length / 2 < text.size(); ++w) {
    const Batch batch = batch_at(text, {w * length / 2});
    const std::vector<float> logits = to_vector(model.infer(batch.tokens));
    for (std::size_t i = length / 2; i < length; ++i, ++count) {
      const float* row = logits.data() + i * 128;
      double sum = 0;
      for (std::size_t k = 0; k < 128; ++k) sum += std::exp(static_cast<double>(row[k]));
      bits += std::log2(sum) -
              static_cast<double>(row[static_cast<std::size_t>(text[w * length / 2 + i + 1])]) / std::log(2.0);
    }
  }
  return bits / static_cast<double>(count);
}

/// Continues a text byte by byte, each drawn from the model's distribution at a temperature. The last position of the window
/// is left free: no later one ever looks back at it, so its embedding learns more slowly than all others.
std::string sample(const nn::Network<Model, Cpu>& model, std::string text, std::size_t count, double temperature) {
  constexpr auto length = static_cast<std::size_t>(window_size);
  std::mt19937 random{1};
  for (std::size_t n = 0; n < count; ++n) {
    const std::size_t known = std::min(text.size(), length - 1);
    std::vector<std::int64_t> tokens(text.end() - static_cast<std::ptrdiff_t>(known), text.end());
    tokens.insert(tokens.end(), length - known, 0);
    const Tensor window = from_values<Shape<dyn, window_size>>(tokens, Dims(1, window_size), Cpu{0});
    const std::vector<float> logits = to_vector(model.infer(window));
    std::vector<double> weights;
    for (std::size_t k = 0; k < 128; ++k)
      weights.push_back(std::exp(static_cast<double>(logits[(known - 1) * 128 + k]) / temperature));
    text += static_cast<char>(std::discrete_distribution<int>(weights.begin(), weights.end())(random));
  }
  return text;
}

int main(int argc, char** argv) {
  std::size_t steps = 1500;
  std::string folder = "/usr/share/common-licenses";
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::string_view{argv[i]} == "--steps") steps = static_cast<std::size_t>(std::atoi(argv[i + 1]));
    if (std::string_view{argv[i]} == "--texts") folder = argv[i + 1];
  }
  const auto [learnt, held_out] = read_texts(folder);
  if (learnt.size() < 50000) {
    std::cerr << "found " << learnt.size() << " bytes of text in " << folder << "; name another folder with --texts\n";
    return 1;
  }

  manual_seed_all(7);
  nn::Network<Model, Cpu> model{Cpu{0}};
  auto step = train_step(model, nn::cross_entropy, optim::AdamW{{.rate = 1e-3}});
  std::mt19937 random{7};
  float first = 0;
  float last = 0;
  for (std::size_t i = 0; i < steps; ++i) {
    std::vector<std::size_t> positions(16);
    for (std::size_t& position : positions)
      position = random() % (learnt.size() - static_cast<std::size_t>(window_size) - 1);
    const Batch batch = batch_at(learnt, positions);
    const double done = static_cast<double>(i) / static_cast<double>(steps);
    step.rule.options.rate = 2e-3 * std::min(1.0, 10 * (done + 0.01)) * (1.0 - 0.9 * done); // warm-up, then down
    last = step(batch.tokens, batch.next).item();
    if (i == 0) first = last;
    if (i % 100 == 0) std::cout << "step " << i << "  loss " << last << std::endl;
  }
  const double counted = bits_of_counting(learnt, held_out);
  const double predicted = bits_of(model, held_out, steps < 100 ? 20 : 600);
  std::cout << "weights                " << models::weights_of<Model>() << "\n"
            << "GPT                    " << predicted << " bits per byte of held-out text\n"
            << "three preceding bytes  " << counted << " bits per byte\n"
            << (predicted < counted ? "the GPT is ahead\n" : "the counts are ahead\n")
            << "the loss fell: " << (last < first - 0.3F ? "yes" : "no") << "\n\n"
            << sample(model, "This program is free software", steps < 100 ? 40 : 400, 0.7) << "\n";
}
