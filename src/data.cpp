// SPDX-License-Identifier: Apache-2.0
//
// Bodies of data/ in the compiled library.

#include <twill/data/image_dataset.ipp>
#include <twill/data/mixing.ipp>
#include <twill/data/prefetch.ipp>
#include <twill/data/random_regions.ipp>
#include <twill/data/sampler.ipp>
#include <twill/data/transforms.ipp>
