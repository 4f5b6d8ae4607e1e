#include "joulegrid/schedule/nest_blocks.h"

#include "joulegrid/base/error.h"

namespace joulegrid {

NestBlocks::NestBlocks(const Gemm& gemm, const Nest& nest) : nest_(nest), gemm_(gemm) {
  for (const Dimension dimension : all_dimensions) {
    const std::uint64_t size = size_of(gemm, dimension);
    Cuts& cuts = cuts_[static_cast<std::size_t>(dimension)];
    cuts.extent.assign(loops() + 1, 1);
    cuts.count.assign(loops() + 1, size);
    for (std::size_t depth = loops(); depth-- > 0;) {
      const Loop& loop = nest.loops[depth];
      const Wide extent = checked_mul(cuts.extent[depth + 1], loop.dimension == dimension ? loop.trips : 1);
      if (extent > max_size) {
        throw Error(ErrorCode::bad_input,
                    "the trips of " + std::string(1, letter(dimension)) + " multiply to more than " + to_string(max_size));
      }
      cuts.extent[depth] = static_cast<std::uint64_t>(extent);
      cuts.count[depth] = ceil_div(size, cuts.extent[depth]);
    }
    if (cuts.extent[0] < size) {
      throw Error(ErrorCode::bad_input, "the trips of " + std::string(1, letter(dimension)) + " multiply to " +
                                            to_string(cuts.extent[0]) + " and do not cover its size, " + to_string(size));
    }
  }
}

}  // namespace joulegrid
