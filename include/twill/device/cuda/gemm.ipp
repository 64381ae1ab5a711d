#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of device/cuda/gemm.hpp.

#include <twill/device/cuda/gemm.hpp>

namespace twill { inline namespace v0 { namespace nvidia {

TWILL_COLD TWILL_BODY std::string to_string(const Gemm& gemm) {
  std::string text =
      join_text({"product of ", gemm.m, " x ", gemm.k, gemm.a.is_transposed ? " (transposed)" : "", " by ", gemm.k,
                 " x ", gemm.n, gemm.b.is_transposed ? " (transposed)" : "", " ", name(gemm.dtype)});
  if (gemm.batch != 1) text = join_text({text, ", batch ", gemm.batch});
  if (gemm.epilogue != GemmEpilogue::none) text = join_text({text, ", epilogue ", name(gemm.epilogue)});
  return text;
}

TWILL_BODY unsigned alignment_of(const void* data) {
  const auto address = reinterpret_cast<std::uintptr_t>(data) | 256U;
  return static_cast<unsigned>(address & (~address + 1));
}

TWILL_BODY std::array<std::uint64_t, gemm_key_words> key_of(const Gemm& gemm, unsigned option_bits) {
  const auto word = [](auto number) { return static_cast<std::uint64_t>(number); };
  std::uint64_t alignments = 0;
  for (const void* data : {gemm.a.data, gemm.b.data, static_cast<const void*>(gemm.c),
                           static_cast<const void*>(gemm.bias), static_cast<const void*>(gemm.auxiliary)})
    alignments = (alignments << 12) | alignment_of(data);
  const std::uint64_t kind = word(gemm.dtype) | (word(gemm.epilogue) << 8) | (word(option_bits) << 16) |
                             (word(gemm.a.is_transposed) << 24) | (word(gemm.b.is_transposed) << 25) |
                             (word(gemm.beta != 0) << 26);
  return {kind,
          alignments,
          word(gemm.m),
          word(gemm.n),
          word(gemm.k),
          word(gemm.batch),
          word(gemm.a.leading),
          word(gemm.b.leading),
          word(gemm.c_leading),
          word(gemm.a.batch_stride),
          word(gemm.b.batch_stride),
          word(gemm.c_batch_stride)};
}

}}} // namespace twill::v0::nvidia
