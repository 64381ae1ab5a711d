#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A network whose model no other file sees.

// region: header
#include <twill/tensor.hpp> // tensors alone; models and training are the business of classifier.cpp

#include <cstdint>
#include <memory>

class Classifier {
public:
  using Points = twill::Tensor<float, twill::Cpu, twill::Shape<twill::dyn, 2>>;
  using Labels = twill::Tensor<std::int64_t, twill::Cpu, twill::Shape<twill::dyn>>;

  explicit Classifier(float rate);
  ~Classifier();

  float train(const Points& points, const Labels& labels); ///< one step; its loss
  Labels classes(const Points& points);

private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};
// end region
