#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Local sums of several batches on a rank before their exchange: gradients and loss, float32 at least, and the number
// of rows. The first batch's rows weigh one each, so that gradients keep their size; a final factor gives means over
// all rows of all ranks. Read next: parallel/data/distributed_sources.hpp, parallel/data/distributed_step.hpp.

#include <twill/core/config.hpp>
#include <twill/elementwise/comparison.hpp>
#include <twill/expr/operators.hpp>
#include <twill/graph/parameter.hpp>
#include <twill/memory/buffer.hpp>
#include <twill/nn/network_state.hpp>
#include <twill/tensor/tensor.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

/// The sums of one rank on its device, for weights of type T.
template <FloatingScalar T, ComputeDevice D> class BatchSums {
  using Wide = std::conditional_t<(sizeof(T) < sizeof(float)), float, T>;

public:
  [[nodiscard]] bool empty() const { return batches_ == 0; }
  [[nodiscard]] std::int64_t batches() const { return batches_; }
  [[nodiscard]] std::int64_t rows() const { return rows_; }

  /// Starts with the number of rows that weigh one together, before the first batch.
  void begin(std::int64_t unit_rows) { unit_rows_ = std::max<std::int64_t>(unit_rows, 1); }

  /// The weight of a number of rows of a batch.
  [[nodiscard]] double weight_of(std::int64_t rows) const {
    return static_cast<double>(rows) / static_cast<double>(unit_rows_);
  }

  /// Counts an added batch of this number of rows.
  void count(std::int64_t rows) {
    ++batches_;
    rows_ += rows;
  }

  /// From now on the sums are means over this number of rows.
  void finish(std::int64_t all_rows) {
    scale_ = all_rows > 0 ? static_cast<double>(unit_rows_) / static_cast<double>(all_rows) : 0;
  }
  /// The final factor of the sums.
  [[nodiscard]] double scale() const { return scale_; }

  /// Makes the next batch a first one.
  void reset() {
    batches_ = 0;
    rows_ = 0;
  }

  /// The parameters of a program whose last ones are this number of gradient sums and the loss sum, made if missing.
  [[nodiscard]] std::span<void* const> with_sums(const D& device, ListView<graph::ParameterInfo> infos,
                                                 std::size_t gradients, std::span<void* const> parameters) {
    const std::size_t first_sum = infos.size() - gradients - 1;
    addresses_.assign(parameters.begin(), parameters.begin() + static_cast<std::ptrdiff_t>(first_sum));
    for (std::size_t i = first_sum; i < infos.size(); ++i) {
      if (sums_.size() == i - first_sum) sums_.emplace_back(device, nn::NetworkState<D>::bytes_of(infos[i]));
      addresses_.push_back(sums_[i - first_sum].data());
    }
    return addresses_;
  }

  /// Writes the scaled sums into a bucket; nothing if no batch was added.    requires: the bucket is clear
  template <class Memory> void put_into(Memory& memory, std::size_t bucket) const {
    if (empty()) return;
    for (std::size_t output = 0; output < memory.addresses().size(); ++output) {
      if (static_cast<std::size_t>(memory.layout().entries[output].bucket) != bucket) continue;
      const memory::Buffer<D>& sum = output == 0 ? sums_.back() : sums_[output - 1]; // the loss is the first result
      const Dims shape(memory.layout().entries[output].count);
      const Tensor<Wide, D, Shape<dyn>> own(sum, static_cast<Wide*>(sum.data()), shape, Dims(1));
      const auto factor = static_cast<Wide>(scale_);
      if (memory.layout().buckets[bucket].dtype == dtype_of<T>)
        memory.template view<T>(output) = twill::cast<T>(own * factor);
      else if constexpr (sizeof(T) < sizeof(float))
        memory.template view<float>(output) = own * factor;
    }
  }

private:
  std::vector<memory::Buffer<D>> sums_{};
  std::vector<void*> addresses_{};
  std::int64_t batches_ = 0;
  std::int64_t rows_ = 0;
  std::int64_t unit_rows_ = 1;
  double scale_ = 1;
};

}}}} // namespace twill::v0::parallel::TWILL_ISA
