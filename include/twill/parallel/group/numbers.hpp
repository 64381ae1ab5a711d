#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Exchange of a few numbers between ranks: they go through the memory of the communicator's device, like everything
// else, so that any model of `Communicator` carries them. For occasional requests, such as clocks, counts and reports;
// tensors have parallel/group/collectives.hpp. Read next: parallel/pipeline/run/gather.hpp.

#include <twill/core/config.hpp>
#include <twill/device/device.hpp>
#include <twill/parallel/group/communicator.hpp>
#include <twill/tensor/tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

/// Memory for a number of doubles on a communicator's device.
template <Communicator C> class Numbers {
  using D = typename C::Device;

public:
  Numbers(C& communicator, std::size_t count)
      : communicator_{communicator},
        values_(count, 0),
        room_(D(communicator.device()), Dims(static_cast<std::int64_t>(count))) {}

  /// The numbers set here or received.
  [[nodiscard]] std::vector<double>& values() { return values_; }

  void send(int peer) {
    put();
    communicator_.run(Call::send(elements(), peer));
  }
  void receive(int peer) {
    communicator_.run(Call::receive(elements(), peer));
    take();
  }
  /// A collective call: the numbers of all ranks, in order.
  [[nodiscard]] std::vector<double> all() {
    put();
    Numbers gathered(communicator_, values_.size() * static_cast<std::size_t>(communicator_.size()));
    communicator_.run(Call::all_gather(elements(), gathered.elements()));
    gathered.take();
    return gathered.values_;
  }

private:
  [[nodiscard]] Elements elements() {
    return {room_.data(), static_cast<std::int64_t>(values_.size()), DType::float64};
  }
  [[nodiscard]] std::size_t bytes() const { return values_.size() * sizeof(double); }
  void put() {
    if constexpr (D::has_memory)
      copy_bytes(room_.device(), room_.data(), Cpu{}, values_.data(), bytes(), CopyOptions{});
  }
  void take() {
    if constexpr (D::has_memory)
      copy_bytes(Cpu{}, values_.data(), room_.device(), room_.data(), bytes(), CopyOptions{});
  }

  C& communicator_;
  std::vector<double> values_;
  Tensor<double, D, Shape<dyn>> room_;
};

}}}} // namespace twill::v0::parallel::TWILL_ISA
