// SPDX-License-Identifier: Apache-2.0
//
// The split-size experiment on ResNet-50: batches of 120 images of 128 x 128, mean squared error against one of 1000 classes,
// two stages on two host devices of one core each. SPLIT_SIZE_PERCENT, where it is defined, is the part of the work that the
// first stage has in the cut that is called balanced, for machines on which a balance of arithmetic is none of time. The
// same on a small network, which says what is done: examples/13_split_size.cpp.

#include "examples/support/split_size.hpp"
#include "examples/models/resnet.hpp"

#if !defined(SPLIT_SIZE_PERCENT)
#define SPLIT_SIZE_PERCENT 0
#endif

int main(int count, char** arguments) {
  return examples::run_main(arguments[0], [&] {
    examples::SplitSizeOptions options;
    if (!examples::read_flags(count, arguments, "The split-size experiment on ResNet-50.", options)) return;
    const auto result = examples::run_split_size<models::ResNet50<128>, 128, 1000, SPLIT_SIZE_PERCENT>(options);
    examples::print(result);
    examples::draw(options.results, result);
    examples::write_json(options.results + ".json", result);
  });
}
