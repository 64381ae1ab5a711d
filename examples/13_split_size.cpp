// SPDX-License-Identifier: Apache-2.0
//
// How large should micro-batches be? Small ones fill a pipeline, large ones compute faster. A small ResNet is trained on one
// device, on two devices one after the other, and as a pipeline with micro-batches of several sizes, cut behind its second
// group of blocks and where both stages have equal work; two processes of their own show what the cores allow. Written are a
// plot, the steps beside what was simulated from the stages' measured costs, as a Gantt chart and as a trace for Perfetto, and
// the numbers. ResNet-50 in the same hands: bench/parallel/split_size.cpp.
//
// prints: one device:
// prints: cut behind the second group
// prints: best:

#include "examples/models/resnet.hpp"
#include "examples/support/split_size.hpp"

using models::Value;

/// A ResNet of four blocks, 8 to 64 channels wide.
struct SmallResNet {
  static constexpr auto forward(twill::Input<twill::Dim<"batch">, 3, 64, 64> image) {
    const auto block = [](Value x, auto channels, auto stride) { return models::basic_block(x, channels, stride); };
    return models::resnet(image, block, {1, 1, 1, 1}, 10, 8);
  }
};

int main(int count, char** arguments) {
  return examples::run_main(arguments[0], [&] {
    examples::SplitSizeOptions options{.batch = 24, .repeats = 3, .splits = "1,4,6,12"};
    if (!examples::read_flags(count, arguments, "The split-size experiment on a small ResNet.", options)) return;
    // region: run
    const auto result = examples::run_split_size<SmallResNet, 64, 10>(options);
    examples::print(result);
    examples::draw(options.results, result);
    examples::write_json(options.results + ".json", result);
    // end region
  });
}
