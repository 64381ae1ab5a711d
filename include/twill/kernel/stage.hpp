#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// One loop of a program over a piece of a row. Reductions in a light body run in several accumulators, so that the latency
// of an addition does not bound the loop. The last few elements that do not fill a pack are copied to a small buffer, go
// through the very same loop there, and are copied back: no second body, and nothing outside the row is touched.
// Read next: kernel/rows.hpp.

#include <twill/kernel/body.hpp>
#include <twill/kernel/count.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

namespace twill::inline v0::kernel::inline TWILL_ISA {

/// Where a row keeps values between stages.
struct ScratchRows {
  std::byte* first = nullptr;  ///< row 0: often the output itself
  std::byte* others = nullptr; ///< rows 1, 2, ...
  std::int64_t row_bytes = 0;  ///< whole packs

  template <class T> [[nodiscard]] TWILL_INLINE T* row(int number) const {
    return reinterpret_cast<T*>(number == 0 ? first : others + (number - 1) * row_bytes);
  }
};

namespace vector_detail {
/// The last elements of a row, copied to where a whole pack can be read.
inline void copy_tail_in(std::byte* buffer, std::size_t buffer_bytes, const std::byte* from, std::int64_t stride,
                         std::int64_t elements, std::int64_t size) {
  std::memset(buffer, 0, buffer_bytes);
  if (stride == 1) {
    std::memcpy(buffer, from, static_cast<std::size_t>(elements * size));
    return;
  }
  for (std::int64_t i = 0; i < elements; ++i)
    std::memcpy(buffer + i * size, from + i * stride * size, static_cast<std::size_t>(size));
}
inline void copy_tail_out(const std::byte* buffer, std::byte* to, std::int64_t stride, std::int64_t elements,
                          std::int64_t size) {
  if (stride == 1) {
    std::memcpy(to, buffer, static_cast<std::size_t>(elements * size));
    return;
  }
  for (std::int64_t i = 0; i < elements; ++i)
    std::memcpy(to + i * stride * size, buffer + i * size, static_cast<std::size_t>(size));
}
} // namespace vector_detail

template <class P, int Stage> struct StageLoop {
  using Base = Body<P>;
  using At = typename Base::At;
  using Registers = typename Base::Registers;
  using Uniforms = typename Base::Uniforms;
  static constexpr int lanes = Base::lanes;
  static constexpr auto plan = Base::plan;
  [[nodiscard]] static constexpr Line line(int i) { return Base::line(i); }

  [[nodiscard]] static constexpr bool reduces(int i) {
    return (line(i).kind == LineKind::reduce || line(i).kind == LineKind::reduce_columns) && plan[i].in_stage(Stage);
  }

  /// How many accumulators each reduction of the stage has: more for lighter bodies.
  static constexpr int accumulators = [] {
    int cost = 0;
    bool any = false;
    for (int i = 0; i < Base::count; ++i) {
      if (plan[i].in_stage(Stage)) cost += detail::cost_of(line(i));
      any = any || reduces(i);
    }
    return !any || Base::summary.shape == KernelShape::column ? 1 : cost <= 4 ? 4 : cost <= 9 ? 2 : 1;
  }();

  template <int I> static auto accumulator_type() {
    if constexpr (reduces(I))
      return typename Base::template Vector<line(I).arguments[0]>{};
    else
      return vector_detail::Nothing{};
  }
  template <int I> using Accumulator = decltype(accumulator_type<I>());
  template <class Sequence> struct AccumulatorFile;
  template <int... I>
  struct AccumulatorFile<std::integer_sequence<int, I...>>
      : vector_detail::AccumulatorSlot<I, Accumulator<I>, accumulators>... {};
  using Accumulators = AccumulatorFile<typename Base::Indices>;

  template <int I> static TWILL_INLINE auto& slot_of(Accumulators& all) {
    return static_cast<vector_detail::AccumulatorSlot<I, Accumulator<I>, accumulators>&>(all).value;
  }
  template <int I> static TWILL_INLINE const auto& slot_of(const Accumulators& all) {
    return static_cast<const vector_detail::AccumulatorSlot<I, Accumulator<I>, accumulators>&>(all).value;
  }

  /// One line for one pack.
  template <int I, int K>
  static TWILL_INLINE void evaluate(Registers& registers, const Uniforms& uniforms, const At& at,
                                    const ScratchRows& scratch, std::int64_t j, Accumulators& sums) {
    constexpr Line own = line(I);
    if constexpr (plan[I].from_scratch(Stage)) {
      using T = typename Base::template Scalar<I>;
      Base::template slot<I>(registers) = load<T, lanes>(scratch.row<T>(plan[I].scratch) + j);
    } else if constexpr (plan[I].in_stage(Stage)) {
      if constexpr (own.kind == LineKind::input || own.kind == LineKind::iota)
        Base::template slot<I>(registers) = Base::template load_leaf<I>(at, j);
      else if constexpr (own.kind == LineKind::step)
        Base::template slot<I>(registers) = Base::template step<I>(
            registers, uniforms, std::make_index_sequence<static_cast<std::size_t>(own.arity)>{});
      else if constexpr (own.kind == LineKind::cast)
        Base::template slot<I>(registers) = Base::template cast<I>(registers, uniforms);
      else if constexpr (reduces(I))
        slot_of<I>(sums)[K] = combine<own.reduction>(
            slot_of<I>(sums)[K], Base::template vector<own.arguments[0], own.arguments[0]>(registers, uniforms));
      else if constexpr (own.kind == LineKind::output)
        Base::template store_output<I>(registers, uniforms, at, j);
      if constexpr (plan[I].kept_in(Stage)) {
        using T = typename Base::template Scalar<I>;
        store(scratch.row<T>(plan[I].scratch) + j, Base::template slot<I>(registers));
      }
    }
  }

  template <int K, int... I>
  static TWILL_INLINE void pack(const Uniforms& uniforms, const At& at, const ScratchRows& scratch, std::int64_t j,
                                Accumulators& sums, std::integer_sequence<int, I...>) {
    Registers registers;
    (evaluate<I, K>(registers, uniforms, at, scratch, j, sums), ...);
  }

  template <int... K>
  static TWILL_INLINE void packs(const Uniforms& uniforms, const At& at, const ScratchRows& scratch, std::int64_t j,
                                 Accumulators& sums, std::integer_sequence<int, K...>) {
    (pack<K>(uniforms, at, scratch, j + K * lanes, sums, typename Base::Indices{}), ...);
  }

  /// A function object called with the index of every line for which `Chosen` holds.
  template <class F, int... I> static TWILL_INLINE void each(F f, std::integer_sequence<int, I...>) {
    (f.template operator()<I>(), ...);
  }

  /// Accumulators that have seen nothing.
  static TWILL_INLINE Accumulators start() {
    Accumulators sums;
    each(
        [&]<int I>() __attribute__((always_inline)) {
          if constexpr (reduces(I)) {
            using T = typename Base::template Scalar<I>;
            for (int k = 0; k < accumulators; ++k)
              slot_of<I>(sums)[k] = Accumulator<I>{identity<line(I).reduction, T>()};
          }
        },
        typename Base::Indices{});
    return sums;
  }

  /// Whole packs over the elements [begin, end). Called once for a row and once more for its tail: one body, one copy of it.
  [[gnu::noinline]] static void whole_packs(const At& where, const Uniforms& known, const ScratchRows& rows,
                                            std::int64_t begin, std::int64_t end, Accumulators& result) {
    // copies that nothing else can see stay in registers
    const At at = where;
    const Uniforms uniforms = known;
    const ScratchRows scratch = rows;
    Accumulators sums = result;
    std::int64_t j = begin;
    if constexpr (accumulators > 1) {
      for (; j + accumulators * lanes <= end; j += accumulators * lanes)
        packs(uniforms, at, scratch, j, sums, std::make_integer_sequence<int, accumulators>{});
    }
    for (; j < end; j += lanes) pack<0>(uniforms, at, scratch, j, sums, typename Base::Indices{});
    result = sums;
  }

  /// Runs the stage over the elements [begin, end) of a row; leaves the reductions in `result`.
  [[gnu::noinline]] static void run(const At& where, const Uniforms& known, Uniforms& result,
                                    const ScratchRows& scratch, std::int64_t begin, std::int64_t end) {
    constexpr typename Base::Indices all{};
    if constexpr (counts_access) count(end - begin);
    Accumulators sums = start();
    const std::int64_t rest = (end - begin) % lanes;
    if (begin + lanes <= end) whole_packs(where, known, scratch, begin, end - rest, sums);
    if (rest != 0) [[unlikely]] {
      constexpr std::size_t pack_bytes = static_cast<std::size_t>(lanes) * 8;
      alignas(64) std::byte buffer[static_cast<std::size_t>(Base::operands)][pack_bytes];
      const Accumulators before = sums;
      // the last pack of a longer row can be read where it lies, over elements that are done
      const bool is_short = end - begin < lanes;
      const std::int64_t j = is_short ? begin : end - lanes;
      const At at = is_short ? tail_of(where, buffer, j, rest, all) : outputs_of(where, buffer, j, all);
      whole_packs(at, known, scratch, j, j + lanes, sums);
      finish_tail(sums, before, where, buffer, end - rest, static_cast<int>(end - rest - j), rest, all);
    }
    each(
        [&]<int I>() __attribute__((always_inline)) {
          if constexpr (reduces(I)) {
            auto& mine = slot_of<I>(sums);
            for (int step = accumulators / 2; step > 0; step /= 2)
              for (int k = 0; k < step; ++k) mine[k] = combine<line(I).reduction>(mine[k], mine[k + step]);
            Base::template slot<I>(result) = combine_lanes<line(I).reduction>(mine[0]);
          }
        },
        all);
  }

  /// Notes how many elements of each operand the stage touches.
  static void count(std::int64_t elements) {
    for (int i = 0; i < Base::count; ++i) {
      if (!plan[i].in_stage(Stage)) continue;
      const auto o = static_cast<std::size_t>(line(i).operand);
      if (line(i).kind == LineKind::input) access_counts().loads[o] += elements;
      if (line(i).kind == LineKind::output) access_counts().stores[o] += elements;
    }
  }

  /// The same operands with the stage's outputs in a buffer.
  template <int... I>
  static At outputs_of(const At& where, std::byte (*buffer)[static_cast<std::size_t>(lanes) * 8], std::int64_t j,
                       std::integer_sequence<int, I...> all) {
    At at = where;
    each(
        [&]<int J>() {
          if constexpr (line(J).kind == LineKind::output && plan[J].in_stage(Stage)) {
            constexpr int o = line(J).operand;
            at.at[o] = reinterpret_cast<std::int64_t>(buffer[o]) -
                       j * static_cast<std::int64_t>(sizeof(typename Base::template Element<J>));
            at.stride[o] = 1;
            at.mode[o] = StoreMode::plain;
          }
        },
        all);
    return at;
  }

  /// The same with the last elements of the inputs in a buffer too.
  template <int... I>
  static At tail_of(const At& where, std::byte (*buffer)[static_cast<std::size_t>(lanes) * 8], std::int64_t j,
                    std::int64_t rest, std::integer_sequence<int, I...> all) {
    At at = outputs_of(where, buffer, j, all);
    each(
        [&]<int J>() {
          if constexpr (line(J).kind == LineKind::input && plan[J].in_stage(Stage)) {
            constexpr int o = line(J).operand;
            constexpr std::int64_t size = sizeof(typename Base::template Element<J>);
            const std::int64_t stride = line(J).access == Access::contiguous ? 1 : where.stride[o];
            vector_detail::copy_tail_in(buffer[o], static_cast<std::size_t>(lanes * size),
                                        reinterpret_cast<const std::byte*>(where.at[o] + j * stride * size), stride,
                                        rest, size);
            at.at[o] = reinterpret_cast<std::int64_t>(buffer[o]) - j * size;
            at.stride[o] = 1;
          }
        },
        all);
    return at;
  }

  /// Copies the outputs of the live lanes back, and undoes what the others added.
  template <int... I>
  static void finish_tail(Accumulators& sums, const Accumulators& before, const At& where,
                          std::byte (*buffer)[static_cast<std::size_t>(lanes) * 8], std::int64_t j, int live,
                          std::int64_t rest, std::integer_sequence<int, I...> all) {
    each(
        [&]<int J>() {
          constexpr int o = line(J).operand;
          if constexpr (line(J).kind == LineKind::output && plan[J].in_stage(Stage)) {
            constexpr std::int64_t size = sizeof(typename Base::template Element<J>);
            const std::int64_t stride = where.mode[o] == StoreMode::scatter ? where.stride[o] : 1;
            vector_detail::copy_tail_out(buffer[o] + live * size,
                                         reinterpret_cast<std::byte*>(where.at[o] + j * stride * size), stride, rest,
                                         size);
          } else if constexpr (reduces(J)) {
            using A = Accumulator<J>;
            constexpr int width = [] {
              if constexpr (is_mask<A>)
                return A::width;
              else
                return mask_bytes<typename A::Value, lanes>;
            }();
            using Number = Pack<integer_t<width>, lanes>;
            const auto lane = lane_numbers<integer_t<width>, lanes>();
            const auto counts = (lane >= Number{static_cast<integer_t<width>>(live)}) &
                                (lane < Number{static_cast<integer_t<width>>(live + rest)});
            slot_of<J>(sums)[0] = select(counts, slot_of<J>(sums)[0], slot_of<J>(before)[0]);
          }
        },
        all);
  }
};

} // namespace twill::inline v0::kernel::inline TWILL_ISA
