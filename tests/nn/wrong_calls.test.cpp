// SPDX-License-Identifier: Apache-2.0
//
// Calls with an argument too many, of any kind: each function of traced values refuses them. A number after the last
// argument, which is the place of the call, was once taken for its line.

#include <twill/nn.hpp>
#include <twill/ops.hpp>

#include <catch2/catch.hpp>

#include <concepts>
#include <cstdint>
#include <exception>

using namespace twill;

namespace {

[[maybe_unused]] const graph::Value x{}, index{}, mask{};

/// Whether a call is complete, and takes no number, truth value, text or null more.
template <class F>
concept takes_no_more = std::invocable<F> && !std::invocable<F, int> && !std::invocable<F, std::int64_t> &&
                        !std::invocable<F, unsigned> && !std::invocable<F, double> && !std::invocable<F, bool> &&
                        !std::invocable<F, const char*> && !std::invocable<F, decltype(nullptr)>;

static_assert(takes_no_more<decltype([](auto... e) -> decltype(add(x, x, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(subtract(x, 2, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(multiply(x, x, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(divide(x, x, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(floor_divide(x, x, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(remainder(x, x, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(fmod(x, x, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(power(x, x, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(maximum(x, 1, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(minimum(x, x, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(hypot(x, x, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(gcd(index, index, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(true_divide(x, x, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(mod(x, x, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(float_power(x, x, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(clamp(x, 0, 1, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(clip(x, 0, 1, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(clamp_min(x, 0, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(clamp_max(x, 1, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(equal(x, x, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(not_equal(x, x, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(less(x, x, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(less_equal(x, x, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(greater(x, x, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(greater_equal(x, x, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(logical_and(x, x, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(logical_or(x, x, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(logical_xor(x, x, e...)) { std::terminate(); })>);
static_assert(
    takes_no_more<decltype([](auto... e) -> decltype(bitwise_and(index, index, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(bitwise_or(index, index, e...)) { std::terminate(); })>);
static_assert(
    takes_no_more<decltype([](auto... e) -> decltype(bitwise_xor(index, index, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(left_shift(index, 1, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(right_shift(index, 1, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(where(mask, x, x, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(copysign(x, x, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(nextafter(x, x, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(ldexp(x, index, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(atan2(x, x, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(polygamma(1, x, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(exp(x, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(tanh(x, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(relu(x, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(leaky_relu(x, 0.1, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(elu(x, 1.0, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(graph::gradient(x, x, e...)) { std::terminate(); })>);
static_assert(
    takes_no_more<decltype([](auto... e) -> decltype(sum(x, {0}, graph::KeepDims::yes, e...)) { std::terminate(); })>);
static_assert(
    takes_no_more<decltype([](auto... e) -> decltype(mean(x, {0}, graph::KeepDims::yes, e...)) { std::terminate(); })>);
static_assert(
    takes_no_more<decltype([](auto... e) -> decltype(max(x, {0}, graph::KeepDims::yes, e...)) { std::terminate(); })>);
static_assert(
    takes_no_more<decltype([](auto... e) -> decltype(min(x, {0}, graph::KeepDims::yes, e...)) { std::terminate(); })>);
static_assert(
    takes_no_more<decltype([](auto... e) -> decltype(prod(x, {0}, graph::KeepDims::yes, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(var(x, {0}, 1, graph::KeepDims::yes, e...)) {
  std::terminate();
})>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(reshape(x, {2, -1}, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(transpose(x, {1, 0}, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(transpose(x, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(unsqueeze(x, 0, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(flatten(x, 0, 1, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(unflatten(x, 0, {1, 2}, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(x.size(0, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(matmul(x, x, e...)) { std::terminate(); })>);
static_assert(
    takes_no_more<decltype([](auto... e) -> decltype(graph::concatenate({x, x}, 1, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(graph::stack({x, x}, 1, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(roll(x, 1, 0, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(conv1d(x, x, graph::ConvolutionOptions{}, e...)) {
  std::terminate();
})>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(conv2d(x, x, graph::ConvolutionOptions{}, e...)) {
  std::terminate();
})>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(conv2d(x, x, x, graph::ConvolutionOptions{}, e...)) {
  std::terminate();
})>);
static_assert(
    takes_no_more<decltype([](auto... e) -> decltype(conv_transpose2d(x, x, graph::TransposedConvolutionOptions{},
                                                                      e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(cumsum(x, 0, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(take(x, index, 0, e...)) { std::terminate(); })>);
static_assert(
    takes_no_more<decltype([](auto... e) -> decltype(index_select(x, 0, index, e...)) { std::terminate(); })>);
static_assert(
    takes_no_more<decltype([](auto... e) -> decltype(take_along_axis(x, index, 0, e...)) { std::terminate(); })>);
static_assert(
    takes_no_more<decltype([](auto... e) -> decltype(scatter_add(x, 0, index, x, e...)) { std::terminate(); })>);
static_assert(
    takes_no_more<decltype([](auto... e) -> decltype(index_add(x, 0, index, x, e...)) { std::terminate(); })>);
static_assert(
    takes_no_more<decltype([](auto... e) -> decltype(one_hot(index, 3, DType::int64, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(interpolate(x, graph::InterpolateOptions{}, e...)) {
  std::terminate();
})>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(pad(x, 0, graph::Margin{1, 1}, 0.0, e...)) {
  std::terminate();
})>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(pad_reflect(x, 0, graph::Margin{1, 1}, e...)) {
  std::terminate();
})>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(max_pool1d(x, graph::MaxPoolOptions{}, e...)) {
  std::terminate();
})>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(max_pool2d(x, graph::MaxPoolOptions{}, e...)) {
  std::terminate();
})>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(avg_pool1d(x, graph::AveragePoolOptions{}, e...)) {
  std::terminate();
})>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(avg_pool2d(x, graph::AveragePoolOptions{}, e...)) {
  std::terminate();
})>);
static_assert(
    takes_no_more<decltype([](auto... e) -> decltype(adaptive_avg_pool1d(x, 2, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(adaptive_avg_pool2d(x, graph::Sides{2, 2}, e...)) {
  std::terminate();
})>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(adaptive_max_pool2d(x, graph::Sides{2, 2}, e...)) {
  std::terminate();
})>);
static_assert(
    takes_no_more<decltype([](auto... e) -> decltype(slice_axis(x, 0, slice{0, 1}, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(narrow(x, 0, 0, 1, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(select(x, 0, 0, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(chunk<2>(x, 0, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(flip(x, {0}, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(argsort(x, 0, graph::Order::ascending, e...)) {
  std::terminate();
})>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(sort(x, 0, graph::Order::ascending, e...)) {
  std::terminate();
})>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(topk(x, 1, 0, graph::Order::descending, e...)) {
  std::terminate();
})>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(tril(x, 0, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(triu(x, 0, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(softmax(x, 1, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(logsumexp(x, 1, graph::KeepDims::yes, e...)) {
  std::terminate();
})>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(log_softmax(x, 1, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(layer_norm(x, 1e-5, 1, e...)) { std::terminate(); })>);
static_assert(
    takes_no_more<decltype([](auto... e) -> decltype(layer_norm(x, x, x, 1e-5, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(rms_norm(x, 1e-5, 1, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(normalize(x, 1e-12, 1, e...)) { std::terminate(); })>);
static_assert(
    takes_no_more<decltype([](auto... e) -> decltype(cosine_similarity(x, x, 1, 1e-8, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(nn::scaled_dot_product_attention(
                                                       x, x, x, nn::AttentionOptions{}, e...)) { std::terminate(); })>);
static_assert(
    takes_no_more<decltype([](auto... e) -> decltype(nn::multi_head_attention(x, x, x, 2, "a", nn::AttentionOptions{},
                                                                              e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(nn::batch_norm(x, "a", nn::BatchNormOptions{}, e...)) {
  std::terminate();
})>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(nn::conv2d(x, 4, "a", nn::ConvolutionLayerOptions{},
                                                                          e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(nn::dropout(x, 0.5, "a", e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(nn::embedding(index, 5, 4, "a", nn::EmbeddingOptions{},
                                                                             e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(nn::linear(x, x, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(nn::linear(x, 4, "a", nn::Bias::no, e...)) {
  std::terminate();
})>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(nn::linear(x, 4, "a", nn::LinearOptions{}, e...)) {
  std::terminate();
})>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(nn::layer_norm(x, "a", nn::LayerNormOptions{}, e...)) {
  std::terminate();
})>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(nn::rms_norm(x, "a", nn::RmsNormOptions{}, e...)) {
  std::terminate();
})>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(nn::group_norm(x, 2, "a", nn::GroupNormOptions{},
                                                                              e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(nn::rnn(x, 4, "a", nn::RecurrentOptions{}, e...)) {
  std::terminate();
})>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(nn::lstm(x, 4, "a", nn::RecurrentOptions{}, e...)) {
  std::terminate();
})>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(nn::gru(x, 4, "a", nn::RecurrentOptions{}, e...)) {
  std::terminate();
})>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(nn::to(x, nn::Slot{1}, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(nn::stage_boundary(x, e...)) { std::terminate(); })>);
static_assert(takes_no_more<decltype([](auto... e) -> decltype(nn::tap(x, "a", e...)) { std::terminate(); })>);

// An axis where epsilon is expected.
template <class X>
concept takes_an_axis = requires(X v) {
  layer_norm(v, -1);
}
|| requires(X v) { rms_norm(v, -1); }
|| requires(X v) { normalize(v, 1); };

} // namespace

TEST_CASE("functions of rows take no axis where epsilon is expected", "[nn]") {
  STATIC_REQUIRE_FALSE(takes_an_axis<graph::Value>);
}
