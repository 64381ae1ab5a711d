// SPDX-License-Identifier: Apache-2.0
//
// Bodies of train/ in the compiled library.

#include <twill/train/fit_report.ipp>
#include <twill/train/rule_options.ipp>
#include <twill/train/summary.ipp>
#include <twill/train/training_state.ipp>
