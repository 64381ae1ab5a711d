#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Small PTX programs for tests of the interpreter: one kernel `test(in, out)`, whose body a test writes, with registers of all kinds at
// hand. A run returns the memory of `out` and the findings.

#include "ptxrun/findings.hpp"
#include "ptxrun/interpreter.hpp"
#include "ptxrun/options.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace program {

inline constexpr std::string_view registers = R"(
  .reg .pred %p<10>; .reg .b16 %h<20>; .reg .b32 %r<40>; .reg .b64 %rd<40>; .reg .f32 %f<20>; .reg .f64 %d<20>;
  ld.param.u64 %rd30, [in]; ld.param.u64 %rd31, [out]; cvta.to.global.u64 %rd30, %rd30; cvta.to.global.u64 %rd31, %rd31;
  mov.u32 %r30, %tid.x; mov.u32 %r31, %ctaid.x; mov.u32 %r32, %ntid.x; mad.lo.s32 %r33, %r31, %r32, %r30;
  mul.wide.u32 %rd33, %r33, 4; add.s64 %rd34, %rd30, %rd33; add.s64 %rd35, %rd31, %rd33;
)";

/// The text of a module. In the body, %r30 is the thread, %r31 the block, %r33 the thread in the grid; %rd30 is `in`, %rd31 `out`, and
/// %rd34 and %rd35 are this thread's words of them.
inline std::string text(std::string_view body, std::string_view before = "") {
  return ".version 8.0\n.target sm_90\n.address_size 64\n.file 1 \"test.cu\"\n" + std::string{before} +
         "\n.visible .entry test(.param .u64 in, .param .u64 out)\n{" + std::string{registers} + ".loc 1 7 3\n" +
         std::string{body} + "\nret;\n}\n";
}

struct Shape {
  std::uint32_t blocks = 1;
  std::uint32_t threads = 1;
  std::size_t dynamic_shared_bytes = 0;
};

struct Result {
  ptxrun::Outcome outcome = ptxrun::Outcome::success;
  std::vector<std::uint32_t> out{};
  std::vector<std::string> findings{};

  [[nodiscard]] bool found(std::string_view kind) const {
    return std::any_of(findings.begin(), findings.end(),
                       [&](const std::string& text) { return text.starts_with(std::string{kind} + ":"); });
  }
  [[nodiscard]] bool is_clean() const { return findings.empty() && outcome == ptxrun::Outcome::success; }
};

/// `in` holds the numbers 0, 1, 2, ..; `out` is zero before. Both have a word for each thread, and 64 at least.
inline Result run(std::string_view body, Shape shape = {}, std::string_view before = "") {
  (void)ptxrun::take_findings();
  ptxrun::Module module{text(body, before)};
  ptxrun::Kernel* const kernel = module.find_kernel("test");
  (void)ptxrun::traits_of(*kernel); // throws before memory is registered
  const std::size_t words = std::max<std::size_t>(64, std::size_t{shape.blocks} * shape.threads);
  std::vector<std::uint32_t> in(words), out(words);
  for (std::size_t n = 0; n < words; ++n) in[n] = static_cast<std::uint32_t>(n);
  ptxrun::register_memory(in.data(), words * 4, "in");
  ptxrun::register_memory(out.data(), words * 4, "out");
  const std::array<const void*, 2> parameters{in.data(), out.data()};
  std::array<std::byte, sizeof parameters> bytes;
  std::memcpy(bytes.data(), parameters.data(), sizeof parameters);
  Result result;
  result.outcome =
      ptxrun::run(*kernel, {{shape.blocks, 1, 1}, {shape.threads, 1, 1}, bytes.data(), shape.dynamic_shared_bytes});
  ptxrun::unregister_memory(in.data());
  ptxrun::unregister_memory(out.data());
  result.out = out;
  result.findings = ptxrun::take_findings();
  return result;
}

/// What the registers with number 0 hold after a statement.
struct Values {
  std::uint64_t rd = 0;
  std::uint32_t r = 0;
  std::uint16_t h = 0;
  float f = 0;
  double d = 0;
  bool p = false;
};

/// Executes statements with `inputs` in %rd1.., by their low bits also in %r1.., %h1.., %f1.. and %d1...
inline Values evaluate(std::string_view statements, std::initializer_list<std::uint64_t> inputs) {
  std::string body =
      "mov.b64 %rd0, 0; mov.b32 %r0, 0; mov.b16 %h0, 0; mov.f32 %f0, 0f00000000; mov.f64 %d0, 0d0000000000000000; "
      "setp.ne.s32 %p0, 0, 0;\n";
  int n = 0;
  for (const std::uint64_t input : inputs) {
    const std::string number = std::to_string(++n);
    body += "mov.b64 %rd" + number + ", " + std::to_string(input) + "; cvt.u32.u64 %r" + number + ", %rd" + number +
            "; cvt.u16.u64 %h" + number + ", %rd" + number + "; mov.b32 %f" + number + ", %r" + number +
            "; mov.b64 %d" + number + ", %rd" + number + ";\n";
  }
  body += std::string{statements} +
          "\nst.global.b64 [%rd31], %rd0; st.global.b32 [%rd31+8], %r0; st.global.b16 [%rd31+12], %h0; "
          "st.global.f32 [%rd31+16], %f0; st.global.f64 [%rd31+24], %d0; selp.b32 %r39, 1, 0, %p0; "
          "st.global.b32 [%rd31+20], %r39;";
  const Result result = run(body);
  Values values;
  const auto* const bytes = reinterpret_cast<const std::byte*>(result.out.data());
  std::memcpy(&values.rd, bytes, 8);
  std::memcpy(&values.r, bytes + 8, 4);
  std::memcpy(&values.h, bytes + 12, 2);
  std::memcpy(&values.f, bytes + 16, 4);
  values.p = result.out[5] != 0;
  std::memcpy(&values.d, bytes + 24, 8);
  return values;
}

inline std::uint64_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }
inline std::uint64_t bits(double x) { return std::bit_cast<std::uint64_t>(x); }
inline std::uint64_t bits(std::int32_t x) { return static_cast<std::uint32_t>(x); }

/// Options for the length of a test.
class OptionsScope {
public:
  explicit OptionsScope(const ptxrun::Options& options) : before_{ptxrun::options()} { ptxrun::set_options(options); }
  ~OptionsScope() { ptxrun::set_options(before_); }
  OptionsScope(const OptionsScope&) = delete;
  OptionsScope& operator=(const OptionsScope&) = delete;

private:
  ptxrun::Options before_;
};

} // namespace program
