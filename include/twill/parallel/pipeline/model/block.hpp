#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Blocks, tensors of a pipeline's stages whose types only a table knows, and programs that take and make them. Read
// next: parallel/pipeline/model/stage.hpp.

#include <twill/compile/run/executor.hpp>
#include <twill/compile/table_for.hpp>
#include <twill/core/config.hpp>
#include <twill/device/cpu/kept_orders.hpp>
#include <twill/nn/network.hpp>
#include <twill/parallel/group/communicator.hpp>
#include <twill/parallel/group/rank_sums.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { inline namespace TWILL_ISA {

/// A tensor whose type only the stage knows, row-major.
template <ComputeDevice D> struct Block {
  memory::Buffer<D> owner{};
  void* data = nullptr;
  Dims shape{};
  DType dtype = DType::float32;

  [[nodiscard]] static Block make(const D& device, DType dtype, const Dims& shape) {
    memory::Buffer<D> buffer(device, static_cast<std::size_t>(shape.elements()) * size_of(dtype));
    void* const data = buffer.data();
    return {std::move(buffer), data, shape, dtype};
  }
  template <AnyTensor X> [[nodiscard]] static Block of(const X& x) {
    return {x.storage(), const_cast<void*>(static_cast<const void*>(x.data())), x.shape(),
            dtype_of<typename X::value_type>};
  }
  /// requires: the type matches
  template <AnyTensor X> [[nodiscard]] X as() const {
    return X(owner, static_cast<typename X::value_type*>(data), shape, contiguous_strides(shape));
  }
  [[nodiscard]] parallel::Elements elements() const { return {data, shape.elements(), dtype}; }
};
template <ComputeDevice D> using Blocks = std::vector<Block<D>>;

}}}}} // namespace twill::v0::parallel::pipeline::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { namespace detail {
inline namespace TWILL_ISA {

/// The name of the axis along which replicas have different rows: a model's sums over ranks are along it.
inline constexpr kernel::AxisId replicas_axis{"data", 0};

/// Sums over the replicas, in place.
class SumOverReplicas {
public:
  explicit SumOverReplicas(kernel::RankGroup& replicas) : replicas_{&replicas} {}
  void operator()(const parallel::Call& call) const;

private:
  kernel::RankGroup* replicas_;
};

/// A program with its own executor, made at its first run.
template <compile::Source S, ComputeDevice D> class Program {
public:
  /// Runs it; outputs are new blocks. Convolutions find the weights kept in their order, and the order of weights'
  /// gradients.
  Blocks<D> operator()(const D& device, const graph::SymbolValues& symbols, std::span<void* const> inputs,
                       std::span<void* const> parameters, const nn::RunContext& context,
                       cpu::KeptOrders* orders = nullptr) {
    if (!executor_ || !(executor_->devices().front() == device))
      executor_ = std::make_unique<compile::Executor<D>>(device, compile::TableFor<S, D>::view(),
                                                         compile::TableFor<S, D>::template kernels<team_t<D>>(),
                                                         compile::Arena::for_each_run);
    std::optional<parallel::AddUpRankSums<SumOverReplicas>> sums{};
    if (kernel::RankGroup* const replicas = context.groups.find(replicas_axis); replicas != nullptr)
      sums.emplace(executor_->table(), SumOverReplicas{*replicas});
    const bool has_sums = sums.has_value() && !sums->empty();
    Blocks<D> outputs(static_cast<std::size_t>(executor_->table().outputs));
    for (const compile::ValueInfo& value : executor_->table().values)
      if (value.storage == compile::Storage::output)
        outputs[static_cast<std::size_t>(value.index)] =
            Block<D>::make(device, value.dtype, value.shape.evaluate(symbols));
    std::vector<void*> addresses;
    for (const Block<D>& output : outputs) addresses.push_back(output.data);
    if (orders != nullptr && !orders->gradients().empty()) {
      executor_->wait(); // the last run reads its own
      orders->place_gradients(addresses);
    }
    compile::RunScalars run_scalars{executor_->table().run_scalars};
    run_scalars.take(context.run_scalars);
    executor_->run(symbols, {.inputs = inputs,
                             .parameters = parameters,
                             .outputs = addresses,
                             .run_scalars = run_scalars.bits(),
                             .first_row = context.first_row,
                             .callback = has_sums ? &*sums : nullptr,
                             .groups = &context.groups,
                             .orders = orders});
    return outputs;
  }

private:
  std::unique_ptr<compile::Executor<D>> executor_{};
};

}}}}}} // namespace twill::v0::parallel::pipeline::detail::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/pipeline/model/block.ipp>
#endif
