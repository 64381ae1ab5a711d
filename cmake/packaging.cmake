# SPDX-License-Identifier: Apache-2.0
#
# Installs the headers and a package, so that find_package(twill) gives twill::twill, twill::cuda, twill::algorithms
# and twill::mpi elsewhere. What else was found on this machine is not written into the package: twillConfig.cmake looks for it on the
# machine that uses it.

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/twill)
install(TARGETS twill twill_cuda twill_algorithms twill_mpi EXPORT twillTargets FILE_SET HEADERS)
install(EXPORT twillTargets NAMESPACE twill:: DESTINATION ${package_dir})
configure_package_config_file(cmake/twillConfig.cmake.in ${PROJECT_BINARY_DIR}/cmake/twillConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/twillConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES ${PROJECT_BINARY_DIR}/cmake/twillConfig.cmake ${PROJECT_BINARY_DIR}/cmake/twillConfigVersion.cmake
              cmake/cuda_libraries.cmake
        DESTINATION ${package_dir})
