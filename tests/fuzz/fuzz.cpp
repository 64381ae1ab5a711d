// SPDX-License-Identifier: Apache-2.0
//
// The fuzzers' entry point: the environment variable TWILL_FUZZ_TARGET names the reader.

#include "tests/fuzz/targets.hpp"
#if TWILL_FUZZ_IMAGES
#include "tests/fuzz/image_targets.hpp"
#endif

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace {

twill::fuzz::Target chosen() {
  std::vector<twill::fuzz::Target> known{twill::fuzz::targets.begin(), twill::fuzz::targets.end()};
  known.push_back({"csv_labels", &twill::fuzz::csv_labels});
#if TWILL_FUZZ_IMAGES
  known.insert(known.end(), twill::fuzz::image_targets.begin(), twill::fuzz::image_targets.end());
#endif
  const char* const wanted = std::getenv("TWILL_FUZZ_TARGET");
  for (const twill::fuzz::Target& target : known)
    if (wanted != nullptr && target.name == wanted) return target;
  std::fputs("TWILL_FUZZ_TARGET has to be one of:", stderr);
  for (const twill::fuzz::Target& target : known) std::fprintf(stderr, " %s", target.name.data());
  std::fputs("\n", stderr);
  std::exit(2);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const twill::fuzz::Target target = chosen();
  target.run({reinterpret_cast<const std::byte*>(data), size});
  return 0;
}
