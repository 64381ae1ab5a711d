# SPDX-License-Identifier: Apache-2.0
#
# Purpose and cost of README's two commands, which the first configuration by their presets says before anything else. README
# has the same numbers, measured on two cores; memory is that of the largest files, four compilers at a time.

set(cost_of_fashion-mnist "builds the example of Fashion-MNIST: 3 minutes on two cores, 20 MB of disk, 3 GB of memory")
set(cost_of_dev "builds twill and runs all its tests: 35 minutes on two cores, 6 GB of disk, 6 GB of memory")
if(DEFINED cost_of_${TWILL_PRESET} AND NOT EXISTS ${CMAKE_BINARY_DIR}/CMakeCache.txt)
  message(STATUS "twill: ${cost_of_${TWILL_PRESET}}")
endif()
