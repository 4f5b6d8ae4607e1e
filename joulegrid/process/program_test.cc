#include "joulegrid/process/program.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <thread>

#include "joulegrid/base/error.h"

namespace joulegrid {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using ::testing::EndsWith;
using End = RunResult::End;

// Longer than anything here takes on a busy machine, shorter than the sleeps that must not be waited for.
constexpr auto promptly = 60s;

RunOptions keeping(std::size_t output) {
  RunOptions options;
  options.keep_output = output;
  return options;
}

std::string output_of(const std::string& line) { return run_program(shell_call(line), keeping(1U << 20U)).output; }

std::size_t open_descriptors() {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator()));
}

/// Every test must leave as many descriptors as it found, and no child.
class Program : public ::testing::Test {
 protected:
  Program() { fs::create_directories(folder_); }
  ~Program() override { fs::remove_all(folder_); }

  void TearDown() override {
    EXPECT_EQ(open_descriptors(), descriptors_);
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
    EXPECT_EQ(errno, ECHILD);
  }

  fs::path file(const char* name, const char* text, mode_t mode) const {
    std::ofstream(folder_ / name) << text;
    EXPECT_EQ(::chmod((folder_ / name).c_str(), mode), 0);
    return folder_ / name;
  }

  fs::path folder_ = fs::temp_directory_path() / ("joulegrid_program_test_" + std::to_string(::getpid()));
  std::size_t descriptors_ = open_descriptors();
};

/// A pipe that programs inherit: everything that has it open is gone once it is seen closed.
class LifeLine {
 public:
  LifeLine() { EXPECT_EQ(::pipe(ends_), 0); }
  ~LifeLine() {
    close_own();
    ::close(ends_[0]);
  }
  void close_own() {
    if (ends_[1] >= 0) ::close(ends_[1]);
    ends_[1] = -1;
  }
  bool is_cut() {
    close_own();
    pollfd end{ends_[0], POLLIN, 0};
    return ::poll(&end, 1, 20000) == 1 && (static_cast<unsigned>(end.revents) & unsigned{POLLHUP}) != 0;
  }

 private:
  int ends_[2] = {-1, -1};
};

TEST_F(Program, an_exit_status_is_reported) {
  for (const int status : {0, 1, 3, 127, 255}) {
    const RunResult result = run_program(shell_call("exit " + std::to_string(status)), {});
    EXPECT_EQ(result.end, End::exited);
    EXPECT_EQ(result.exit_status, status);
    EXPECT_EQ(result.signal, 0);
    EXPECT_EQ(result.reason, "exited with status " + std::to_string(status));
    EXPECT_EQ(result.succeeded(), status == 0);
    EXPECT_GT(result.wall, 0ns);
  }
}

TEST_F(Program, a_deadly_signal_is_reported) {
  for (const auto& [name, number, text] :
       {std::tuple{"SEGV", SIGSEGV, "Segmentation fault"}, {"TERM", SIGTERM, "Terminated"}, {"KILL", SIGKILL, "Killed"}}) {
    const RunResult result = run_program(shell_call(std::string("ulimit -c 0; kill -") + name + " $$"), {});
    EXPECT_EQ(result.end, End::signalled);
    EXPECT_EQ(result.signal, number);
    EXPECT_EQ(result.exit_status, -1);
    EXPECT_FALSE(result.succeeded());
    EXPECT_EQ(result.reason, "died by signal " + std::to_string(number) + " (" + text + ")");
  }
}

TEST_F(Program, arguments_arrive_as_they_are) {
  const RunResult result = run_program({{"printf", "%s|", "a b", "", "$HOME", "'\"\\", "*"}}, keeping(100));
  EXPECT_EQ(result.output, "a b||$HOME|'\"\\|*|");
  EXPECT_EQ(result.output_bytes, result.output.size());
}

TEST_F(Program, standard_input_is_empty) { EXPECT_EQ(output_of("wc -c | tr -d ' '"), "0\n"); }

TEST_F(Program, output_that_is_not_kept_goes_nowhere) {
  RunOptions nothing;
  nothing.keep_errors = 0;
  const RunResult result = run_program(
      shell_call("echo out; echo err >&2; [ \"$(readlink /proc/$$/fd/1) $(readlink /proc/$$/fd/2)\" = '/dev/null /dev/null' ]"),
      nothing);
  EXPECT_TRUE(result.succeeded()) << result.reason;
  EXPECT_EQ(result.output, "");
  EXPECT_EQ(result.errors, "");
}

TEST_F(Program, the_end_of_long_output_is_kept) {
  const std::string script =
      "head -c 10000000 /dev/zero | tr '\\0' o; head -c 10000000 /dev/zero | tr '\\0' e >&2;"
      "printf 'the end'; printf 'of errors' >&2";
  const RunResult result = run_program(shell_call(script), keeping(1000));
  EXPECT_TRUE(result.succeeded()) << result.reason;
  EXPECT_EQ(result.output_bytes, 10000007U);
  EXPECT_EQ(result.error_bytes, 10000009U);
  EXPECT_EQ(result.output, std::string(993, 'o') + "the end");
  EXPECT_EQ(result.errors, std::string(4087, 'e') + "of errors");
}

TEST_F(Program, output_in_small_pieces_is_put_together) {
  std::string expected;
  for (int i = 0; i < 300; ++i) expected += std::to_string(i) + "\n";
  const std::string script = "i=0; while [ $i -lt 300 ]; do echo $i; i=$((i+1)); done";
  EXPECT_EQ(run_program(shell_call(script), keeping(1U << 20U)).output, expected);
  for (const std::size_t most : {std::size_t{1}, std::size_t{7}, std::size_t{100}, expected.size()}) {
    EXPECT_EQ(run_program(shell_call(script), keeping(most)).output, expected.substr(expected.size() - most));
  }
}

TEST_F(Program, a_program_past_its_time_is_killed) {
  RunOptions options;
  options.timeout = 50ms;
  const RunResult result = run_program({{"sleep", "300"}}, options);
  EXPECT_EQ(result.end, End::timed_out);
  EXPECT_EQ(result.signal, SIGTERM);
  EXPECT_FALSE(result.succeeded());
  EXPECT_EQ(result.reason, "still running after 0.05 s and killed");
  EXPECT_GE(result.wall, 50ms);
  EXPECT_LT(result.wall, promptly);
}

TEST_F(Program, one_that_ignores_SIGTERM_is_killed_with_all_that_it_started) {
  LifeLine group;
  RunOptions options;
  options.timeout = 2s;  // time enough to have set the traps
  const RunResult result =
      run_program(shell_call("trap '' TERM; sleep 300 & sh -c 'sleep 300 & sleep 300' & while :; do sleep 300; done"), options);
  EXPECT_EQ(result.end, End::timed_out);
  EXPECT_EQ(result.signal, SIGKILL);
  EXPECT_GE(result.wall, 2200ms);
  EXPECT_LT(result.wall, promptly);
  EXPECT_TRUE(group.is_cut());
}

TEST_F(Program, what_it_started_is_killed_also_where_it_ends_at_SIGTERM_itself) {
  LifeLine group;
  RunOptions options;
  options.timeout = 1s;
  const RunResult result = run_program(shell_call("(trap '' TERM; sleep 300) & exec sleep 300"), options);
  EXPECT_EQ(result.end, End::timed_out);
  EXPECT_EQ(result.signal, SIGTERM);
  EXPECT_TRUE(group.is_cut());
}

TEST_F(Program, a_timeout_of_zero_or_less_kills_at_once_and_the_longest_never) {
  RunOptions options;
  for (const std::chrono::nanoseconds timeout : {0ns, -1ns}) {
    options.timeout = timeout;
    EXPECT_EQ(run_program({{"sleep", "300"}}, options).end, End::timed_out);
  }
  options.timeout = std::chrono::nanoseconds::max();
  EXPECT_TRUE(run_program({{"true"}}, options).succeeded());
}

TEST_F(Program, one_that_leaves_a_writer_behind_is_not_waited_for) {
  const RunResult result = run_program(shell_call("sleep 300 & echo $!; echo err >&2; exit 4"), keeping(100));
  EXPECT_EQ(result.end, End::exited);
  EXPECT_EQ(result.exit_status, 4);
  EXPECT_LT(result.wall, promptly);
  EXPECT_EQ(result.errors, "err\n");
  const int left_behind = std::atoi(result.output.c_str());
  ASSERT_GT(left_behind, 1);
  EXPECT_EQ(::kill(left_behind, SIGKILL), 0) << "it should have been left alone";
}

TEST_F(Program, a_flood_from_one_left_behind_does_not_hold_it_up) {
  LifeLine group;
  const RunResult result = run_program(shell_call("yes & exit 4"), keeping(100));
  EXPECT_EQ(result.exit_status, 4);
  EXPECT_LT(result.wall, promptly);
  EXPECT_TRUE(group.is_cut()) << "its pipe is closed, which ends it";
}

TEST_F(Program, a_stop_from_another_thread_kills_it) {
  Stop stop;
  RunOptions options;
  options.stop = &stop;
  std::thread other([&] {
    std::this_thread::sleep_for(100ms);
    stop.request();
  });
  const RunResult result = run_program({{"sleep", "300"}}, options);
  other.join();
  EXPECT_EQ(result.end, End::interrupted);
  EXPECT_EQ(result.reason, "interrupted and killed");
  EXPECT_LT(result.wall, promptly);
  EXPECT_FALSE(result.succeeded());

  const RunResult again = run_program({{"touch", (folder_ / "x").string()}}, options);
  EXPECT_EQ(again.end, End::interrupted);
  EXPECT_FALSE(fs::exists(folder_ / "x")) << "a stop that has asked already lets nothing start";
}

TEST_F(Program, a_stop_that_does_not_ask_changes_nothing) {
  const Stop stop;
  RunOptions options;
  options.stop = &stop;
  options.timeout = 300s;
  EXPECT_EQ(run_program(shell_call("sleep 0.2; exit 6"), options).exit_status, 6);
}

TEST_F(Program, signals_while_waiting_do_no_harm) {
  struct sigaction old {};
  struct sigaction handled {};
  handled.sa_handler = [](int) {};
  ASSERT_EQ(::sigaction(SIGUSR1, &handled, &old), 0);
  const pthread_t waiting = ::pthread_self();
  std::thread other([&] {
    for (int i = 0; i < 100; ++i) {
      ::pthread_kill(waiting, SIGUSR1);
      std::this_thread::sleep_for(2ms);
    }
  });
  const RunResult result =
      run_program(shell_call("i=0; while [ $i -lt 20 ]; do echo $i; sleep 0.02; i=$((i+1)); done; exit 5"), keeping(3));
  other.join();
  ::sigaction(SIGUSR1, &old, nullptr);
  EXPECT_EQ(result.exit_status, 5);
  EXPECT_EQ(result.output, "19\n");
}

TEST_F(Program, signal_handling_in_it_is_the_default) {
  sigset_t blocked;
  sigset_t old_mask;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGTERM);
  ::sigaddset(&blocked, SIGUSR2);
  ASSERT_EQ(::pthread_sigmask(SIG_BLOCK, &blocked, &old_mask), 0);
  const auto old = std::signal(SIGUSR1, SIG_IGN);
  const std::string masks = run_program({{"grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"}}, keeping(1000)).output;
  std::signal(SIGUSR1, old);
  ::pthread_sigmask(SIG_SETMASK, &old_mask, nullptr);
  const auto mask = [&](const std::string& name) {
    const std::size_t at = masks.find(name);
    return at == std::string::npos ? ~0ULL : std::strtoull(masks.c_str() + at + name.size(), nullptr, 16);
  };
  constexpr unsigned long long kept_by_glibc = 3ULL << 31U;  // signals 32 and 33, which it may leave ignored
  EXPECT_EQ(mask("SigBlk:"), 0U) << masks;
  EXPECT_EQ(mask("SigIgn:") & ~kept_by_glibc, 0U) << masks;
}

TEST_F(Program, an_ignored_SIGCHLD_does_not_lose_the_status) {
  const auto old = std::signal(SIGCHLD, SIG_IGN);
  EXPECT_EQ(run_program(shell_call("exit 3"), {}).exit_status, 3);
  EXPECT_EQ(std::signal(SIGCHLD, old), SIG_DFL);
}

TEST_F(Program, it_inherits_no_descriptor_of_the_library) {
  const auto inheritable = [] {
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
      const int fd = std::atoi(entry.path().filename().c_str());
      const int flags = ::fcntl(fd, F_GETFD);
      if (fd > 2 && flags >= 0 && (static_cast<unsigned>(flags) & unsigned{FD_CLOEXEC}) == 0) ++count;
    }
    return count;
  };
  const std::string listed = run_program({{"ls", "/proc/self/fd"}}, keeping(10000)).output;
  // Its three streams, what the test was itself started with, and the folder that ls reads.
  EXPECT_EQ(static_cast<std::size_t>(std::count(listed.begin(), listed.end(), '\n')), 3 + inheritable() + 1) << listed;
}

TEST_F(Program, it_runs_where_this_process_has_no_standard_streams) {
  const pid_t child = ::fork();
  if (child == 0) {
    for (const int fd : {0, 1, 2}) ::close(fd);
    const RunResult result = run_program(shell_call("cat; echo out; echo err >&2"), keeping(100));
    ::_exit(result.succeeded() && result.output == "out\n" && result.errors == "err\n" ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(Program, one_that_cannot_be_started_is_a_result_with_a_reason) {
  const fs::path text = file("text", "no program", 0644);
  const fs::path script = file("script", "echo without a first line\n", 0755);
  const std::pair<std::string, std::string> cases[] = {
      {"joulegrid-no-such-program", "cannot be started: No such file or directory"},
      {(folder_ / "missing").string(), "cannot be started: No such file or directory"},
      {text.string(), "cannot be started: Permission denied"},
      {folder_.string(), "cannot be started: Permission denied"},
      {script.string(), "cannot be started: Exec format error (a script needs a first line such as #!/bin/sh)"},
  };
  for (const auto& [name, reason] : cases) {
    const RunResult result = run_program({{name}}, keeping(10));
    EXPECT_EQ(result.end, End::not_started) << name;
    EXPECT_EQ(result.reason, reason) << name;
    EXPECT_FALSE(result.succeeded());
  }
}

TEST_F(Program, whether_it_can_be_run_is_known_before) {
  require_runnable({{"sh", "-c", "x"}}, "COMMAND");
  require_runnable({{"/bin/sh"}}, "COMMAND");
  require_runnable({{file("script", "#!/bin/sh\n", 0755).string()}}, "COMMAND");
  const std::pair<ProgramCall, std::string> cases[] = {
      {{}, "no program is named"},
      {{{""}}, "no program is named"},
      {{{"joulegrid-no-such-program"}}, "there is no program 'joulegrid-no-such-program' on PATH"},
      {{{(folder_ / "missing").string()}}, "missing' cannot be run: No such file or directory"},
      {{{file("text", "", 0644).string()}}, "text' is not executable"},
      {{{folder_.string()}}, "' is a directory, not a program"},
  };
  for (const auto& [call, why] : cases) {
    try {
      require_runnable(call, "COMMAND");
      ADD_FAILURE() << why;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::bad_input);
      EXPECT_THAT(e.what(), ::testing::StartsWith("COMMAND: "));
      EXPECT_THAT(e.what(), EndsWith(why));
    }
  }
}

TEST_F(Program, the_path_is_searched_past_what_cannot_be_run) {
  fs::create_directories(folder_ / "one" / "tool");
  fs::create_directories(folder_ / "two");
  fs::create_directories(folder_ / "three");
  file("two/tool", "", 0644);
  const std::string old_path = std::getenv("PATH");
  const std::string path = (folder_ / "one").string() + ":" + (folder_ / "two").string() + ":" + (folder_ / "three").string();
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_THROW(require_runnable({{"tool"}}, ""), Error);
  EXPECT_EQ(run_program({{"tool"}}, {}).end, End::not_started);
  file("three/tool", "#!/bin/sh\nexit 9\n", 0755);
  EXPECT_NO_THROW(require_runnable({{"tool"}}, ""));
  EXPECT_EQ(run_program({{"tool"}}, {}).exit_status, 9);
  ::setenv("PATH", old_path.c_str(), 1);
}

TEST_F(Program, processor_time_is_that_of_the_program_and_its_children) {
  rusage before{};
  rusage after{};
  ASSERT_EQ(::getrusage(RUSAGE_CHILDREN, &before), 0);
  const RunResult result =
      run_program(shell_call("(i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done); head -c 100000000 /dev/zero"), {});
  ASSERT_EQ(::getrusage(RUSAGE_CHILDREN, &after), 0);
  const auto microseconds = [](const timeval& time) { return time.tv_sec * 1000000L + time.tv_usec; };
  const double user = static_cast<double>(microseconds(after.ru_utime) - microseconds(before.ru_utime)) * 1e-6;
  const double system = static_cast<double>(microseconds(after.ru_stime) - microseconds(before.ru_stime)) * 1e-6;
  EXPECT_NEAR(std::chrono::duration<double>(result.user).count(), user, 0.05);
  EXPECT_NEAR(std::chrono::duration<double>(result.system).count(), system, 0.05);
  EXPECT_GT(result.user, 5ms);
  EXPECT_LT(result.user + result.system, 2 * result.wall + 100ms);
}

TEST_F(Program, sleep_takes_wall_time_and_next_to_no_processor_time) {
  const RunResult result = run_program({{"sleep", "0.3"}}, {});
  EXPECT_GE(result.wall, 300ms);
  EXPECT_LT(result.wall, promptly);
  EXPECT_LT(result.user + result.system, 250ms);
}

TEST_F(Program, the_resident_set_is_the_programs_or_a_bound) {
  constexpr std::uint64_t mebibyte = 1U << 20U;
  const RunResult large = run_program({{"dd", "if=/dev/zero", "of=/dev/null", "bs=300M", "count=1"}}, {});
  ASSERT_TRUE(large.succeeded()) << large.errors;
  EXPECT_GE(large.max_resident_bytes, 300 * mebibyte);
  EXPECT_LT(large.max_resident_bytes, 400 * mebibyte);
  EXPECT_FALSE(large.max_resident_is_bound);

  const std::vector<char> own(100 * mebibyte, 'x');
  const RunResult small = run_program({{"true"}}, {});
  EXPECT_TRUE(small.max_resident_is_bound) << small.max_resident_bytes << " bytes beside " << own.size();
}

TEST_F(Program, two_hundred_runs_leave_nothing) {
  for (int i = 0; i < 200; ++i) {
    const RunResult result = run_program({{"/bin/true"}}, keeping(i % 2 == 0 ? 0 : 10));
    ASSERT_TRUE(result.succeeded()) << result.reason;
    ASSERT_LT(result.wall, promptly);
  }
}

TEST_F(Program, threads_run_programs_beside_each_other) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < 25; ++i) {
        const std::string text = std::to_string(t * 100 + i);
        const RunResult result = run_program(shell_call("echo " + text + "; exit " + std::to_string(i)), keeping(10));
        EXPECT_EQ(result.output, text + "\n");
        EXPECT_EQ(result.exit_status, i);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

/// Runs `work` on a thread for which the kernel has no pidfd_open; false where that cannot be arranged.
bool without_pidfd(const std::function<void()>& work) {
  bool arranged = false;
  std::thread([&] {
    sock_filter instructions[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_open, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog program{static_cast<unsigned short>(std::size(instructions)), instructions};
    arranged = ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0 &&
               ::syscall(SYS_pidfd_open, ::getpid(), 0) == -1 && errno == ENOSYS;
    if (arranged) work();
  }).join();
  return arranged;
}

TEST_F(Program, kernels_that_cannot_tell_of_the_end_are_asked_for_it) {
  const bool arranged = without_pidfd([&] {
    EXPECT_EQ(run_program(shell_call("exit 3"), {}).exit_status, 3);
    const RunResult slow = run_program(shell_call("sleep 0.3; echo x"), keeping(10));
    EXPECT_EQ(slow.output, "x\n");
    EXPECT_GE(slow.wall, 300ms);
    EXPECT_LT(slow.wall, promptly);
    RunOptions options;
    options.timeout = 100ms;
    EXPECT_EQ(run_program({{"sleep", "300"}}, options).end, End::timed_out);
    const RunResult leaves_a_writer = run_program(shell_call("sleep 300 & echo $! >&2; exit 4"), {});
    EXPECT_EQ(leaves_a_writer.exit_status, 4);
    const int left_behind = std::atoi(leaves_a_writer.errors.c_str());
    ASSERT_GT(left_behind, 1);
    EXPECT_EQ(::kill(left_behind, SIGKILL), 0);
  });
  if (!arranged) GTEST_SKIP() << "system calls cannot be filtered here";
}

}  // namespace
}  // namespace joulegrid
