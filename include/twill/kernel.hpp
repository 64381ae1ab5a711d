#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// All of kernel/.

#include <twill/kernel/any_team.hpp>
#include <twill/kernel/apply.hpp>
#include <twill/kernel/apply_pack.hpp>
#include <twill/kernel/body.hpp>
#include <twill/kernel/bytes.hpp>
#include <twill/kernel/coalesce.hpp>
#include <twill/kernel/columns.hpp>
#include <twill/kernel/count.hpp>
#include <twill/kernel/draw.hpp>
#include <twill/kernel/formulas.hpp>
#include <twill/kernel/launch.hpp>
#include <twill/kernel/math/exponential.hpp>
#include <twill/kernel/math/logarithm.hpp>
#include <twill/kernel/math/math.hpp>
#include <twill/kernel/math/polynomial.hpp>
#include <twill/kernel/math/sigmoidal.hpp>
#include <twill/kernel/math/trigonometric.hpp>
#include <twill/kernel/narrow.hpp>
#include <twill/kernel/native.hpp>
#include <twill/kernel/pack.hpp>
#include <twill/kernel/plan.hpp>
#include <twill/kernel/primitive.hpp>
#include <twill/kernel/print.hpp>
#include <twill/kernel/product.hpp>
#include <twill/kernel/product_stack.hpp>
#include <twill/kernel/program.hpp>
#include <twill/kernel/record.hpp>
#include <twill/kernel/reduction.hpp>
#include <twill/kernel/rows.hpp>
#include <twill/kernel/run.hpp>
#include <twill/kernel/scalar/floats.hpp>
#include <twill/kernel/scalar/gamma.hpp>
#include <twill/kernel/scalar/integers.hpp>
#include <twill/kernel/scan.hpp>
#include <twill/kernel/scratch.hpp>
#include <twill/kernel/small_product.hpp>
#include <twill/kernel/stage.hpp>
#include <twill/kernel/summary.hpp>
#include <twill/kernel/table.hpp>
#include <twill/kernel/tabulate.hpp>
#include <twill/kernel/tail.hpp>
#include <twill/kernel/walk.hpp>
