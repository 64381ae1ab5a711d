#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The data loader: `for (auto [image, label] : loader)` goes through the batches of an epoch, as tensors on a device.
// Worker threads fill batches in host memory ahead of the consumer, whose own thread copies each to the device, in the
// order of its stream. Order, sizes and contents do not depend on the number of workers; a data set whose samples
// differ from epoch to epoch is told the epoch (`read_in_epoch`). An iteration may be abandoned anywhere; its workers
// end with the iterator. Read next: data/prefetch.hpp.

#include <twill/core/clock.hpp>
#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/data/dataset.hpp>
#include <twill/data/prefetch.hpp>
#include <twill/data/sampler.hpp>
#include <twill/data/staging.hpp>
#include <twill/tensor/tensor.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace twill { inline namespace v0 { namespace data {

inline namespace TWILL_ISA {

/// How samples are batched, and how far ahead they are read.
struct LoaderOptions {
  std::int64_t batch_size = 1;            ///< samples in each batch but perhaps the last
  LastBatch last_batch = LastBatch::keep; ///< whether a smaller last batch is kept
  int workers = 0; ///< 0: batches are made in the consumer's thread, straight in the memory of a host device.
  int ahead = 2;   ///< Batches that each worker may have finished or started.
};

/// The next batch: all that has to be saved of a loader, since orders are functions of seed and epoch.
struct Position {
  std::int64_t epoch = 0; ///< from 0
  std::int64_t batch = 0; ///< of that epoch, from 0
  friend constexpr bool operator==(const Position&, const Position&) = default;
};

} // namespace TWILL_ISA

namespace detail { inline namespace TWILL_ISA {

template <std::int64_t First, class S> struct Batched;
template <std::int64_t First, std::int64_t... Rest> struct Batched<First, Shape<Rest...>> {
  using type = Shape<First, Rest...>;
};

/// The types of a batch of these fields, on a device and in host memory.
template <class D, class F> struct BatchOf;
template <class D, class... F> struct BatchOf<D, Fields<F...>> {
  using type = std::tuple<Tensor<typename F::value_type, D, typename Batched<dyn, typename F::row_shape>::type>...>;
  using Host = std::tuple<typename Staging<D>::template Field<typename F::value_type>...>;
};

/// A batch in host memory, before it goes to its device.
template <class HostFields> struct HostBatch {
  std::int64_t rows = 0;
  HostFields fields;
};

}} // namespace detail::TWILL_ISA

inline namespace TWILL_ISA {

/// Batches of a data set on a device, in the order of a sampler, read by threads ahead of their use.
template <Dataset Data, Sampler Order, Device D> class DataLoader {
  using Fields = typename Data::Fields;
  using Host = detail::HostBatch<typename detail::BatchOf<D, Fields>::Host>;
  using FieldIndices = std::make_index_sequence<static_cast<std::size_t>(Fields::count)>;

public:
  /// One tensor for each field; the first axis counts the samples.
  using Batch = typename detail::BatchOf<D, Fields>::type;

  /// throws: ValueError for a batch size or a number of workers that cannot be
  DataLoader(Data dataset, Order order, const D& device, LoaderOptions options = {})
      : dataset_{std::make_shared<const Data>(std::move(dataset))},
        order_{std::move(order)},
        device_{device},
        options_{options},
        report_{std::make_shared<WaitReport>()},
        position_{std::make_shared<Position>()} {
    samples_ = static_cast<std::int64_t>(order_.order(size_of_dataset(), 0).size());
    (void)Batches({}, options.batch_size, options.last_batch);
    (void)Prefetch<int>(0, 0, nullptr, {.workers = options.workers < 0 ? options.workers : 0, .ahead = options.ahead});
  }

  /// The batches of one pass over the data; every batch is handed over once.
  class Epoch {
    struct Running;

  public:
    /// Goes through the batches of an epoch once.
    class Iterator {
    public:
      using iterator_concept = std::input_iterator_tag;
      using value_type = Batch;
      using difference_type = std::ptrdiff_t;

      /// At the first batch; waits for it.
      explicit Iterator(std::shared_ptr<Running> running) : running_{std::move(running)} { ++*this; }
      Batch operator*() const { return std::move(*running_->current); }
      Iterator& operator++() {
        running_->advance();
        return *this;
      }
      void operator++(int) { ++*this; }
      [[nodiscard]] bool operator==(std::default_sentinel_t) const { return !running_->current; }

    private:
      std::shared_ptr<Running> running_;
    };

    [[nodiscard]] Iterator begin() { return Iterator(running_); }
    [[nodiscard]] std::default_sentinel_t end() const { return {}; }

  private:
    friend class DataLoader;
    Epoch(const DataLoader& loader, std::int64_t number, std::int64_t first_batch)
        : running_{std::make_shared<Running>(loader, number, first_batch)} {}

    // Held by address: the workers refer to it.
    struct Running {
      Running(const DataLoader& loader, std::int64_t number, std::int64_t first_batch)
          : dataset{loader.dataset_},
            rows{row_dims(*loader.dataset_)},
            device{loader.device_},
            report{loader.report_},
            position{loader.position_},
            reached{number, first_batch},
            batches{loader.order_.order(loader.size_of_dataset(), number), loader.options_.batch_size,
                    loader.options_.last_batch},
            in_place{std::same_as<D, Cpu> && loader.options_.workers == 0},
            prefetch{first_batch,
                     batches.count(),
                     [this](std::int64_t batch) {
                       return in_place ? Host{batch, {}} : make(batch);
                     },
                     {loader.options_.workers, loader.options_.ahead}} {
        *report = {};
        *position = reached;
      }

      void advance() {
        current.reset();
        current = next();
        if constexpr (Staging<D>::keeps_last_batch) {
          last.reset();
          if (current) last.emplace(*current);
        }
      }

      [[nodiscard]] std::optional<Batch> next() {
        const double asked = steady_seconds();
        if (report->items == 0) started = asked;
        std::optional<Batch> result;
        const std::int64_t number = coming++; // counts one that fails, which is not reached
        if (const auto host = prefetch.next()) {
          result = in_place ? read_in_place(host->rows) : to_device(*host);
          ++report->items;
          report->bytes += std::apply([](const auto&... tensor) { return (bytes_of(tensor) + ...); }, *result);
          reached.batch = number + 1;
          *position = reached;
        }
        const double now = steady_seconds();
        report->waited_seconds += now - asked;
        report->elapsed_seconds = now - started;
        const WaitReport made = prefetch.report();
        report->late_items = made.late_items;
        report->workers = made.workers;
        report->worker_waits = made.worker_waits;
        report->workers_waited_seconds = made.workers_waited_seconds;
        return result;
      }

      template <class X> [[nodiscard]] static std::int64_t bytes_of(const X& tensor) {
        return tensor.elements() * static_cast<std::int64_t>(sizeof(typename X::value_type));
      }

      [[nodiscard]] Host make(std::int64_t number) const {
        const auto indices = batches[number];
        Host host{static_cast<std::int64_t>(indices.size()), {}};
        [&]<std::size_t... I>(std::index_sequence<I...>) {
          const auto allocate = [&]<class Field>(Field& field, const Dims& row) {
            field = Field(indices.size() * static_cast<std::size_t>(row.elements()));
          };
          (allocate(std::get<I>(host.fields), rows[I]), ...);
          read_rows(indices, std::get<I>(host.fields).data()...);
        }
        (FieldIndices{});
        return host;
      }

      [[nodiscard]] Batch to_device(const Host& host) const {
        typename Staging<D>::Arrival arrival{device};
        Batch arrived = on_device(
            host.rows, [&]<std::size_t... I>(std::index_sequence<I...>, const Batch& batch) {
              const auto copy = [&](const auto& tensor, const auto& field) {
                Staging<D>::copy(device, tensor.data(), field.data(), static_cast<std::size_t>(bytes_of(tensor)));
              };
              (copy(std::get<I>(batch), std::get<I>(host.fields)), ...);
            });
        std::apply([&](const auto&... tensor) { arrival.hand_over(tensor...); }, arrived);
        return arrived;
      }

      [[nodiscard]] Batch read_in_place(std::int64_t number) const {
        if constexpr (std::same_as<D, Cpu>) {
          const auto indices = batches[number];
          return on_device(
              static_cast<std::int64_t>(indices.size()), [&]<std::size_t... I>(std::index_sequence<I...>,
                                                                               const Batch& batch) {
                launch(device, [&](const Team&) { read_rows(indices, std::get<I>(batch).data()...); });
              });
        } else {
          return {};
        }
      }

      template <class Fill> [[nodiscard]] Batch on_device(std::int64_t row_count, Fill fill) const {
        return [&]<std::size_t... I>(std::index_sequence<I...> indices) {
          const auto extents = [&](const Dims& row) {
            Dims whole(row_count);
            for (int axis = 0; axis < row.rank; ++axis) whole[whole.rank++] = row[axis];
            return whole;
          };
          Batch batch{std::tuple_element_t<I, Batch>(device, extents(rows[I]))...};
          fill(indices, batch);
          return batch;
        }
        (FieldIndices{});
      }

      template <class... T> void read_rows(std::span<const std::int64_t> indices, T*... destinations) const {
        [&]<std::size_t... I>(std::index_sequence<I...>) {
          for (std::size_t row = 0; row < indices.size(); ++row)
            read_sample(indices[row], row_of(destinations, row, rows[I])...);
        }
        (FieldIndices{});
      }
      template <class... T> void read_sample(std::int64_t index, std::span<T>... parts) const {
        if constexpr (detail::reads_in_epochs<Data, Fields>)
          dataset->read_in_epoch(reached.epoch, index, parts...);
        else
          dataset->read(index, parts...);
      }
      template <class T> [[nodiscard]] static std::span<T> row_of(T* whole, std::size_t row, const Dims& dims) {
        const auto count = static_cast<std::size_t>(dims.elements());
        return {whole + row * count, count};
      }

      std::shared_ptr<const Data> dataset;
      decltype(row_dims(std::declval<const Data&>())) rows;
      D device;
      std::shared_ptr<WaitReport> report;
      std::shared_ptr<Position> position;
      Position reached;
      std::int64_t coming = reached.batch; ///< the next batch
      double started = 0;                  ///< when the first batch was asked for, in seconds
      Batches batches;
      bool in_place; ///< the consumer reads straight into the tensors; the prefetch only counts
      Prefetch<Host> prefetch;
      std::optional<Batch> current{};
      std::optional<Batch> last{}; ///< keeps the memory of a batch that was handed over until the next one has its own
    };

    std::shared_ptr<Running> running_;
  };

  /// One epoch, from some batch on: an interrupted one is taken up where it stopped.
  [[nodiscard]] Epoch epoch(std::int64_t number, std::int64_t first_batch = 0) const {
    return Epoch(*this, number, first_batch);
  }

  /// The next epoch: 0, then 1, ... `for (auto [image, label] : loader)` is one of them.
  [[nodiscard]] typename Epoch::Iterator begin() {
    auto first = epoch(next_.epoch, next_.batch).begin(); // when this fails, the next pass begins here again
    next_ = {next_.epoch + 1, 0};
    return first;
  }
  [[nodiscard]] std::default_sentinel_t end() const { return {}; }

  /// The epoch that the next `begin` starts.
  void set_epoch(std::int64_t number) { set_position({number, 0}); }
  /// The epoch that the next `begin` starts, unless the position says a batch inside of it.
  [[nodiscard]] std::int64_t next_epoch() const { return next_.epoch; }

  /// The batch after the last one that was handed over, for a checkpoint.
  [[nodiscard]] Position position() const {
    return position_->batch > 0 && position_->batch >= batches() ? Position{position_->epoch + 1, 0} : *position_;
  }
  /// Goes on from there: the next `begin` starts inside the epoch. throws: ValueError for a position below 0
  void set_position(const Position& position) {
    if (position.epoch < 0 || position.batch < 0)
      throw ValueError("set_position: epoch and batch are at least 0, got " + std::to_string(position.epoch) + " and " +
                       std::to_string(position.batch));
    next_ = *position_ = position;
  }

  /// Batches in an epoch.
  [[nodiscard]] std::int64_t batches() const {
    return batch_count(samples(), options_.batch_size, options_.last_batch);
  }
  /// Samples in an epoch, as the sampler orders them.
  [[nodiscard]] std::int64_t samples() const { return samples_; }
  /// The device of the batches.
  [[nodiscard]] const D& device() const { return device_; }

  /// How long the consumer has waited for batches and the workers for the consumer, in the epoch that ran last.
  [[nodiscard]] const WaitReport& report() const { return *report_; }

private:
  [[nodiscard]] std::int64_t size_of_dataset() const { return static_cast<std::int64_t>(dataset_->size()); }

  std::shared_ptr<const Data> dataset_;
  Order order_;
  D device_;
  LoaderOptions options_;
  std::shared_ptr<WaitReport> report_;
  std::shared_ptr<Position> position_; ///< shared with the epoch that runs
  std::int64_t samples_ = 0;
  Position next_{}; ///< where the next pass starts
};

} // namespace TWILL_ISA

}}} // namespace twill::v0::data
