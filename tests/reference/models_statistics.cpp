// SPDX-License-Identifier: Apache-2.0
//
// More lines of docs/reference/models.md: statistics, diagonals and random draws in models.

#include <twill/ops/value_diagonals.hpp>
#include <twill/ops/value_draws.hpp>
#include <twill/ops/value_quantiles.hpp>
#include <twill/ops/value_samples.hpp>
#include <twill/ops/value_search.hpp>
#include <twill/ops/value_statistics.hpp>
#include <twill/ops/value_windows.hpp>

using namespace twill;
using graph::Value;

// clang-format off

// Statistics in models: in the headers twill/ops/value_statistics.hpp, value_quantiles.hpp, value_diagonals.hpp,
// value_samples.hpp, value_search.hpp and value_windows.hpp, under the names of those of tensors. `x` is a matrix, `v` and `t` are vectors, `mask` has truth values, `index` integers.
constexpr void statistics(Value x, Value y, Value v, Value t, Value mask, Value index) {
  { const Value mean = average<1>(x, v); }
  { const Value y = nansum<0>(x); }
  { const Value y = nanprod<1>(x); }
  { const Value y = nanmax<1>(x); }
  { const Value y = nanmin<1>(x); }
  { const Value y = nanmean<0>(x, keepdims); }
  { const Value y = nanvar<0>(x, correction<1>); }
  { const Value y = nanstd<0>(x); }
  { const Value c = cov(x); }
  { const Value c = corrcoef(x); }
  // PyTorch: q may be a tensor; the axis is `dim`.
  { const Value y = quantile<1>(x, 0.9, Interpolation::weibull); }
  { const Value y = percentile(x, 75); }
  // PyTorch: the smaller of the two elements in the middle, and its place; this is NumPy's median.
  { const Value y = median<0>(x, keepdims); }
  { const Value y = nanquantile<1>(x, 0.9); }
  { const Value y = nanpercentile<1>(x, 90); }
  { const Value y = nanmedian<1>(x); }
  { const Value d = diagonal(x, 1); }
  { const Value sum = trace(x); }
  { const Value matrices = diag_embed(x); }
  { const Value matrix = diag(v); }
  { const Value y = rot90<-1>(x); }
  { const Value y = nan_to_num(x, {.nan = 0, .posinf = 1e6}); }
  { const Value y = masked_fill(x, mask, -1e9); }
  { const Value y = logcumsumexp<1>(x); }
  { const Value area = trapezoid(x, t); }
  { const Value places = searchsorted(t, x, side_right); }
  // PyTorch: `torch.bucketize(x, edges)`; its `right=True` is `BinEdge::lower`, the default here.
  { const Value bins = digitize(x, t, BinEdge::upper); }
  { const Value is_member = isin(x, t); }
  // PyTorch: as many bins as the values need, at least `minlength`. Here as many as are asked for.
  { const Value sums = bincount(index, x, 10); }
  // PyTorch: `torch.histc(x, 10, 0, 1)`, or the counts of `torch.histogram`.
  { const Value counts = histogram(x, 10, 0, 1); }
  { const Value y = interp(x, t, v, {.left = 0}); }
  { const Value product = vdot(x, y); }
  // PyTorch: `x.unfold(1, 3, 1)`; a step is one of `slice_axis`. The windows are a copy.
  { const Value windows = sliding_window_view<1>(x, 3); }
  { const Value sums = convolve(v, t, ConvolveMode::same); }
  // PyTorch: `indexing="ij"` is the default.
  { const auto [columns, rows] = meshgrid(v, t); }
  { const auto [row, column] = unravel_index<2>(index, Dims(3, 4)); }
  { const Value place = ravel_multi_index(Dims(3, 4), index, index); }
  { const Value y = atleast_1d(x); }
  { const Value y = atleast_2d(v); }
  { const Value y = atleast_3d(x); }
}

// Random draws in models: in the header twill/ops/value_draws.hpp, with gradients by the parameters. `mean`, `log_variance`, `scale`,
// `low`, `high` and `p` are values of a model, as `logits`.
constexpr void draws(Value mean, Value log_variance, Value scale, Value low, Value high, Value p, Value logits) {
  { const Value z = mean + exp(log_variance * 0.5) * randn_like(mean); }
  { const Value u = rand_like(mean); }
  { const Value noise = random_normal(mean.graph(), mean.shape()); }
  // PyTorch: `Uniform(low, high).rsample()`.
  { const Value y = uniform(low, high); }
  // PyTorch: `Normal(mean, scale).rsample()`; `torch.normal` has no gradient.
  { const Value y = normal(mean, scale); }
  // PyTorch: `LogNormal(mean, scale).rsample()`.
  { const Value y = log_normal(mean, 0.5); }
  // PyTorch: `Laplace(mean, scale).rsample()`.
  { const Value y = laplace(mean, scale); }
  // PyTorch: `Gumbel(logits, 1).rsample()`.
  { const Value relaxed = exp(gumbel(logits, 1) * 2.0); }
  // PyTorch: `Cauchy(mean, scale).rsample()`.
  { const Value y = cauchy(mean, scale); }
  // PyTorch: `Exponential(1 / scale).rsample()`.
  { const Value y = exponential(scale); }
  { const Value hits = bernoulli(p); }
}
