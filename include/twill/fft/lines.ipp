#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of fft/lines.hpp.

#include <twill/fft/lines.hpp>
#include <twill/fft/transform.hpp>
#include <twill/kernel/blocks.hpp>
#include <twill/kernel/scratch.hpp>

#include <algorithm>
#include <cstddef>
#include <type_traits>

namespace twill { inline namespace v0 { namespace fft { namespace detail { inline namespace TWILL_ISA {

inline constexpr std::int64_t most_bytes_of_thread = std::int64_t{4} << 20; ///< longer lines take the pool's memory

/// Lines that are computed side by side, and their places in memory.
template <class T> struct Strip {
  Planes<T> x{};
  Planes<T> y{};
  std::int64_t lines = 1; ///< interleaved in x
  std::int64_t width = 1; ///< of which these exist
  const T* from[strip_lines<T>] = {};
  T* to[strip_lines<T>] = {};
  const T* from_imaginary[strip_lines<T>] = {}; ///< of parts that are apart
  T* to_imaginary[strip_lines<T>] = {};         ///< null: not wanted
  const RootTable<T>* halves = nullptr;         ///< of transforms of real numbers: roots of order n, n even
  const RootTable<T>* quarters = nullptr;       ///< of cosine transforms: roots of order 4 n
};

/// Finds the lines from number `first` on.
template <class T> void locate(const Job<T>& job, std::int64_t first, Strip<T>& strip) {
  Dims index{};
  index.rank = job.extents.rank;
  std::int64_t rest = first;
  for (int axis = index.rank - 1; axis >= 0; --axis) {
    index[axis] = rest % job.extents[axis];
    rest /= job.extents[axis];
  }
  for (std::int64_t q = 0; q < strip.width; ++q) {
    std::int64_t from = 0;
    std::int64_t to = 0;
    for (int axis = 0; axis < index.rank; ++axis) {
      from += index[axis] * job.from_strides[axis];
      to += index[axis] * job.to_strides[axis];
    }
    const auto at = [](auto* base, std::int64_t places) { return base != nullptr ? base + places : nullptr; };
    strip.from[q] = at(job.from, from);
    strip.to[q] = at(job.to, to);
    strip.from_imaginary[q] = at(job.from_imaginary, from);
    strip.to_imaginary[q] = at(job.to_imaginary, to);
    for (int axis = index.rank - 1; axis >= 0 && ++index[axis] == job.extents[axis]; --axis) index[axis] = 0;
  }
}

/// Calls f(k, q, place) for elements [begin, end) of all lines, in blocks that stay in the first-level cache.
template <class T, class F>
TWILL_INLINE void each(const Strip<T>& strip, std::int64_t begin, std::int64_t end, const F& f) {
  if (strip.lines == 1) {
    for (std::int64_t k = begin; k < end; ++k) f(k, 0, k);
    return;
  }
  constexpr std::int64_t block = 16;
  for (std::int64_t low = begin; low < end; low += block) {
    const std::int64_t high = std::min(end, low + block);
    for (std::int64_t q = 0; q < strip.width; ++q)
      for (std::int64_t k = low; k < high; ++k) f(k, q, k * strip.lines + q);
  }
}

/// A complex number of a line.
template <class T> struct Pair {
  T re{};
  T im{};
};

/// Element k of line q, whose parts are together or, where `Apart`, in arrays of their own.
template <bool Apart, class T>
TWILL_INLINE Pair<T> read_complex(const Job<T>& job, const Strip<T>& strip, std::int64_t k, std::int64_t q) {
  const T* const element = strip.from[q] + k * job.from_step;
  if constexpr (Apart)
    return {*element, strip.from_imaginary[q][k * job.from_step]};
  else
    return {element[0], element[1]};
}
template <bool Apart, class T>
TWILL_INLINE void write_complex(const Job<T>& job, const Strip<T>& strip, std::int64_t k, std::int64_t q, T re, T im) {
  T* const element = strip.to[q] + k * job.to_step;
  element[0] = re;
  if constexpr (!Apart)
    element[1] = im;
  else if (T* const imaginary = strip.to_imaginary[q])
    imaginary[k * job.to_step] = im;
}

template <bool Apart, class T>
void transform_complex(const Team& team, const Plan<T>& plan, const Job<T>& job, Strip<T>& strip) {
  const Planes<T> in = job.sign == Sign::inverse ? strip.x.exchanged() : strip.x;
  const auto scale = static_cast<T>(job.scale);
  const bool is_real = job.kind == Kind::complex_of_real;
  each(strip, 0, job.given, [&](std::int64_t k, std::int64_t q, std::int64_t at) {
    const Pair<T> value =
        is_real ? Pair<T>{strip.from[q][k * job.from_step], T{0}} : read_complex<Apart>(job, strip, k, q);
    in.re[at] = value.re;
    in.im[at] = value.im;
  });
  each(strip, job.given, job.length, [&](std::int64_t, std::int64_t, std::int64_t at) { in.re[at] = in.im[at] = 0; });
  const Planes<T> done = transform(team, plan, strip.x, strip.y, strip.lines);
  const Planes<T> out = job.sign == Sign::inverse ? done.exchanged() : done;
  each(strip, 0, job.length, [&](std::int64_t k, std::int64_t q, std::int64_t at) {
    write_complex<Apart>(job, strip, k, q, out.re[at] * scale, out.im[at] * scale);
  });
}

/// put(k, q, X_k) for k = 0 to n / 2, where X is the transform of the real numbers get(j, q).
template <class T, class Get, class Put>
void transform_real(const Team& team, const Plan<T>& plan, std::int64_t n, Strip<T>& strip, const Get& get,
                    const Put& put) {
  const Planes<T> x = strip.x;
  if (n % 2 != 0) {
    each(strip, 0, n, [&](std::int64_t j, std::int64_t q, std::int64_t at) {
      x.re[at] = get(j, q);
      x.im[at] = 0;
    });
    const Planes<T> done = transform(team, plan, x, strip.y, strip.lines);
    each(strip, 0, n / 2 + 1, [&](std::int64_t k, std::int64_t q, std::int64_t at) {
      put(k, q, Pair<T>{done.re[at], done.im[at]});
    });
    return;
  }
  // z_j = x_2j + i x_(2j+1); X_k = (Z_k + conj Z_(h-k)) / 2 + w^k (Z_k - conj Z_(h-k)) / 2i (Cooley and others, 1970)
  const std::int64_t h = n / 2;
  const RootTable<T>& w = *strip.halves;
  each(strip, 0, h, [&](std::int64_t j, std::int64_t q, std::int64_t at) {
    x.re[at] = get(2 * j, q);
    x.im[at] = get(2 * j + 1, q);
  });
  const Planes<T> z = transform(team, plan, x, strip.y, strip.lines);
  const T* const w_re = w.re.data();
  const T* const w_im = w.im.data();
  const std::int64_t lines = strip.lines;
  const auto put_coefficient = [&](std::int64_t k, std::int64_t q, std::int64_t at, std::int64_t mirrored) {
    const Pair<T> even{T{0.5} * (z.re[at] + z.re[mirrored]), T{0.5} * (z.im[at] - z.im[mirrored])};
    const Pair<T> odd{T{0.5} * (z.im[at] + z.im[mirrored]), T{0.5} * (z.re[mirrored] - z.re[at])};
    put(k, q, Pair<T>{even.re + odd.re * w_re[k] - odd.im * w_im[k], even.im + odd.re * w_im[k] + odd.im * w_re[k]});
  };
  for (std::int64_t q = 0; q < strip.width; ++q) put_coefficient(0, q, q, q);
  each(strip, 1, h,
       [&](std::int64_t k, std::int64_t q, std::int64_t at) { put_coefficient(k, q, at, (h - k) * lines + q); });
  for (std::int64_t q = 0; q < strip.width; ++q) put_coefficient(h, q, q, q);
}

/// put(j, q, x_j) for j < n, where x has the transform get(k, q), k = 0 to n / 2; n times what the inverse is.
template <class T, class Get, class Put>
void transform_hermitian(const Team& team, const Plan<T>& plan, std::int64_t n, Strip<T>& strip, const Get& get,
                         const Put& put) {
  const Planes<T> in = strip.x.exchanged();
  if (n % 2 != 0) {
    each(strip, 0, n / 2 + 1, [&](std::int64_t k, std::int64_t q, std::int64_t at) {
      const Pair<T> value = get(k, q);
      in.re[at] = value.re;
      in.im[at] = value.im;
      if (k == 0) return;
      in.re[(n - k) * strip.lines + q] = value.re;
      in.im[(n - k) * strip.lines + q] = -value.im;
    });
    const Planes<T> done = transform(team, plan, strip.x, strip.y, strip.lines).exchanged();
    each(strip, 0, n, [&](std::int64_t j, std::int64_t q, std::int64_t at) { put(j, q, done.re[at]); });
    return;
  }
  // Z_k = X_k + conj X_(h-k) + i conj(w^k) (X_k - conj X_(h-k))
  const std::int64_t h = n / 2;
  const T* const w_re = strip.halves->re.data();
  const T* const w_im = strip.halves->im.data();
  each(strip, 0, h, [&](std::int64_t k, std::int64_t q, std::int64_t at) {
    const Pair<T> a = get(k, q);
    const Pair<T> b = get(h - k, q);
    const Pair<T> difference{a.re - b.re, a.im + b.im};
    const T re = w_re[k];
    const T im = -w_im[k];
    in.re[at] = a.re + b.re - (difference.re * im + difference.im * re);
    in.im[at] = a.im - b.im + (difference.re * re - difference.im * im);
  });
  const Planes<T> z = transform(team, plan, strip.x, strip.y, strip.lines).exchanged();
  each(strip, 0, h, [&](std::int64_t j, std::int64_t q, std::int64_t at) {
    put(2 * j, q, z.re[at]);
    put(2 * j + 1, q, z.im[at]);
  });
}

/// The order of a cosine transform's elements (Makhoul, 1980): even ones, then odd ones from the end.
[[nodiscard]] constexpr std::int64_t cosine_place(std::int64_t j, std::int64_t n) {
  return 2 * j < n ? 2 * j : 2 * (n - j) - 1;
}

template <bool Apart, class T>
void transform_strip(const Team& team, const Plan<T>& plan, const Job<T>& job, Strip<T>& strip) {
  const std::int64_t n = job.length;
  const auto scale = static_cast<T>(job.scale);
  const auto first_scale = static_cast<T>(job.first_scale);
  const T sign = job.sign == Sign::inverse ? T{-1} : T{1};
  const auto real_at = [&](std::int64_t j, std::int64_t q) {
    return j < job.given ? strip.from[q][j * job.from_step] : T{0};
  };
  const auto put_real = [&](std::int64_t j, std::int64_t q, T value) { strip.to[q][j * job.to_step] = value * scale; };
  switch (job.kind) {
  case Kind::complex:
  case Kind::complex_of_real:
    return transform_complex<Apart>(team, plan, job, strip);
  case Kind::hermitian_of_real:
    return transform_real(team, plan, n, strip, real_at, [&](std::int64_t k, std::int64_t q, const Pair<T>& value) {
      write_complex<Apart>(job, strip, k, q, value.re * scale, value.im * scale * sign);
    });
  case Kind::real_of_hermitian: {
    const auto complex_at = [&](std::int64_t k, std::int64_t q) {
      if (k >= job.given) return Pair<T>{};
      const Pair<T> value = read_complex<Apart>(job, strip, k, q);
      return Pair<T>{value.re, k == 0 || 2 * k == n ? T{0} : value.im * -sign}; // real by symmetry
    };
    return transform_hermitian(team, plan, n, strip, complex_at, put_real);
  }
  case Kind::cosine_2: {
    // y_k = 2 Re(u^k V_k), y_(n-k) = -2 Im(u^k V_k), where u = exp(-pi i / 2n)
    const RootTable<T>& u = *strip.quarters;
    const auto permuted = [&](std::int64_t j, std::int64_t q) { return real_at(cosine_place(j, n), q); };
    return transform_real(team, plan, n, strip, permuted, [&](std::int64_t k, std::int64_t q, const Pair<T>& v) {
      const T re = u.re[static_cast<std::size_t>(k)];
      const T im = u.im[static_cast<std::size_t>(k)];
      put_real(k, q, 2 * (v.re * re - v.im * im) * (k == 0 ? first_scale : T{1}));
      if (k > 0 && 2 * k != n) put_real(n - k, q, -2 * (v.re * im + v.im * re));
    });
  }
  case Kind::cosine_3: {
    // V_k = conj(u^k) (x_k - i x_(n-k))
    const RootTable<T>& u = *strip.quarters;
    const auto spectrum = [&](std::int64_t k, std::int64_t q) {
      const Pair<T> x{k == 0 ? real_at(0, q) * first_scale : real_at(k, q), k == 0 ? T{0} : -real_at(n - k, q)};
      const T re = u.re[static_cast<std::size_t>(k)];
      const T im = -u.im[static_cast<std::size_t>(k)];
      return Pair<T>{x.re * re - x.im * im, x.re * im + x.im * re};
    };
    return transform_hermitian(team, plan, n, strip, spectrum, [&](std::int64_t j, std::int64_t q, T value) {
      put_real(cosine_place(j, n), q, value);
    });
  }
  }
}

/// The plan of the complex transform that a job takes.
template <class T> [[nodiscard]] const Plan<T>& plan_for(const Job<T>& job) {
  const bool is_complex = job.kind == Kind::complex || job.kind == Kind::complex_of_real;
  return plan_of<T>(!is_complex && job.length % 2 == 0 ? job.length / 2 : job.length);
}

template <class T> [[nodiscard]] std::int64_t elements_for_long_lines(const Job<T>& job) {
  if (job.extents.elements() == 0) return 0;
  const Plan<T>& plan = plan_for(job);
  const std::int64_t elements = 4 * plan.room() * plan.lines_at_once(job.extents.elements());
  return elements * static_cast<std::int64_t>(sizeof(T)) > most_bytes_of_thread ? elements : 0;
}

template <class T> void run_lines(const Team& team, const Job<T>& job, T* memory) {
  const std::int64_t count = job.extents.elements();
  if (count == 0) return;
  const Plan<T>& plan = plan_for(job);
  const std::int64_t lines = plan.lines_at_once(count);
  const std::int64_t strips = (count + lines - 1) / lines;
  const std::int64_t size = plan.room() * lines;
  const std::int64_t n = job.length;
  const bool is_cosine = job.kind == Kind::cosine_2 || job.kind == Kind::cosine_3;
  const RootTable<T>* const halves = plan.length < n ? &roots_of<T>(n, n / 2 + 1) : nullptr;
  const RootTable<T>* const quarters = is_cosine ? &roots_of<T>(4 * n, n / 2 + 1) : nullptr;
  const auto work = [&](const Team& inner, T* at, std::int64_t begin, std::int64_t end) {
    Strip<T> strip{.x = {at, at + size}, .y = {at + 2 * size, at + 3 * size}, .lines = lines};
    strip.halves = halves;
    strip.quarters = quarters;
    for (std::int64_t i = begin; i < end; ++i) {
      strip.width = std::min(lines, count - i * lines);
      if (strip.width < lines) std::fill(at, at + 2 * size, T{0}); // what is computed beside has to be numbers
      locate(job, i * lines, strip);
      if (job.parts_are_apart)
        transform_strip<true>(inner, plan, job, strip);
      else
        transform_strip<false>(inner, plan, job, strip);
    }
  };
  if (memory != nullptr) return work(team, memory, 0, strips);
  kernel::share_out(team, strips, count * plan.room() * 16 * static_cast<std::int64_t>(sizeof(T)),
                    [&](std::int64_t begin, std::int64_t end) {
                      T* const own = kernel::Scratch::of_thread<T>(4 * size);
                      work(strips == 1 ? team : Team::serial(), own, begin, end);
                    });
}

template <class T> void reserve_lines(const Team& team, const Job<T>& job) {
  const std::int64_t count = job.extents.elements();
  if (count == 0) return;
  const Plan<T>& plan = plan_for(job);
  const Plan<T>& inner = plan.padded ? *plan.padded : plan;
  const std::int64_t lines = 4 * plan.room() * plan.lines_at_once(count);
  const std::int64_t strips = 4 * std::max(inner.rows, inner.columns) * strip_lines<T>;
  if (plan.length < job.length) static_cast<void>(roots_of<T>(job.length, job.length / 2 + 1));
  team.parallel([&](int, int) {
    kernel::Scratch::reserve<T>(lines);
    kernel::Scratch::reserve<T, kernel::ScratchSlot::parts>(strips);
  });
}

TWILL_BODY std::int64_t working_elements(const Job<float>& job) { return elements_for_long_lines(job); }
TWILL_BODY std::int64_t working_elements(const Job<double>& job) { return elements_for_long_lines(job); }
TWILL_BODY void run_job(const Team& team, const Job<float>& job, float* memory) { run_lines(team, job, memory); }
TWILL_BODY void run_job(const Team& team, const Job<double>& job, double* memory) { run_lines(team, job, memory); }
TWILL_BODY void reserve_job(const Team& team, const Job<float>& job) { reserve_lines(team, job); }
TWILL_BODY void reserve_job(const Team& team, const Job<double>& job) { reserve_lines(team, job); }

}}}}} // namespace twill::v0::fft::detail::TWILL_ISA
