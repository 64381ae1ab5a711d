#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// All of data/.

#include <twill/data/dataset.hpp>
#include <twill/data/image.hpp>
#include <twill/data/image_dataset.hpp>
#include <twill/data/loader.hpp>
#include <twill/data/prefetch.hpp>
#include <twill/data/sampler.hpp>
#include <twill/data/staging.hpp>
#include <twill/data/tensor_dataset.hpp>
#include <twill/data/transforms.hpp>
