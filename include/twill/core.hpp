#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// All of core/.

#include <twill/core/axes.hpp>
#include <twill/core/bits.hpp>
#include <twill/core/bytes.hpp>
#include <twill/core/call_site.hpp>
#include <twill/core/clock.hpp>
#include <twill/core/complex.hpp>
#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/error.hpp>
#include <twill/core/float8.hpp>
#include <twill/core/half.hpp>
#include <twill/core/list.hpp>
#include <twill/core/philox.hpp>
#include <twill/core/promotion.hpp>
#include <twill/core/range.hpp>
#include <twill/core/refused.hpp>
#include <twill/core/run_recorder.hpp>
#include <twill/core/shape.hpp>
#include <twill/core/text.hpp>
#include <twill/core/type_name.hpp>
