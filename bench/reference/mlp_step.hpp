#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Training steps of a 784-256-256-10 network with relu, cross entropy and plain SGD, by hand: products by the BLAS library,
// the update written inside the product of the gradient (W -= rate * dZ' X, no gradient buffer), and for a single row
// products of a matrix and a vector that read each weight once for the backward pass and the update together.

#include "bench/kernel/ceiling.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace reference {

using namespace ceiling;

// Declared here under names of their own: the library's header takes names of the global namespace.
extern "C" {
void bench_sgemm(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha, const float* a, int lda,
                 const float* b, int ldb, float beta, float* c, int ldc) __asm__("cblas_sgemm");
__attribute__((weak)) void bench_openblas_threads(int count) __asm__("openblas_set_num_threads");
}

/// c = alpha op(a) op(b) + beta c, all of them row-major and dense.
inline void gemm(bool turn_a, bool turn_b, std::int64_t m, std::int64_t n, std::int64_t k, float alpha, const float* a,
                 const float* b, float beta, float* c) {
  const auto size = [](std::int64_t x) { return static_cast<int>(x); };
  bench_sgemm(101, turn_a ? 112 : 111, turn_b ? 112 : 111, size(m), size(n), size(k), alpha, a, size(turn_a ? m : k), b,
              size(turn_b ? k : n), beta, c, size(n));
}

inline constexpr std::int64_t sizes[4] = {784, 256, 256, 10};

/// The parameters or their gradients: each layer's matrix (outputs x inputs), then its bias.
struct MlpNumbers {
  static constexpr std::int64_t count = 256 * 784 + 256 + 256 * 256 + 256 + 10 * 256 + 10;
  std::vector<float> all = std::vector<float>(static_cast<std::size_t>(count));

  float* matrix(int layer) {
    float* at = all.data();
    for (int l = 0; l < layer; ++l) at += sizes[l] * sizes[l + 1] + sizes[l + 1];
    return at;
  }
  float* bias(int layer) { return matrix(layer) + sizes[layer] * sizes[layer + 1]; }
};

/// The values of a batch on their way through the network and back.
class MlpStep {
public:
  explicit MlpStep(std::int64_t largest_batch) {
    if (bench_openblas_threads != nullptr) bench_openblas_threads(1);
    for (int l = 0; l < 3; ++l) {
      values_[l].resize(static_cast<std::size_t>(largest_batch * sizes[l + 1]));
      slopes_[l].resize(static_cast<std::size_t>(largest_batch * sizes[l + 1]));
    }
  }

  /// One step of plain SGD; returns the loss before it.
  float step(MlpNumbers& w, const float* x, const std::int64_t* labels, std::int64_t rows, float rate) {
    if (rows == 1) return step_of_one(w, x, labels[0], rate);
    const float loss = forward(w, x, labels, rows, rows);
    for (int l = 2; l >= 0; --l) {
      if (l > 0) update_weight(w, l, rows);
      accumulate(l, x, rows, -rate, 1.0F, w);
    }
    return loss;
  }

  /// The gradient of the sum of these rows' losses over `total_rows`; returns that sum.
  float gradient(MlpNumbers& w, const float* x, const std::int64_t* labels, std::int64_t rows, std::int64_t total_rows,
                 MlpNumbers& g) {
    const float loss = forward(w, x, labels, rows, total_rows);
    for (int l = 2; l >= 0; --l) {
      if (l > 0) update_weight(w, l, rows);
      accumulate(l, x, rows, 1.0F, 0.0F, g);
    }
    return loss;
  }

private:
  float forward(MlpNumbers& w, const float* x, const std::int64_t* labels, std::int64_t rows, std::int64_t total_rows) {
    for (int l = 0; l < 3; ++l) {
      const float* in = l == 0 ? x : values_[l - 1].data();
      float* out = values_[l].data();
      const std::int64_t n = sizes[l + 1];
      gemm(false, true, rows, n, sizes[l], 1.0F, in, w.matrix(l), 0.0F, out);
      const float* bias = w.bias(l);
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t j = 0; j < n; ++j) {
          const float z = out[r * n + j] + bias[j];
          out[r * n + j] = l < 2 && z < 0 ? 0 : z;
        }
    }
    return cross_entropy(labels, rows, total_rows);
  }

  /// Also the slopes of the logits: (softmax - one at the label) / total_rows.
  float cross_entropy(const std::int64_t* labels, std::int64_t rows, std::int64_t total_rows) {
    const float share = 1.0F / static_cast<float>(total_rows);
    constexpr int parts = (10 + width - 1) / width;
    const auto count = [](int part) { return std::min<std::int64_t>(width, 10 - part * width); };
    float loss = 0;
    for (std::int64_t r = 0; r < rows; ++r) {
      const float* logits = values_[2].data() + r * 10;
      Register e[parts], highest = splat(-1e30F), sums = {};
      for (int p = 0; p < parts; ++p) {
        e[p] = first_or(load_first(logits + p * width, count(p)), count(p), -1e30F);
        highest = max(highest, e[p]);
      }
      const float top = largest(highest);
      for (int p = 0; p < parts; ++p) {
        e[p] = first_or(ceiling::exp(e[p] - splat(top)), count(p), 0);
        sums = sums + e[p];
      }
      const float sum = total(sums);
      float* slope = slopes_[2].data() + r * 10;
      for (int p = 0; p < parts; ++p) store_first(slope + p * width, count(p), e[p] * splat(share / sum));
      slope[labels[r]] -= share;
      loss += std::log(sum) + top - logits[labels[r]];
    }
    return loss * share;
  }

  /// The slopes of the layer below: (slopes W) where the value is above 0.
  void update_weight(MlpNumbers& w, int l, std::int64_t rows) {
    const std::int64_t n = sizes[l];
    float* below = slopes_[l - 1].data();
    const float* value = values_[l - 1].data();
    gemm(false, false, rows, n, sizes[l + 1], 1.0F, slopes_[l].data(), w.matrix(l), 0.0F, below);
    for (std::int64_t i = 0; i < rows * n; ++i) below[i] = value[i] > 0 ? below[i] : 0;
  }

  /// to = alpha * gradient + beta * to, for one layer.
  void accumulate(int l, const float* x, std::int64_t rows, float alpha, float beta, MlpNumbers& to) {
    const std::int64_t n = sizes[l + 1];
    const float* slope = slopes_[l].data();
    gemm(true, false, n, sizes[l], rows, alpha, slope, l == 0 ? x : values_[l - 1].data(), beta, to.matrix(l));
    float sums[256] = {};
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t j = 0; j < n; ++j) sums[j] += slope[r * n + j];
    float* bias = to.bias(l);
    for (std::int64_t j = 0; j < n; ++j) bias[j] = alpha * sums[j] + beta * bias[j];
  }

  float step_of_one(MlpNumbers& w, const float* x, std::int64_t label, float rate) {
    for (int l = 0; l < 3; ++l) {
      const float* in = l == 0 ? x : values_[l - 1].data();
      float* out = values_[l].data();
      const float* matrix = w.matrix(l);
      const float* bias = w.bias(l);
      std::int64_t j = 0;
      for (; j + 4 <= sizes[l + 1]; j += 4) dots<4>(matrix + j * sizes[l], in, sizes[l], out + j);
      for (; j < sizes[l + 1]; ++j) dots<1>(matrix + j * sizes[l], in, sizes[l], out + j);
      for (j = 0; j < sizes[l + 1]; ++j) out[j] = l < 2 ? std::max(out[j] + bias[j], 0.0F) : out[j] + bias[j];
    }
    const float loss = cross_entropy(&label, 1, 1);
    for (int l = 2; l >= 0; --l) {
      const float* in = l == 0 ? x : values_[l - 1].data();
      const float* slope = slopes_[l].data();
      float* matrix = w.matrix(l);
      float* bias = w.bias(l);
      float* below = l > 0 ? slopes_[l - 1].data() : nullptr;
      if (below != nullptr) std::fill(below, below + sizes[l], 0.0F);
      for (std::int64_t j = 0; j < sizes[l + 1]; ++j) {
        if (slope[j] == 0) continue; // half of the hidden values are cut off
        row_update(matrix + j * sizes[l], in, slope[j], rate, sizes[l], below);
        bias[j] -= rate * slope[j];
      }
      for (std::int64_t i = 0; below != nullptr && i < sizes[l]; ++i) below[i] = in[i] > 0 ? below[i] : 0;
    }
    return loss;
  }

  /// R rows of a matrix times a vector; n a multiple of 16.
  template <int R> static void dots(const float* rows, const float* x, std::int64_t n, float* out) {
    Register sums[R] = {};
    for (std::int64_t i = 0; i < n; i += width) {
      const Register v = load(x + i);
      for (int r = 0; r < R; ++r) sums[r] = fma(load(rows + r * n + i), v, sums[r]);
    }
    for (int r = 0; r < R; ++r) out[r] = total(sums[r]);
  }

  /// below += slope * w; w -= rate * slope * x, for one row of weights.
  static void row_update(float* w, const float* x, float slope, float rate, std::int64_t n, float* below) {
    const Register factor = splat(-rate * slope), s = splat(slope);
    for (std::int64_t i = 0; i < n; i += width) {
      const Register weight = load(w + i);
      if (below != nullptr) store(below + i, fma(s, weight, load(below + i)));
      store(w + i, fma(factor, load(x + i), weight));
    }
  }

  std::vector<float> values_[3];
  std::vector<float> slopes_[3];
};

} // namespace reference
