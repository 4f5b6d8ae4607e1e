#include <poll.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <thread>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/console.h"
#include "joulegrid/base/error.h"
#include "joulegrid/base/file.h"
#include "joulegrid/ir/gemm_program.h"
#include "joulegrid/ir/instance_file.h"
#include "joulegrid/ir/text_writer.h"
#include "joulegrid/report/program_report.h"
#include "joulegrid/search/sa_cache_search.h"

namespace joulegrid::cli {

namespace {

/// A file, or standard input for "-". An interrupt ends the reading where there is a `stop`.
class InputFile final : public ByteSource {
 public:
  explicit InputFile(const std::string& path, const Stop* stop = nullptr)
      : name_(path == "-" ? "standard input" : path), stop_(stop) {
    if (path != "-") file_.emplace(path);
  }

  /// For errors.
  const std::string& name() const { return name_; }

  std::size_t read(char* into, std::size_t most) override {
    if (stop_ != nullptr) wait_for_input();
    return file_ ? file_->read(into, most) : standard_input_.read(into, most);
  }

 private:
  /// Until there is something to read, or the end; an interrupt ends the waiting.
  void wait_for_input() const {
    constexpr int milliseconds = 100;
    pollfd input{(file_ ? *file_ : standard_input_).descriptor(), POLLIN, 0};
    do {
      if (stop_->interrupted()) throw Interrupted{};
    } while (::poll(&input, 1, milliseconds) <= 0);
  }

  std::string name_;
  const Stop* stop_;
  std::optional<FileSource> file_;
  FileSource standard_input_ = FileSource::standard_input();
};

/// A file that appears with commit(), or standard output where no file is named.
class OutputFile final : public ByteSink {
 public:
  explicit OutputFile(const std::string& path) {
    if (!path.empty()) file_.emplace(path);
  }
  void write(std::string_view bytes) override { file_ ? file_->write(bytes) : print(bytes); }
  void commit() {
    if (file_) file_->commit();
  }

 private:
  std::optional<FileSink> file_;
};

struct ProgramArguments {
  std::string file;
  std::string instructions = "v3";

  void add_to(CLI::App& command) {
    command.add_option("FILE", file, "the program; - is standard input")->required()->type_name("");
    command.add_option("--instructions", instructions, "refuse operations outside this instruction set (v3, all of them)")
        ->check(CLI::IsMember({"v0", "v1", "v2", "v3"}))
        ->type_name("v0|v1|v2|v3");
  }

  ir::InstructionSet instruction_set() const { return *ir::find_instruction_set(instructions); }
};

struct IrPrice {
  ProgramArguments program;
  OutputOptions output;

  void run() const {
    output.check();
    const Stop& stop = stop_on_signals();
    InputFile source(program.file, &stop);
    ir::Pricer pricer;
    ir::read_program(source, source.name(), pricer, {.instructions = program.instruction_set()});
    const ir::Price price = pricer.price();
    output.write(program_document(price), [&](const TextStyle& style) { return program_text(price, style); });
  }
};

struct IrRun {
  ProgramArguments arguments;
  ThreadsOption threads;
  std::string inputs, cells = "int", format = "text", output;
  bool json = false;

  void run() const {
    if (arguments.file == "-" && inputs == "-") {
      throw Error(ErrorCode::bad_input, "the program and the inputs cannot both come from standard input", "--inputs");
    }
    if (!output.empty()) require_writable(output);
    cells == "i8" ? run_cells<std::int8_t>() : run_cells<std::int64_t>();
  }

 private:
  static constexpr std::size_t values_at_once = 1 << 22;  // of inputs or outputs in memory
  static constexpr std::size_t most_lines = 20;           // about failures

  template <typename Value>
  void run_cells() const {
    const unsigned thread_total = threads.threads();
    const Stop& stop = stop_on_signals();
    InputFile source(arguments.file, &stop);
    ir::SourceLines lines;
    ir::Program program;
    ir::read_program(source, source.name(), program,
                     {.instructions = arguments.instruction_set(), .byte_literals = sizeof(Value) == 1, .lines = &lines});
    const ir::ValueFormat value_format = *ir::find_value_format(format);
    InputFile values(inputs, &stop);
    ir::InstanceReader<Value> reader(values, values.name(), value_format, program.input_count());
    // The document is JSON, which needs everything at once, or the values as they come.
    OutputFile file(output);
    ir::InstanceWriter<Value> writer(file, value_format, program.output_count());
    const std::size_t at_once =
        std::max<std::size_t>(1, values_at_once / std::max(program.input_count(), program.output_count()));
    ProgramRun all;
    while (!stop.interrupted()) {
      const std::vector<Value> batch = reader.read(at_once);
      if (batch.empty()) break;
      const ir::RunResult<Value> result = ir::run(program, std::span<const Value>(batch), {thread_total, &stop});
      if (json) {
        all.outputs.insert(all.outputs.end(), result.outputs.begin(), result.outputs.end());
      } else {
        writer.write(result);
      }
      all.failed += result.failures.size();
      for (const ir::Failure& failure : result.failures) {
        if (!json && all.failures.size() == most_lines) break;  // the rest is counted only
        all.failures.push_back({all.instances + failure.instance, lines.line_of(failure.instruction),
                                ir::print(program.instruction_at(failure.instruction)), failure.fault});
      }
      all.instances += result.instances;
    }
    const ir::Price price = ir::price(program);
    if (json) file.write(program_document(price, all));
    file.commit();
    if (!output.empty()) print(json ? program_document(price, all) : program_text(price, output_style()));
    if (stop.interrupted()) throw Interrupted{};
    report(all, source.name());
  }

  /// The instances that ended early, a line each as long as there are not too many, and how many there are.
  static void report(const ProgramRun& run, const std::string& name) {
    if (run.failed == 0) return;
    for (std::size_t i = 0; i < std::min(run.failures.size(), most_lines); ++i) {
      std::fprintf(stderr, "joulegrid: %s\n", failure_text(run.failures[i], name).c_str());
    }
    throw Error(ErrorCode::bad_input,
                std::to_string(run.failed) + " of " + std::to_string(run.instances) +
                    " instances ended early; the outputs of the others are right",
                name);
  }
};

struct IrEmitGemm {
  GemmArguments arguments;
  GemmScheduleOptions options;
  std::string output;

  void run() const {
    const Gemm gemm = arguments.gemm();
    const Stop& stop = stop_on_signals();
    const std::optional<Schedule> given = options.schedule_of(gemm);
    const Schedule chosen = given ? *given : EpochTiles{{search_gemm_tile(gemm, {Candidates::divisors, &stop, {}}).tile}};
    OutputFile file(output);
    Interruptible sink(file, stop);
    ir::TextWriter writer(sink);
    ir::emit_gemm(gemm, chosen, writer);
    writer.finish();
    file.commit();
  }

 private:
  class Interruptible final : public ByteSink {
   public:
    Interruptible(ByteSink& sink, const Stop& stop) : sink_(sink), stop_(stop) {}
    void write(std::string_view bytes) override {
      if (stop_.interrupted()) throw Interrupted{};
      sink_.write(bytes);
    }

   private:
    ByteSink& sink_;
    const Stop& stop_;
  };
};

void add_run(CLI::App& ir) {
  CLI::App* run = ir.add_subcommand("run", "Run a straight-line program on given values");
  const auto command = std::make_shared<IrRun>();
  command->arguments.add_to(*run);
  run->add_option("--inputs", command->inputs, "the input values, instance after instance; - is standard input")
      ->required()
      ->type_name("FILE");
  run->add_option("--cells", command->cells, "int: exact 64-bit integers; i8: signed bytes that wrap (int)")
      ->check(CLI::IsMember({"int", "i8"}))
      ->type_name("int|i8");
  run->add_option("--format", command->format,
                  "of inputs and outputs: text, one instance a line; or raw little-endian integers (text)")
      ->check(CLI::IsMember({"text", "i8", "i64"}))
      ->type_name("text|i8|i64");
  command->threads.add_to(*run, "run instances");
  run->add_flag("--json", command->json, "the document is JSON: outputs, failures and price");
  run->add_option("--output", command->output, "write the document to this file, and the price to standard output")
      ->type_name("FILE");
  example(*run, "joulegrid ir run program.ir --inputs values.txt --cells i8");
  run->callback([command] { command->run(); });
}

}  // namespace

void add_ir(CLI::App& app) {
  CLI::App* ir = app.add_subcommand("ir", "Price, run and emit straight-line programs");
  ir->require_subcommand(1);

  CLI::App* price = ir->add_subcommand("price", "Price a straight-line program");
  const auto of_price = std::make_shared<IrPrice>();
  of_price->program.add_to(*price);
  of_price->output.add_to(*price);
  example(*price, "joulegrid ir emit gemm 16 16 16 | joulegrid ir price -");
  price->callback([of_price] { of_price->run(); });

  add_run(*ir);

  CLI::App* emit = ir->add_subcommand("emit", "Write a schedule as a straight-line program");
  emit->require_subcommand(1);
  CLI::App* gemm = emit->add_subcommand("gemm", "Write the program of one matrix product C[M×N] = A[M×K]·B[K×N]");
  const auto of_gemm = std::make_shared<IrEmitGemm>();
  of_gemm->arguments.add_to(*gemm);
  of_gemm->options.add_to(*gemm);
  gemm->add_option("--output", of_gemm->output, "write the program to this file, not to standard output")->type_name("FILE");
  example(*gemm, "joulegrid ir emit gemm 16 16 16 --tile 8,4");
  gemm->callback([of_gemm] { of_gemm->run(); });
}

}  // namespace joulegrid::cli
