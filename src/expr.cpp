// SPDX-License-Identifier: Apache-2.0
//
// Bodies of expr/ in the compiled library.

#include <twill/expr/bind.ipp>
#include <twill/expr/domain.ipp>
#include <twill/expr/draws.ipp>
#include <twill/expr/evaluate_products.ipp>
#include <twill/expr/evaluate_reductions.ipp>
#include <twill/expr/gather.ipp>
#include <twill/expr/join.ipp>
#include <twill/expr/label_walk.ipp>
#include <twill/expr/node.ipp>
#include <twill/expr/norms.ipp>
#include <twill/expr/planned.ipp>
#include <twill/expr/point_sets.ipp>
#include <twill/expr/product.ipp>
#include <twill/expr/quantile.ipp>
#include <twill/expr/sampling.ipp>
#include <twill/expr/scatter.ipp>
#include <twill/expr/sobol_directions.ipp>
