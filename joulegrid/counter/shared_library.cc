#include "joulegrid/counter/shared_library.h"

#include <dlfcn.h>

#include "joulegrid/base/quote.h"

namespace joulegrid {

Measured<std::shared_ptr<const SharedLibrary>> SharedLibrary::open(const std::string& path) {
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const reason = dlerror();
    return Fault{FaultKind::library_missing, "cannot load " + printable(reason == nullptr ? path : reason)};  // names it
  }
  return std::shared_ptr<const SharedLibrary>(new SharedLibrary(handle));
}

SharedLibrary::~SharedLibrary() { dlclose(handle_); }

void* SharedLibrary::symbol(const char* name) const { return dlsym(handle_, name); }

}  // namespace joulegrid
