// SPDX-License-Identifier: Apache-2.0
//
// Arrays and expressions in twill, for readers who know Eigen, xtensor or MatX: the blocks of
// docs/coming_from_array_libraries.md are regions of this file.
// prints: sum of the chain: 1.5
// prints: rows of the table:

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

#include <array>
#include <cstdio>
#include <iostream>

using namespace twill;

int main() {
  // region: types
  const Tensor fixed = zeros<float, Shape<3, 4>>();             // both extents in the type
  const Tensor partly = ones<float, Shape<dyn, 4>>(Dims(3, 4)); // one known at run time
  Tensor<double, Cpu, Shape<dyn, dyn>> free = eye<double, Shape<dyn, dyn>>(Dims(3, 3));
  const Tensor integers = tensor({{1, 2, 3}, {4, 5, 6}});
  // end region

  // region: chain
  const Tensor a = full<float, Shape<4>>(0.5F);
  const Tensor b = full<float, Shape<4>>(1.0F);
  Tensor y = a * b + 0.25F;                      // evaluated here, in one pass; float32 stays float32
  y += a * 0.5F;                                 // in place, also one pass
  out(y) = maximum(y - 0.625F, 0.0F) + 0.0F * b; // into the memory that y has
  const float total = sum(y * b).item();         // the product is never stored
  // end region
  std::printf("sum of the chain: %.1f\n", static_cast<double>(total));

  // region: lazy
  // auto e = a * b;            does not compile where e is used: it refers to operands that it does not own
  const auto owned = lazy(a * b); // owns handles to a and b; a range for algorithms
  const Tensor evaluated = eval(a * b);
  // end region

  // region: rows
  const Tensor table = randn<float, Shape<dyn, 4>>(Dims(100, 4));
  const Tensor columns = mean<0>(table);
  const Tensor centred = table - columns;                            // broadcast as in NumPy
  const Tensor shares = softmax(centred);                            // along the rows, one kernel
  const auto [lowest, highest] = eval(min<1>(table), max<1>(table)); // both in one pass
  // end region

  // region: views
  const Tensor corner = table(slice{0, 10}, slice{.step = 2}); // shares table's memory
  const Tensor turned = table.transpose();
  const Tensor chosen = masked_select(table, table > 1); // a copy
  const Tensor copied = corner.clone();
  // end region

  // region: first_axis
  copied[0][1] = 7;
  double added = 0;
  for (const auto row : copied) // a view of each row
    for (const auto element : row) added += element;
  // end region

  // region: products
  const Tensor product = matmul(table.transpose(), table); // CBLAS or oneDNN
  const Tensor gram = einsum<"ni,nj->ij">(table, table);   // the pattern is checked by the compiler
  // end region

  // region: memory
  std::array<float, 12> numbers{};
  auto mapped = tensor_over<Shape<dyn, 4>>(numbers.data(), Dims(3, 4)); // no copy
  mapped += 1.0F;
  // end region
  std::cout << "rows of the table: " << table.size(0) << ", centred: " << to_string(centred.shape()) << '\n'
            << integers << fixed << partly << free << evaluated << eval(owned + 1.0F) << shares[0] << lowest[0]
            << highest[0] << to_string(turned.shape()) << chosen.size(0) << copied[0] << product << gram << numbers[11]
            << '\n';
  return numbers[11] == 1 && added != 0 && max(abs(product - gram)).item() < 1e-3F ? 0 : 1;
}
