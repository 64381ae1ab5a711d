// SPDX-License-Identifier: Apache-2.0
//
// The fuzzers' entry point: the environment variable TWILL_FUZZ_TARGET names the reader.

#include "tests/fuzz/targets.hpp"

namespace {

const twill::fuzz::Target& chosen() {
  const char* const wanted = std::getenv("TWILL_FUZZ_TARGET");
  for (const twill::fuzz::Target& target : twill::fuzz::targets)
    if (wanted != nullptr && target.name == wanted) return target;
  std::fputs("TWILL_FUZZ_TARGET has to be one of:", stderr);
  for (const twill::fuzz::Target& target : twill::fuzz::targets) std::fprintf(stderr, " %s", target.name.data());
  std::fputs("\n", stderr);
  std::exit(2);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const twill::fuzz::Target& target = chosen();
  target.run({reinterpret_cast<const std::byte*>(data), size});
  return 0;
}
