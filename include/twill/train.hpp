#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// All of train/.

#include <twill/train/accumulation.hpp>
#include <twill/train/fit_report.hpp>
#include <twill/train/inspect.hpp>
#include <twill/train/optimiser.hpp>
#include <twill/train/optimiser_state.hpp>
#include <twill/train/rule_options.hpp>
#include <twill/train/sources.hpp>
#include <twill/train/step_program.hpp>
#include <twill/train/summary.hpp>
#include <twill/train/train_step.hpp>
#include <twill/train/training_state.hpp>
