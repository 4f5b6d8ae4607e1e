#include "joulegrid/process/program.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "joulegrid/base/error.h"
#include "joulegrid/base/quote.h"

namespace joulegrid {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::nanoseconds;
using namespace std::chrono_literals;

constexpr nanoseconds grace = 200ms;           // between SIGTERM and SIGKILL
constexpr nanoseconds stop_interval = 50ms;    // a Stop that another thread sets wakes nobody up
constexpr std::size_t piece_size = 1U << 16U;  // what a pipe holds

[[noreturn]] void fail(const std::string& what, int error) {
  throw Error(ErrorCode::system, what + ": " + std::strerror(error));
}

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { close(); }
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }

  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  int fd_ = -1;
};

/// The same open file under a number that is none of the standard streams', which a process may have been started without.
Descriptor above_standard_streams(Descriptor file) {
  if (file.get() > STDERR_FILENO) return file;
  Descriptor moved(::fcntl(file.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  if (!moved.is_open()) fail("cannot move a descriptor", errno);
  return moved;
}

/// The last `most` bytes of a stream, in a ring.
class Tail {
 public:
  explicit Tail(std::size_t most) : most_(most) {}

  void add(std::string_view bytes) {
    total_ += bytes.size();
    if (bytes.size() > most_) bytes.remove_prefix(bytes.size() - most_);
    const std::size_t growth = std::min(bytes.size(), most_ - ring_.size());
    ring_ += bytes.substr(0, growth);
    bytes.remove_prefix(growth);
    while (!bytes.empty()) {
      const std::size_t part = std::min(bytes.size(), ring_.size() - oldest_);
      ring_.replace(oldest_, part, bytes.substr(0, part));
      oldest_ = (oldest_ + part) % ring_.size();
      bytes.remove_prefix(part);
    }
  }

  std::uint64_t total() const { return total_; }
  std::string text() const { return ring_.substr(oldest_) + ring_.substr(0, oldest_); }

 private:
  std::size_t most_;
  std::string ring_;
  std::size_t oldest_ = 0;
  std::uint64_t total_ = 0;
};

/// A stream of the program's that is read here; not a pipe at all where nothing is to be kept of it.
class Stream {
 public:
  explicit Stream(std::size_t keep) : tail_(keep) {
    if (keep == 0) return;
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) fail("cannot make a pipe", errno);
    Descriptor read_end(ends[0]);
    Descriptor write_end(ends[1]);
    read_end_ = above_standard_streams(std::move(read_end));
    write_end_ = above_standard_streams(std::move(write_end));
    // Of this end only: the program's own stays as programs expect it.
    if (::fcntl(read_end_.get(), F_SETFL, O_NONBLOCK) != 0) fail("cannot set up a pipe", errno);
  }

  /// The program's end; -1: none.
  int write_end() const { return write_end_.get(); }
  void close_write_end() { write_end_.close(); }

  /// For poll: -1 where there is no more to read.
  int read_end() const { return read_end_.get(); }

  /// Takes what is there, one piece of it; false where that is nothing for now or for ever.
  bool take() {
    if (!read_end_.is_open()) return false;
    char piece[piece_size];
    const ssize_t count = ::read(read_end_.get(), piece, sizeof piece);
    if (count > 0) {
      tail_.add({piece, static_cast<std::size_t>(count)});
      return true;
    }
    if (count < 0 && errno == EINTR) return true;
    if (count == 0 || errno != EAGAIN) read_end_.close();
    return false;
  }

  /// Takes what the program has written, once it has ended: no more than a pipe holds, whatever is still coming from others.
  void take_rest() {
    const int size = read_end_.is_open() ? ::fcntl(read_end_.get(), F_GETPIPE_SZ) : 0;
    const std::uint64_t enough = tail_.total() + (size > 0 ? static_cast<std::uint64_t>(size) : piece_size);
    while (tail_.total() < enough && take()) {
    }
    read_end_.close();
  }

  const Tail& tail() const { return tail_; }

 private:
  Tail tail_;
  Descriptor read_end_;
  Descriptor write_end_;
};

/// A started program. Where it has not been reaped at the end of the scope, its group is killed and it is reaped.
class Child {
 public:
  explicit Child(pid_t pid)
      : pid_(pid), end_(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))) {}  // in C libraries only since glibc 2.36
  ~Child() {
    if (pid_ == 0) return;
    signal_group(SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// A descriptor that poll finds readable when the program has ended; -1 where the kernel has no such thing.
  int end_descriptor() const { return end_.get(); }

  /// Leaves the dead program as it is, so that its number, and that of its group, are nobody else's until `reap`.
  bool has_ended() const {
    siginfo_t info{};
    while (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0) {
      if (errno != EINTR) fail("cannot wait for a program", errno);
    }
    return info.si_pid != 0;
  }

  void signal_group(int signal) const {
    ::kill(-pid_, signal);
    ::kill(pid_, signal);  // also where it has gone into another group
  }

  /// The status for WIFEXITED and its like. The program has ended.
  int reap(rusage& usage) {
    int status = 0;
    pid_t reaped = -1;
    while ((reaped = ::wait4(pid_, &status, 0, &usage)) < 0 && errno == EINTR) {
    }
    pid_ = 0;
    if (reaped < 0) fail("cannot wait for a program", errno);
    return status;
  }

 private:
  pid_t pid_;
  Descriptor end_;
};

/// Waits for a program while reading what it writes.
class Watch {
 public:
  Watch(const Child& child, Stream& output, Stream& errors, Clock::time_point start)
      : child_(child), streams_{&output, &errors}, start_(start) {}

  /// When the program was seen to have ended.
  bool over() const { return over_; }
  Clock::time_point ended() const { return ended_; }

  /// Sleeps until the program ends, has written something, a signal comes, or `most` has passed; then sees to all that.
  void step(nanoseconds most) {
    std::array<pollfd, 3> watched{{{streams_[0]->read_end(), POLLIN, 0},
                                   {streams_[1]->read_end(), POLLIN, 0},
                                   {over_ ? -1 : child_.end_descriptor(), POLLIN, 0}}};
    if (!over_ && child_.end_descriptor() < 0) {
      most = std::min<nanoseconds>(most, std::clamp<nanoseconds>((Clock::now() - start_) / 64, 200us, 10ms));
    }
    most = std::clamp<nanoseconds>(most, 0ns, 24h);  // whoever waits longer comes back
    const timespec limit{most / 1s, (most % 1s).count()};
    if (::ppoll(watched.data(), watched.size(), &limit, nullptr) < 0) {
      if (errno != EINTR) fail("cannot wait for a program", errno);
      return;
    }
    const Clock::time_point now = Clock::now();
    if (!over_ && (child_.end_descriptor() < 0 || watched[2].revents != 0) && child_.has_ended()) {
      over_ = true;
      ended_ = now;
    }
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      if (watched[i].revents != 0) streams_[i]->take();
    }
  }

  /// Steps until the program has ended.
  void until_end() {
    while (!over_) step(nanoseconds::max());
  }

 private:
  const Child& child_;
  std::array<Stream*, 2> streams_;
  Clock::time_point start_;
  bool over_ = false;
  Clock::time_point ended_;  ///< once it is over
};

/// What posix_spawn is told about the program's streams, group and signals.
class SpawnSettings {
 public:
  SpawnSettings(const Stream& output, const Stream& errors) {
    require(::posix_spawn_file_actions_init(&actions_));
    require(::posix_spawnattr_init(&attributes_));
    require(::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0));
    connect(output, STDOUT_FILENO);
    connect(errors, STDERR_FILENO);
    sigset_t none;
    sigset_t all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    require(::posix_spawnattr_setsigmask(&attributes_, &none));
    require(::posix_spawnattr_setsigdefault(&attributes_, &all));
    require(::posix_spawnattr_setpgroup(&attributes_, 0));
    require(::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
  }
  ~SpawnSettings() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  const posix_spawn_file_actions_t* actions() const { return &actions_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  static void require(int error) {
    if (error != 0) fail("cannot prepare a program's start", error);
  }

  void connect(const Stream& stream, int fd) {
    if (stream.write_end() >= 0) {
      require(::posix_spawn_file_actions_adddup2(&actions_, stream.write_end(), fd));
    } else {
      require(::posix_spawn_file_actions_addopen(&actions_, fd, "/dev/null", O_WRONLY, 0));
    }
  }

  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

/// A process that ignores SIGCHLD, which is inherited, never learns how its children ended.
void stop_ignoring_children() {
  struct sigaction current {};
  if (::sigaction(SIGCHLD, nullptr, &current) != 0) return;
  if (current.sa_handler != SIG_IGN && (static_cast<unsigned>(current.sa_flags) & unsigned{SA_NOCLDWAIT}) == 0) return;
  if (current.sa_handler == SIG_IGN) current.sa_handler = SIG_DFL;
  current.sa_flags &= ~SA_NOCLDWAIT;
  ::sigaction(SIGCHLD, &current, nullptr);
}

/// The largest resident set that this process has had since its own start; where that is not told, since those before it.
std::uint64_t own_max_resident_bytes() {
  char text[1U << 13U];
  const Descriptor file(::open("/proc/self/status", O_RDONLY | O_CLOEXEC));
  const ssize_t length = file.is_open() ? ::read(file.get(), text, sizeof text - 1) : 0;
  text[std::max<ssize_t>(length, 0)] = '\0';
  if (const char* const line = std::strstr(text, "VmHWM:")) return std::strtoull(line + 6, nullptr, 10) * 1024;
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

nanoseconds duration(const timeval& time) {
  return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
}

std::string seconds_text(nanoseconds time) {
  char text[32];
  std::snprintf(text, sizeof text, "%g s", std::chrono::duration<double>(time).count());
  return text;
}

std::string not_started_text(int error) {
  std::string text = std::string("cannot be started: ") + std::strerror(error);
  if (error == ENOEXEC) text += " (a script needs a first line such as #!/bin/sh)";
  return text;
}

/// The files that the program's name may mean, in the order in which they are tried.
std::vector<std::string> candidates(const std::string& name) {
  if (name.find('/') != std::string::npos) return {name};
  const char* const path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "/bin:/usr/bin";
  std::vector<std::string> files;
  for (;;) {
    const std::size_t end = rest.find(':');
    const std::string folder(rest.substr(0, end));
    files.push_back(folder.empty() ? "./" + name : folder + "/" + name);
    if (end == std::string_view::npos) return files;
    rest.remove_prefix(end + 1);
  }
}

}  // namespace

void require_runnable(const ProgramCall& call, const std::string& where) {
  const auto refuse = [&](const std::string& why) { throw Error(ErrorCode::bad_input, why, where); };
  if (call.words.empty() || call.words.front().empty()) return refuse("no program is named");
  const std::string& name = call.words.front();
  const bool is_path = name.find('/') != std::string::npos;
  std::string found;  // what is wrong with the first file of this name
  for (const std::string& file : candidates(name)) {
    struct stat status {};
    if (::stat(file.c_str(), &status) != 0) {
      if (is_path) found = in_quotes(file, 200) + " cannot be run: " + std::strerror(errno);
    } else if (S_ISDIR(status.st_mode)) {
      if (found.empty()) found = in_quotes(file, 200) + " is a directory, not a program";
    } else if (!S_ISREG(status.st_mode) || ::faccessat(AT_FDCWD, file.c_str(), X_OK, AT_EACCESS) != 0) {
      if (found.empty()) found = in_quotes(file, 200) + " is not executable";
    } else {
      return;
    }
  }
  refuse(found.empty() ? "there is no program " + in_quotes(name) + " on PATH" : found);
}

RunResult run_program(const ProgramCall& call, const RunOptions& options) {
  check(!call.words.empty(), "a call names a program");
  using End = RunResult::End;
  RunResult result;
  const auto stopped = [&] { return options.stop != nullptr && options.stop->requested(); };
  if (stopped()) {
    result.end = End::interrupted;
    result.reason = "interrupted before it was started";
    return result;
  }

  stop_ignoring_children();
  Stream output(options.keep_output);
  Stream errors(options.keep_errors);
  const SpawnSettings settings(output, errors);
  std::vector<char*> words;
  for (const std::string& word : call.words) words.push_back(const_cast<char*>(word.c_str()));  // posix_spawn changes none
  words.push_back(nullptr);

  const Clock::time_point start = Clock::now();
  pid_t pid = 0;
  if (const int error = ::posix_spawnp(&pid, words[0], settings.actions(), settings.attributes(), words.data(), environ);
      error != 0) {
    result.reason = not_started_text(error);
    return result;
  }
  Child child(pid);
  output.close_write_end();
  errors.close_write_end();

  Watch watch(child, output, errors, start);
  std::optional<End> killed;
  for (;;) {
    nanoseconds left = options.stop != nullptr ? stop_interval : nanoseconds::max();
    if (options.timeout) left = std::min<nanoseconds>(left, *options.timeout - (Clock::now() - start));
    watch.step(left);
    if (watch.over()) break;
    if (stopped()) killed = End::interrupted;
    if (!killed && options.timeout && Clock::now() - start >= *options.timeout) killed = End::timed_out;
    if (killed) break;
  }
  if (killed) {
    child.signal_group(SIGTERM);
    // The whole time, also where the program ends at once: what it had started may still be putting things in order.
    const Clock::time_point asked = Clock::now();
    for (nanoseconds left = grace; left > 0ns; left = grace - (Clock::now() - asked)) watch.step(left);
    child.signal_group(SIGKILL);
    watch.until_end();
  }
  result.wall = watch.ended() - start;
  output.take_rest();
  errors.take_rest();

  rusage usage{};
  const int status = child.reap(usage);
  if (WIFEXITED(status)) {
    result.end = End::exited;
    result.exit_status = WEXITSTATUS(status);
    result.reason = "exited with status " + std::to_string(result.exit_status);
  } else {
    result.end = End::signalled;
    result.signal = WTERMSIG(status);
    result.reason = "died by signal " + std::to_string(result.signal) + " (" + ::strsignal(result.signal) + ")";
  }
  if (killed) {
    result.end = *killed;
    result.reason = killed == End::timed_out ? "still running after " + seconds_text(*options.timeout) + " and killed"
                                             : "interrupted and killed";
  }
  result.user = duration(usage.ru_utime);
  result.system = duration(usage.ru_stime);
  result.max_resident_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
  result.max_resident_is_bound = result.max_resident_bytes <= own_max_resident_bytes();
  result.output = output.tail().text();
  result.errors = errors.tail().text();
  result.output_bytes = output.tail().total();
  result.error_bytes = errors.tail().total();
  return result;
}

}  // namespace joulegrid
