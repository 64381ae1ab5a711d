#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// All of expr/.

#include <twill/expr/activations.hpp>
#include <twill/expr/bind.hpp>
#include <twill/expr/code.hpp>
#include <twill/expr/cumulative.hpp>
#include <twill/expr/evaluate.hpp>
#include <twill/expr/evaluate_reductions.hpp>
#include <twill/expr/functions.hpp>
#include <twill/expr/functions/arithmetic.hpp>
#include <twill/expr/functions/choice.hpp>
#include <twill/expr/functions/comparison.hpp>
#include <twill/expr/functions/exponential.hpp>
#include <twill/expr/functions/floating.hpp>
#include <twill/expr/functions/rounding.hpp>
#include <twill/expr/functions/special.hpp>
#include <twill/expr/functions/trigonometric.hpp>
#include <twill/expr/gather.hpp>
#include <twill/expr/grids.hpp>
#include <twill/expr/join.hpp>
#include <twill/expr/leaf.hpp>
#include <twill/expr/masks.hpp>
#include <twill/expr/matmul.hpp>
#include <twill/expr/node.hpp>
#include <twill/expr/norms.hpp>
#include <twill/expr/operation.hpp>
#include <twill/expr/operators.hpp>
#include <twill/expr/out.hpp>
#include <twill/expr/pad.hpp>
#include <twill/expr/program.hpp>
#include <twill/expr/put.hpp>
#include <twill/expr/quantile.hpp>
#include <twill/expr/reduced.hpp>
#include <twill/expr/reduction_operations.hpp>
#include <twill/expr/reductions.hpp>
#include <twill/expr/repeat.hpp>
#include <twill/expr/row_form.hpp>
#include <twill/expr/row_symbols.hpp>
#include <twill/expr/scatter.hpp>
#include <twill/expr/statistics.hpp>
#include <twill/expr/symbol.hpp>
#include <twill/expr/symbol_functions.hpp>
#include <twill/expr/take.hpp>
#include <twill/expr/triangles.hpp>
