// SPDX-License-Identifier: Apache-2.0
//
// A table analysed without a model: a CSV file with a column of text and missing cells.
//
// prints: 3 stations, 2 cells are missing
// prints: means of oslo: [ 8. 65.]
// prints: of the warm days 2 of 3 are in cairo

#include <twill/expr.hpp>
#include <twill/io/csv.hpp>
#include <twill/tensor.hpp>

#include <cstdint>
#include <iostream>
#include <string_view>

using namespace twill;

constexpr std::string_view text = R"(day,station,temperature,humidity
1,oslo,6,70
1,rome,19,50
1,cairo,30,NA
2,oslo,10,60
2,rome,26,45
2,cairo,,30
3,oslo,8,65
3,cairo,34,20
)";

int main() {
  // region: read
  const io::CsvOptions options{.missing = io::MissingValues::as_nan};
  const auto cells = io::parse_csv<double>("weather", text, {"temperature", "humidity"}, options); // or io::read_csv
  const auto stations = io::parse_csv_labels("weather", text, "station");
  const Tensor table = from_values<Shape<dyn, 2>>(cells.elements, Dims(cells.rows, 2));
  const Tensor station = from_values(stations.labels);
  // end region
  const auto names = static_cast<std::int64_t>(stations.classes.size());
  const Tensor missing = count_nonzero(isnan(table));
  std::cout << names << " stations, " << missing << " cells are missing\n";

  // region: groups
  const Tensor filled = where(isnan(table), nanmean<0>(table), table); // by the mean of the column
  const Tensor sums = zeros<double, Shape<dyn, 2>>(Dims(names, 2));
  const Tensor counts = zeros<double, Shape<dyn, 1>>(Dims(names, 1));
  index_add<0>(sums, station, filled); // one row for each station
  index_add<0>(counts, station, ones<double, Shape<dyn, 1>>(Dims(cells.rows, 1)));
  const Tensor means = sums / counts;
  for (std::int64_t i = 0; i < names; ++i)
    std::cout << "means of " << stations.classes[static_cast<std::size_t>(i)] << ": " << means[i] << '\n';
  // end region

  // region: filter
  const Tensor is_warm = filled(all, 0) > 25;
  const Tensor warm_days = filled[is_warm]; // the rows where it holds
  const Tensor places = masked_select(station, is_warm);
  const Tensor in_cairo = count_nonzero(places == 2);
  std::cout << "of the warm days " << in_cairo << " of " << places.size(0) << " are in cairo, at "
            << Tensor{mean(warm_days(all, 0))} << " degrees\n";
  // end region

  std::cout << "deviations " << Tensor{nanstd<0>(table, correction<1>)} << "\nquartiles\n"
            << Tensor{quantile<0>(filled, tensor({0.25, 0.5, 0.75}))} << "\ncorrelations\n"
            << Tensor{corrcoef(filled.transpose())} << '\n';
}
