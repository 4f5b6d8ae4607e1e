#include "joulegrid/base/error.h"

namespace joulegrid {

void check(bool holds, const char* what) {
  if (!holds) throw std::logic_error(std::string("internal error: ") + what);
}

}  // namespace joulegrid
