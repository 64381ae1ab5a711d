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

/// A program with its own executors: one, or as many as there are runs at once, which may wait for each other's sums.
template <ComputeDevice D> class Program {
public:
  /// Runs the program of a source, in most cases always of one; outputs are new blocks. Convolutions find the weights
  /// kept in their order, and the order of weights' gradients.
  template <compile::Source S>
  Blocks<D> run(const D& device, const graph::SymbolValues& symbols, std::span<void* const> inputs,
                std::span<void* const> parameters, const nn::RunContext& context, cpu::KeptOrders* orders = nullptr) {
    std::unique_ptr<compile::Executor<D>> executor = take_executor<S>(device);
    std::optional<parallel::AddUpRankSums<SumOverReplicas>> sums{};
    if (kernel::RankGroup* const replicas = context.groups.find(replicas_axis); replicas != nullptr)
      sums.emplace(executor->table(), SumOverReplicas{*replicas});
    const bool has_sums = sums.has_value() && !sums->empty();
    Blocks<D> outputs(static_cast<std::size_t>(executor->table().outputs));
    for (const compile::ValueInfo& value : executor->table().values)
      if (value.storage == compile::Storage::output)
        outputs[static_cast<std::size_t>(value.index)] =
            Block<D>::make(device, value.dtype, value.shape.evaluate(symbols));
    std::vector<void*> addresses;
    for (const Block<D>& output : outputs) addresses.push_back(output.data);
    if (orders != nullptr && !orders->gradients().empty()) {
      executor->wait(); // the last run reads its own
      orders->place_gradients(addresses);
    }
    compile::RunScalars run_scalars{executor->table().run_scalars};
    run_scalars.take(context.run_scalars);
    executor->run(symbols, {.inputs = inputs,
                            .parameters = parameters,
                            .outputs = addresses,
                            .run_scalars = run_scalars.bits(),
                            .first_row = context.first_row,
                            .callback = has_sums ? &*sums : nullptr,
                            .groups = &context.groups,
                            .orders = orders});
    executors_.push_back(std::move(executor));
    return outputs;
  }

private:
  template <compile::Source S> [[nodiscard]] std::unique_ptr<compile::Executor<D>> take_executor(const D& device) {
    static constexpr auto source = &compile::TableFor<S, D>::view;
    if (source_ != source || (!executors_.empty() && !(executors_.back()->devices().front() == device)))
      executors_.clear();
    source_ = source;
    if (executors_.empty())
      return std::make_unique<compile::Executor<D>>(device, compile::TableFor<S, D>::view(),
                                                    compile::TableFor<S, D>::template kernels<team_t<D>>(),
                                                    compile::Arena::for_each_run);
    std::unique_ptr<compile::Executor<D>> executor = std::move(executors_.back());
    executors_.pop_back();
    return executor;
  }

  std::vector<std::unique_ptr<compile::Executor<D>>> executors_{}; ///< that no run uses
  compile::TableView (*source_)() = nullptr;                       ///< of their program
};

}}}}}} // namespace twill::v0::parallel::pipeline::detail::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/pipeline/model/block.ipp>
#endif
