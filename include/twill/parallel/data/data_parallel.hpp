#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Data parallelism of one model on several devices: a batch is scattered along its first axis, every device runs its
// rows in parallel with a copy of the weights, and the outputs are gathered. Gradients of all replicas are summed, in
// order of rank, into the module itself, so the result equals one device's for uneven shards too. For a training step
// with the loss inside the replicas see parallel/data/data_parallel_step.hpp.

#include <twill/compile/table_for.hpp>
#include <twill/core/config.hpp>
#include <twill/core/text.hpp>
#include <twill/nn/network.hpp>
#include <twill/ops/rank_sum.hpp>
#include <twill/parallel/data/replicas.hpp>
#include <twill/parallel/data/scatter.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

/// Options of data parallelism: devices, output device and time-out.
template <ComputeDevice D> struct DataParallelOptions {
  std::vector<D> devices = all_devices<D>(); ///< the first holds the module; empty: only the module's own device
  std::optional<D> output_device{};          ///< where outputs are gathered: the first device by default
  std::int64_t timeout_ms = 300'000;         ///< how long replicas of a training step wait for each other
};

/// The replicas of a network: the weights on each device.
template <ComputeDevice D> class Replicas {
public:
  /// Copies of a module's weights and buffers on these devices, the first of which shares the module's own.
  Replicas(std::shared_ptr<nn::NetworkState<D>> module, std::vector<D> devices) : devices_{std::move(devices)} {
    if (devices_.empty()) devices_.push_back(module->device);
    if (!(devices_.front() == module->device))
      throw DeviceError(
          join_text({"data_parallel: the module lies on ", twill::to_string(module->device), ", the first device is ",
                     twill::to_string(devices_.front()), "; move it with to(device)"}));
    for (std::size_t rank = 1; rank < devices_.size(); ++rank)
      for (std::size_t other = 0; other < rank; ++other)
        if (devices_[rank] == devices_[other])
          throw DeviceError(join_text({"data_parallel: ", twill::to_string(devices_[rank]), " is replica ", other,
                                       " and replica ", rank, "; name each device once"}));
    states_.push_back(std::move(module));
    for (std::size_t rank = 1; rank < devices_.size(); ++rank)
      states_.push_back(std::make_shared<nn::NetworkState<D>>(devices_[rank], states_[0]->infos, states_[0]->add,
                                                              states_[0]->add_half));
  }

  /// One for each replica.
  [[nodiscard]] const std::vector<D>& devices() const { return devices_; }
  /// The weights and buffers of a replica.
  [[nodiscard]] const std::shared_ptr<nn::NetworkState<D>>& state(std::size_t rank) const { return states_[rank]; }

  /// Copies the module's weights to the first `count` devices.
  void replicate(std::size_t count) const {
    const nn::NetworkState<D>& original = *states_[0];
    for (std::size_t rank = 1; rank < count; ++rank)
      for (std::size_t i = 0; i < original.buffers.size(); ++i)
        copy_bytes(devices_[rank], states_[rank]->buffers[i].data(), original.device, original.buffers[i].data(),
                   original.buffers[i].bytes(), CopyOptions{});
  }

  /// Moves the gradients of all replicas into the module's, in order of rank.
  void sum_gradients(std::size_t count) const {
    nn::NetworkState<D>& module = *states_[0];
    for (std::size_t rank = 1; rank < count; ++rank) {
      std::vector<memory::Buffer<D>> moved{};
      for (std::size_t i = 0; i < module.infos.size(); ++i) {
        memory::Buffer<D>& gradient = states_[rank]->gradients[i];
        if (module.infos[i].role != graph::Role::weight || !gradient) continue;
        moved.emplace_back(module.device, gradient.bytes());
        copy_bytes(module.device, moved.back().data(), devices_[rank], gradient.data(), gradient.bytes(),
                   CopyOptions{});
        gradient.reset();
      }
      if (!moved.empty()) module.add_gradients(std::move(moved));
    }
  }

  /// Releases the gradients of all replicas except the module's own.
  void drop_gradients() const {
    for (std::size_t rank = 1; rank < states_.size(); ++rank)
      for (memory::Buffer<D>& gradient : states_[rank]->gradients) gradient.reset();
  }

private:
  std::vector<D> devices_;
  std::vector<std::shared_ptr<nn::NetworkState<D>>> states_{};
};

/// The gathered output of all replicas, with their histories: further stages and `backward` work as on one device.
template <class Replica, ComputeDevice D> class GatheredOutput {
public:
  /// The gathered tensor's type.
  using Value = decltype(gather(std::declval<const std::vector<typename Replica::Value>&>(), std::declval<const D&>()));
  using device_type = D;
  static constexpr auto argument_kind = elementwise::ArgumentKind::tracked; ///< of functions of single elements

  /// Gathers the replicas' outputs on a device, along their first axis.
  GatheredOutput(std::shared_ptr<const Replicas<D>> replicas, std::vector<Replica> outputs, const D& device)
      : replicas_{std::move(replicas)}, outputs_{std::move(outputs)} {
    std::vector<typename Replica::Value> values{};
    for (const Replica& output : outputs_) values.push_back(output.value());
    value_ = gather(values, device);
  }

  /// The gathered tensor.
  [[nodiscard]] const Value& value() const { return value_; }
  /// The gathered tensor, for implicit use.
  [[nodiscard]] operator const Value&() const { return value_; }
  /// Its extents.
  [[nodiscard]] Dims shape() const { return value_.shape(); }
  /// The output device.
  [[nodiscard]] D device() const { return value_.device(); }
  /// The number of a tensor of one element; waits for it.
  [[nodiscard]] auto item() const { return value_.item(); }

  /// The output of each replica, on its own device.
  [[nodiscard]] const std::vector<Replica>& outputs() const { return outputs_; }

  /// Releases the value and everything kept by the replicas.
  void reset() noexcept {
    outputs_.clear();
    value_.reset();
  }

  /// Sends each replica its rows of the gradient, runs all backward passes in parallel and sums the module's gradients.
  /// throws: a replica's exception; the module may then hold gradients of its own rows, for `zero_grad`
  void backward_from(const Value& gradient) const {
    std::vector<typename Replica::Value> shares{};
    std::int64_t begin = 0;
    for (const Replica& output : outputs_) {
      if constexpr (Replica::Value::rank == 0) {
        shares.push_back(gradient(begin).to(output.device()));
        ++begin;
      } else {
        const Rows rows{begin, output.shape()[0]};
        shares.emplace_back(rows_of<0>(gradient, rows).contiguous().to(output.device()));
        begin += rows.count;
      }
    }
    try {
      run_on_replicas(replicas_->devices(), outputs_.size(),
                      [&](std::size_t rank) { outputs_[rank].backward_from(shares[rank]); });
    } catch (...) {
      replicas_->drop_gradients(); // otherwise they would be added to those of the next pass
      throw;
    }
    replicas_->sum_gradients(outputs_.size());
  }

private:
  std::shared_ptr<const Replicas<D>> replicas_;
  std::vector<Replica> outputs_;
  Value value_{};
};

}}}} // namespace twill::v0::parallel::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// Runs a network on several devices in parallel. The network stays the owner of the weights and of the gradients.
template <class Network> class DataParallel {
  using D = typename Network::device_type;
  static_assert(Network::slots == 1,
                "twill: DataParallel: the model puts parts into several device slots, a replica has "
                "one device; train it without replicas");

public:
  /// throws: DeviceError unless the first device is the network's
  explicit DataParallel(Network& network, parallel::DataParallelOptions<D> options = {})
      : network_{&network},
        replicas_{std::make_shared<const parallel::Replicas<D>>(network.state(), std::move(options.devices))},
        output_device_{options.output_device.value_or(replicas_->devices().front())},
        timeout_ms_{options.timeout_ms} {}

  /// Scatters the inputs along their first axis, runs all replicas in parallel and gathers. Batches with fewer rows
  /// than devices use fewer devices. Inputs may be on any device. The network's hooks are called in each replica.
  /// throws: a replica's exception, naming it; ValueError if several replicas would have to sum inside the run
  template <AnyTensor... Inputs> [[nodiscard]] auto forward(const Inputs&... inputs) const {
    nn::check_inputs<nn::CallOf<"forward", typename Network::model_type>, typename Network::Element, D, void,
                     decltype(share(inputs, {}, std::declval<const D&>()))...>();
    if constexpr (nn::arguments_fit<typename Network::model_type, typename Network::Element, D, void,
                                    decltype(share(inputs, {}, std::declval<const D&>()))...>) // else refused
      return run(inputs...);
  }

  /// The devices, one for each replica, the main device first.
  [[nodiscard]] const std::vector<D>& devices() const { return replicas_->devices(); }
  /// The time after which a replica without an answer is an error.
  [[nodiscard]] std::int64_t timeout_ms() const { return timeout_ms_; }
  /// The wrapped network, whose weights are updated.
  [[nodiscard]] Network& module() const { return *network_; }
  /// The replicas, which outputs keep alive.
  [[nodiscard]] const std::shared_ptr<const parallel::Replicas<D>>& replicas() const { return replicas_; }

private:
  template <AnyTensor... Inputs> auto run(const Inputs&... inputs) const {
    const auto& devices = replicas_->devices();
    const auto pieces =
        parallel::chunk_rows(parallel::common_rows(inputs...).value_or(1), static_cast<std::int64_t>(devices.size()));
    using Program =
        nn::KeepingForward<typename Network::Stage,
                           nn::tracked_set<decltype(share(inputs, pieces[0], replicas_->devices()[0]))...>()>;
    if (pieces.size() > 1 && network_->is_training() && compile::adds_over_ranks(compile::TableFor<Program, D>::view()))
      throw ValueError(
          "DataParallel: a synchronised batch norm adds up over replicas in planned steps alone; train with "
          "train_step(model, loss, rule)");
    replicas_->replicate(pieces.size());
    using Output = nn::Tracked<typename Network::Stage, D, decltype(share(inputs, pieces[0], devices[0]))...>;
    std::vector<std::optional<Output>> outputs(pieces.size());
    const nn::RunContext context = network_->context_of_next_run();
    std::vector<std::tuple<decltype(share(inputs, pieces[0], devices[0]))...>> shares{};
    for (std::size_t rank = 0; rank < pieces.size(); ++rank)
      shares.emplace_back(share(inputs, pieces[rank], devices[rank])...);
    parallel::run_on_replicas(devices, pieces.size(), [&](std::size_t rank) {
      nn::RunContext own = context;
      own.first_row = pieces[rank].begin;
      std::apply(
          [&](const auto&... x) {
            outputs[rank].emplace(network_->forward_on(replicas_->state(rank), std::move(own), x...));
          },
          shares[rank]);
    });
    std::vector<Output> finished{};
    for (auto& output : outputs) finished.push_back(std::move(*output));
    return parallel::GatheredOutput<Output, D>(replicas_, std::move(finished), output_device_);
  }

  template <AnyTensor X> static auto share(const X& input, const parallel::Rows& rows, const D& device) {
    return parallel::scattered<0>(input, rows, device);
  }

  Network* network_;
  std::shared_ptr<const parallel::Replicas<D>> replicas_;
  D output_device_;
  std::int64_t timeout_ms_;
};

}}} // namespace twill::v0::TWILL_ISA
