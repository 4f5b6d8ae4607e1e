#pragma once

#include <memory>
#include <string>

#include "joulegrid/counter/fault.h"

namespace joulegrid {

/// A library opened at run time; closed with the last owner.
class SharedLibrary {
 public:
  /// Opens `path` as the linker finds it. What it gives where that fails is FaultKind::library_missing.
  static Measured<std::shared_ptr<const SharedLibrary>> open(const std::string& path);

  ~SharedLibrary();
  SharedLibrary(const SharedLibrary&) = delete;
  SharedLibrary& operator=(const SharedLibrary&) = delete;

  /// Null where the library has none of that name.
  template <typename Function>
  Function* function(const char* name) const {
    return reinterpret_cast<Function*>(symbol(name));
  }

 private:
  explicit SharedLibrary(void* handle) : handle_(handle) {}
  void* symbol(const char* name) const;

  void* handle_;
};

}  // namespace joulegrid
