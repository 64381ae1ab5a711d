#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Training from a loader on a device, as numbers that two kinds of device are compared by.

#include <tests/support/numbers.hpp>
#include <tests/training/models.hpp>

#include <twill/data/loader.hpp>
#include <twill/data/tensor_dataset.hpp>
#include <twill/nn/tracked.hpp>

#include <cstdint>
#include <vector>

namespace twill::test {

template <class D> using Model = nn::Network<DropoutClassifier, D, double>;

/// 45 rows in batches of 16, the last one smaller, made by a worker thread.
template <class D> auto batches_for(D device) {
  const data::TensorDataset rows{data::column(random_rows<double, 5>(Cpu{0}, 45, 21)),
                                 data::column(random_labels(Cpu{0}, 45, 3, 22))};
  return data::DataLoader(rows, data::ShuffledSampler{.seed = 2}, device, {.batch_size = 16, .workers = 1});
}

/// Losses of two epochs, then what the trained model says to all rows.
template <class D, class Train> std::vector<double> numbers_of(D device, const Train& train) {
  manual_seed(device, 17);
  Model<D> model{device};
  auto loader = batches_for(device);
  std::vector<double> numbers{};
  train(model, loader, numbers);
  const nn::NoGrad scope{};
  model.eval();
  for (auto [x, label] : loader) {
    for (double y : to_vector(model.infer(x))) numbers.push_back(y);
    for (double y : to_vector(model.forward(x).value())) numbers.push_back(y);
    numbers.push_back(nn::cross_entropy(model.forward(x), label).item());
  }
  return numbers;
}

} // namespace twill::test
