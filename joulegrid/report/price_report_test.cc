#include "joulegrid/report/price_report.h"

#include <gtest/gtest.h>

#include <sstream>

#include "joulegrid/base/json.h"
#include "joulegrid/schedule/schedule_file.h"

namespace joulegrid {
namespace {

const Epoch epoch({784, 2500, 10}, 1000, 64);

PriceReport searched() {
  const EpochTilesFound found = search_epoch_tiles(epoch);
  PriceReport report = price_report(epoch, found.tiles, {});
  report.search = SearchFacts{Candidates::divisors, found.evaluations, 0.5, true, found.start, found.sweeps};
  return report;
}

TEST(PriceReport, document_adds_up) {
  const Json json = parse_json(price_document(searched()), "doc");
  Wide regions = 0;
  Wide reads = 0;
  Wide layers = 0;
  for (const Json& region : json["regions"]) {
    regions += region["steps"].get<Wide>();
    reads += region["cells"].get<Wide>() * region["reads_per_cell"].get<Wide>();
    EXPECT_EQ(region["last_address"].get<Wide>() - region["first_address"].get<Wide>() + 1, region["cells"].get<Wide>());
  }
  for (const Json& layer : json["layers"]) layers += layer["steps"].get<Wide>();
  EXPECT_EQ(regions, json["steps"].get<Wide>());
  EXPECT_EQ(layers, json["steps"].get<Wide>());
  EXPECT_EQ(reads, json["charged_reads"].get<Wide>());
  EXPECT_EQ(json["macs"].get<Wide>(), epoch.macs());
  EXPECT_EQ(json["joules"].get<double>(), rounded_quotient(json["steps"].get<Wide>(), 1000000000000000));
}

TEST(PriceReport, document_is_a_schedule_file) {
  const PriceReport report = searched();
  EXPECT_EQ(read_schedule(price_document(report), "doc", epoch), report.schedule);
}

TEST(PriceReport, integers_past_64_bits_stay_exact_in_the_document) {
  const Gemm gemm{1, 1, std::uint64_t{1} << 44};
  const PriceReport report = price_report(gemm, EpochTiles{{{1, gemm.n}}}, {});
  EXPECT_GT(report.packing.steps.count(), Wide{1} << 64);
  EXPECT_EQ(parse_json(price_document(report), "doc")["steps"].get<Wide>(), report.packing.steps.count());
}

TEST(PriceReport, text_is_never_wider_than_the_text_width) {
  const Gemm huge{std::uint64_t{1} << 40, 3, std::uint64_t{1} << 40};
  const Epoch deep(std::vector<std::uint64_t>(40, 123456789), 123456789012, 99999999999);
  const EpochTiles tiles(deep.call_groups().size(), std::vector<Tile>(deep.layers(), Tile{1, 123456789}));
  for (const PriceReport& report :
       {searched(), price_report(huge, EpochTiles{{{123456789, 987654321}}}, {}), price_report(deep, tiles, {})}) {
    std::istringstream lines(price_text(report, {}));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), text_width) << line;
  }
}

}  // namespace
}  // namespace joulegrid
