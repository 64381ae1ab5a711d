#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Traces of a model for a kind of device. Hosts compute a bias and an activation for free in the next program; on GPUs
// a product by the vendor's library includes them. There attention keeps no scores, and 16-bit attention stays in its
// type. So models for GPUs are traced as `ForGpu`. Weights and their names stay, and numbers up to rounding. Read next:
// ops/biased_product.hpp, ops/attention.hpp.

#include <twill/compile/passes/fit.hpp>
#include <twill/core/config.hpp>
#include <twill/device/device.hpp>
#include <twill/graph/graph.hpp>
#include <twill/nn/declared_inputs.hpp>
#include <twill/nn/fit.hpp>

#include <tuple>

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

template <Model M> struct ForGpu;

}}}} // namespace twill::v0::nn::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { namespace detail { inline namespace TWILL_ISA {

template <class M, class Inputs> struct GpuModel;
template <class M, class First, class... Rest> struct GpuModel<M, std::tuple<First, Rest...>> {
  static constexpr graph::Value forward(First first, Rest... rest) {
    first.graph().suits_gpus = true;
    return M::forward(first, rest...);
  }
};

/// Further declarations of a model: its precision.
template <class M> struct PrecisionOf {};
template <class M>
requires requires { typename M::autocast_type; }
struct PrecisionOf<M> {
  using autocast_type = typename M::autocast_type;
};

template <class M> struct BudgetOf {};
template <compile::Budget M> struct BudgetOf<M> {
  using unfitted_type = ForGpu<unfitted_t<M>>;
  using sizes = typename M::sizes;
  static constexpr auto budget_bytes = M::budget_bytes;
};

}}}}} // namespace twill::v0::nn::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// A model in the operations of GPUs' libraries: products with epilogues, attention without scores in memory.
template <Model M> struct ForGpu : detail::GpuModel<M, inputs_t<M>>, detail::PrecisionOf<M>, detail::BudgetOf<M> {};

}}}} // namespace twill::v0::nn::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { namespace detail { inline namespace TWILL_ISA {

/// GPUs are the devices controlled by a driver's run time.
template <class M, class D> struct TracedOn { using type = M; };
template <class M, class D>
requires requires { typename D::Runtime; }
struct TracedOn<M, D> {
  using type = ForGpu<M>;
};

}}}}} // namespace twill::v0::nn::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// The trace of the model for planned steps on a kind of device.
template <Model M, ComputeDevice D> using traced_on_t = typename detail::TracedOn<M, D>::type;

/// The trace of a network's model for planned steps on its devices.
template <class Network>
using traced_model_t = traced_on_t<typename Network::model_type, typename Network::device_type>;

}}}} // namespace twill::v0::nn::TWILL_ISA
