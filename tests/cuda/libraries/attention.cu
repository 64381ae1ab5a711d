// SPDX-License-Identifier: Apache-2.0
//
// Attention by cuDNN on a GPU, forward and backward, beside plain loops in double.

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
        const auto attended = [&](void* to, float* statistics) {
          return run_attention(queue, a, q_memory.data(), k_memory.data(), v_memory.data(), to, statistics).exists;
        };
        test::require(attended(o.data(), kept) && attended(alone.data(), nullptr));
        test::require(run_attention_gradients(queue, a,
                                              {q_memory.data(), k_memory.data(), v_memory.data(), o.data(),
                                               d_memory.data(), kept, dq.data(), dk.data(), dv.data()})
                          .exists);
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

const Case first{"attention by cuDNN and its gradients equal plain loops", &attention};

} // namespace
