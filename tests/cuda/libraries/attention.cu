// SPDX-License-Identifier: Apache-2.0
//
// Attention and norms by cuDNN on a GPU, forward and backward, beside plain loops in double.

#include <tests/cuda/libraries/cudnn.hpp>
#include <tests/support/suite.hpp>

#include <twill/device/cuda/cudnn.cuh>

#include <cmath>
#include <cstdint>
#include <vector>

namespace {

using namespace twill;
using namespace twill::nvidia;
using namespace twill::nvidia::dnn;
using test::Case;

struct Reference {
  std::vector<double> o{}, statistics{}, dq{}, dk{}, dv{};
};

/// softmax(scale q k^T) v and its gradients for the cotangent d, head by head.
template <class T>
Reference reference(const Attention& a, const std::vector<T>& q, const std::vector<T>& k, const std::vector<T>& v,
                    const std::vector<T>& d) {
  Reference r{};
  for (auto* each : {&r.o, &r.dq, &r.dk, &r.dv}) each->resize(q.size());
  const auto at = [](const HeadStrides& strides, std::int64_t b, std::int64_t h, std::int64_t row, std::int64_t i) {
    return static_cast<std::size_t>(b * strides.batch + h * strides.head + row * strides.row + i);
  };
  for (std::int64_t b = 0; b < a.batch; ++b)
    for (std::int64_t h = 0; h < a.heads; ++h)
      for (std::int64_t i = 0; i < a.queries; ++i) {
        const std::int64_t seen = a.is_causal ? i + 1 : a.keys;
        std::vector<double> weights(static_cast<std::size_t>(seen));
        double highest = -1e30, sum = 0;
        for (std::int64_t j = 0; j < seen; ++j) {
          double score = 0;
          for (std::int64_t c = 0; c < a.width; ++c)
            score += static_cast<double>(q[at(a.q, b, h, i, c)]) * static_cast<double>(k[at(a.k, b, h, j, c)]);
          weights[static_cast<std::size_t>(j)] = a.scale * score;
          highest = std::max(highest, a.scale * score);
        }
        for (double& weight : weights) sum += weight = std::exp(weight - highest);
        r.statistics.push_back(highest + std::log(sum));
        for (double& weight : weights) weight /= sum;
        double dot = 0;
        for (std::int64_t c = 0; c < a.width; ++c) {
          double value = 0;
          for (std::int64_t j = 0; j < seen; ++j)
            value += weights[static_cast<std::size_t>(j)] * static_cast<double>(v[at(a.v, b, h, j, c)]);
          r.o[at(a.o, b, h, i, c)] = value;
          dot += value * static_cast<double>(d[at(a.o, b, h, i, c)]);
        }
        for (std::int64_t j = 0; j < seen; ++j) {
          const double weight = weights[static_cast<std::size_t>(j)];
          double d_weight = 0;
          for (std::int64_t c = 0; c < a.width; ++c) {
            const auto d_value = static_cast<double>(d[at(a.o, b, h, i, c)]);
            d_weight += d_value * static_cast<double>(v[at(a.v, b, h, j, c)]);
            r.dv[at(a.v, b, h, j, c)] += weight * d_value;
          }
          const double d_score = a.scale * weight * (d_weight - dot);
          for (std::int64_t c = 0; c < a.width; ++c) {
            r.dq[at(a.q, b, h, i, c)] += d_score * static_cast<double>(k[at(a.k, b, h, j, c)]);
            r.dk[at(a.k, b, h, j, c)] += d_score * static_cast<double>(q[at(a.q, b, h, i, c)]);
          }
        }
      }
  return r;
}

template <class T>
void compare(const test::DeviceMemory& memory, const std::vector<double>& expected, double tolerance) {
  const auto computed = test::on_host<T>(memory, expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    test::require_close(static_cast<double>(computed[i]), expected[i], tolerance, tolerance);
}

template <class T> void check_attention(double tolerance) {
  for (const bool is_causal : {false, true})
    for (const bool is_deterministic : {false, true}) {
      const Attention a = self_attention(dtype_of<T>, 2, 72, 3, 64, 0.125F, is_causal);
      const auto count = static_cast<std::size_t>(a.batch * a.heads * a.queries * a.width);
      const auto q = test::random_values<T>(count, 1), k = test::random_values<T>(count, 2),
                 v = test::random_values<T>(count, 3), d = test::random_values<T>(count, 4);
      const Reference expected = reference(a, q, k, v, d);
      const auto q_memory = test::on_device(q), k_memory = test::on_device(k), v_memory = test::on_device(v),
                 d_memory = test::on_device(d);
      const auto empty = [&] { return test::on_device(std::vector<T>(count)); };
      const auto o = empty(), alone = empty(), dq = empty(), dk = empty(), dv = empty();
      const auto statistics = test::on_device(std::vector<float>(expected.statistics.size()));
      auto* const kept = static_cast<float*>(statistics.data());
      set_library_options({.is_deterministic = is_deterministic});
      launch(Cuda{0}, [&](const auto& queue) {
        test::require(try_attention(queue, a, q_memory.data(), k_memory.data(), v_memory.data(), o.data(), kept));
        test::require(
            try_attention(queue, a, q_memory.data(), k_memory.data(), v_memory.data(), alone.data(), nullptr));
        test::require(try_attention_gradients(queue, a,
                                              {q_memory.data(), k_memory.data(), v_memory.data(), o.data(),
                                               d_memory.data(), kept, dq.data(), dk.data(), dv.data()}));
      });
      set_library_options({});
      compare<T>(o, expected.o, tolerance);
      compare<T>(alone, expected.o, tolerance);
      compare<float>(statistics, expected.statistics, tolerance);
      compare<T>(dq, expected.dq, 2 * tolerance);
      compare<T>(dk, expected.dk, 2 * tolerance);
      compare<T>(dv, expected.dv, 2 * tolerance);
    }
}
void attention() {
  check_attention<twill::half>(1e-2);
  check_attention<bfloat16>(5e-2);
}

/// Rows of a layer norm are the groups, channels of a batch norm.
template <class T> void check_norm(NormKind kind, double tolerance) {
  const Norm norm{kind, dtype_of<T>, 96, 64};
  const auto rows = static_cast<std::size_t>(norm.rows), channels = static_cast<std::size_t>(norm.channels);
  const std::size_t groups = kind == NormKind::layer ? rows : channels, members = rows * channels / groups;
  const auto x = test::random_values<T>(rows * channels, 1), dy = test::random_values<T>(rows * channels, 2);
  const auto scale = test::random_values<float>(channels, 3), bias = test::random_values<float>(channels, 4);
  const auto place = [&](std::size_t group, std::size_t member) {
    return kind == NormKind::layer ? group * channels + member : member * channels + group;
  };
  std::vector<double> y(x.size()), dx(x.size()), means(groups), inverses(groups), dscale(channels), dbias(channels);
  for (std::size_t g = 0; g < groups; ++g) {
    double mean = 0, variance = 0, sum = 0, dot = 0;
    for (std::size_t i = 0; i < members; ++i)
      mean += static_cast<double>(x[place(g, i)]) / static_cast<double>(members);
    for (std::size_t i = 0; i < members; ++i)
      variance += std::pow(static_cast<double>(x[place(g, i)]) - mean, 2) / static_cast<double>(members);
    const double inverse = 1 / std::sqrt(variance + static_cast<double>(norm.epsilon));
    means[g] = mean;
    inverses[g] = inverse;
    for (std::size_t i = 0; i < members; ++i) {
      const std::size_t at = place(g, i), channel = at % channels;
      const double normal = (static_cast<double>(x[at]) - mean) * inverse, d = static_cast<double>(dy[at]);
      y[at] = normal * static_cast<double>(scale[channel]) + static_cast<double>(bias[channel]);
      dscale[channel] += d * normal;
      dbias[channel] += d;
      sum += d * static_cast<double>(scale[channel]);
      dot += d * static_cast<double>(scale[channel]) * normal;
    }
    for (std::size_t i = 0; i < members; ++i) {
      const std::size_t at = place(g, i);
      const double normal = (static_cast<double>(x[at]) - mean) * inverse;
      dx[at] = inverse * (static_cast<double>(dy[at]) * static_cast<double>(scale[at % channels]) -
                          (sum + normal * dot) / static_cast<double>(members));
    }
  }
  const auto x_memory = test::on_device(x), dy_memory = test::on_device(dy), scale_memory = test::on_device(scale),
             bias_memory = test::on_device(bias), y_memory = test::on_device(std::vector<T>(x.size())),
             dx_memory = test::on_device(std::vector<T>(x.size())),
             mean_memory = test::on_device(std::vector<float>(groups)),
             inverse_memory = test::on_device(std::vector<float>(groups)),
             dscale_memory = test::on_device(std::vector<float>(channels)),
             dbias_memory = test::on_device(std::vector<float>(channels));
  const auto floats = [](const test::DeviceMemory& memory) { return static_cast<float*>(memory.data()); };
  launch(Cuda{0}, [&](const auto& queue) {
    test::require(try_norm(queue, norm, x_memory.data(), floats(scale_memory), floats(bias_memory), y_memory.data(),
                           floats(mean_memory), floats(inverse_memory)));
    test::require(try_norm_gradients(queue, norm, x_memory.data(), dy_memory.data(), floats(scale_memory),
                                     floats(mean_memory), floats(inverse_memory), dx_memory.data(),
                                     floats(dscale_memory), floats(dbias_memory)));
  });
  compare<T>(y_memory, y, tolerance);
  compare<float>(mean_memory, means, 1e-3);
  compare<float>(inverse_memory, inverses, 1e-3);
  compare<T>(dx_memory, dx, tolerance);
  compare<float>(dscale_memory, dscale, tolerance);
  compare<float>(dbias_memory, dbias, tolerance);
}
void norms() {
  check_norm<float>(NormKind::layer, 1e-3);
  check_norm<twill::half>(NormKind::layer, 2e-2);
  check_norm<bfloat16>(NormKind::batch, 1e-1);
}

const Case first{"attention by cuDNN and its gradients equal plain loops", &attention};
const Case second{"norms by cuDNN and their gradients equal plain loops", &norms};

} // namespace
