// SPDX-License-Identifier: Apache-2.0
//
// Bodies of training/ in the compiled library.

#include <twill/training/early_stopping.ipp>
#include <twill/training/fit_report.ipp>
#include <twill/training/rate_finder.ipp>
#include <twill/training/rule_options.ipp>
#include <twill/training/summary.ipp>
#include <twill/training/training_state.ipp>
