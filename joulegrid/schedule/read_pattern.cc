#include "joulegrid/schedule/read_pattern.h"

#include <algorithm>
#include <map>

#include "joulegrid/base/error.h"

namespace joulegrid {

namespace {

constexpr std::uint64_t most_runs = std::uint64_t{1} << 28;

std::uint64_t length_of(const AxisPieces& pieces) {
  std::uint64_t length = 0;
  for (const AxisPiece& piece : pieces) length += piece.length;
  return length;
}

/// Yields the runs of one pattern in cell order.
class RunCursor {
 public:
  explicit RunCursor(const ReadPattern& pattern) : pattern_(pattern), width_(length_of(pattern.columns)) {
    for (const std::vector<Wide>& row : pattern.reads) {
      even_.push_back(std::adjacent_find(row.begin(), row.end(), std::not_equal_to<>()) == row.end());
    }
    for (const AxisPiece& piece : pattern.rows) {
      runs_ = checked_add(runs_, even_[piece.kind] ? 1 : checked_mul(piece.length, pattern.columns.size()));
    }
    load();
  }

  /// How many runs there are in all.
  Wide runs() const { return runs_; }

  bool done() const { return row_ == pattern_.rows.size(); }
  const Run& run() const { return run_; }

  /// Moves on by so many cells, at most the run's.
  void skip(Wide cells) {
    run_.cells -= cells;
    if (run_.cells > 0) return;
    const AxisPiece& piece = pattern_.rows[row_];
    if (!even_[piece.kind] && ++column_ < pattern_.columns.size()) return load();
    column_ = 0;
    if (even_[piece.kind] || ++row_in_piece_ == piece.length) {
      row_in_piece_ = 0;
      ++row_;
    }
    load();
  }

 private:
  void load() {
    if (done()) return;
    const AxisPiece& piece = pattern_.rows[row_];
    const AxisPiece& column = pattern_.columns[column_];
    run_.reads_per_cell = pattern_.reads[piece.kind][column.kind];
    run_.cells = even_[piece.kind] ? checked_mul(piece.length, width_) : Wide{column.length};
  }

  const ReadPattern& pattern_;
  std::uint64_t width_;
  std::vector<bool> even_;  // by row kind: all columns are read alike
  Wide runs_ = 0;
  std::size_t row_ = 0;
  std::uint64_t row_in_piece_ = 0;
  std::size_t column_ = 0;
  Run run_;
};

/// The rows (or columns) of several patterns of one matrix, counted by their kinds.
std::map<std::vector<std::uint32_t>, Wide> joint_kinds(const std::vector<const ReadPattern*>& patterns,
                                                       AxisPieces ReadPattern::*axis) {
  std::map<std::vector<std::uint32_t>, Wide> counts;
  std::vector<std::size_t> at(patterns.size(), 0);
  std::vector<std::uint64_t> left;
  for (const ReadPattern* pattern : patterns) left.push_back((pattern->*axis)[0].length);
  for (;;) {
    std::vector<std::uint32_t> kinds;
    for (std::size_t i = 0; i < patterns.size(); ++i) kinds.push_back((patterns[i]->*axis)[at[i]].kind);
    const std::uint64_t length = *std::min_element(left.begin(), left.end());
    counts[kinds] += length;
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      const AxisPieces& pieces = patterns[i]->*axis;
      left[i] -= length;
      if (left[i] > 0) continue;
      if (++at[i] == pieces.size()) return counts;
      left[i] = pieces[at[i]].length;
    }
  }
}

}  // namespace

void append(AxisPieces& pieces, AxisPiece piece) {
  if (!pieces.empty() && pieces.back().kind == piece.kind) {
    pieces.back().length += piece.length;
  } else {
    pieces.push_back(piece);
  }
}

void ReadPattern::transform(const std::function<Wide(Wide)>& change) {
  for (std::vector<Wide>& row : reads) std::transform(row.begin(), row.end(), row.begin(), change);
}

void for_each_run(const CellReads& reads, const std::function<void(const Run&)>& visit) {
  std::vector<RunCursor> cursors(reads.begin(), reads.end());
  Wide runs = 0;
  for (const RunCursor& cursor : cursors) runs = checked_add(runs, cursor.runs());
  if (runs > most_runs) {
    throw Error(ErrorCode::bad_input, "the clipped blocks of this nest differ in " + to_string(runs) +
                                          " places; its exact price would take too long (at most " + to_string(most_runs) +
                                          ")");
  }
  for (;;) {
    Run run;
    for (const RunCursor& cursor : cursors) {
      if (cursor.done()) continue;
      run.cells = run.cells == 0 ? cursor.run().cells : std::min(run.cells, cursor.run().cells);
      run.reads_per_cell = checked_add(run.reads_per_cell, cursor.run().reads_per_cell);
    }
    if (run.cells == 0) return;
    for (RunCursor& cursor : cursors) {
      if (!cursor.done()) cursor.skip(run.cells);
    }
    visit(run);
  }
}

std::vector<Run> profile(const CellReads& reads) {
  std::map<Wide, Wide, std::greater<>> cells;  // by reads
  if (reads.size() == 1) {
    for (const JointRun& run : joint_runs({&reads[0]})) cells[run.reads[0]] += run.cells;
  } else {
    for_each_run(reads, [&](const Run& run) { cells[run.reads_per_cell] += run.cells; });
  }
  std::vector<Run> runs;
  for (const auto& [reads_per_cell, count] : cells) {
    if (reads_per_cell > 0) runs.push_back({count, reads_per_cell});
  }
  return runs;
}

std::vector<JointRun> joint_runs(const std::vector<const ReadPattern*>& patterns) {
  std::vector<JointRun> runs;
  const auto rows = joint_kinds(patterns, &ReadPattern::rows);
  const auto columns = joint_kinds(patterns, &ReadPattern::columns);
  std::map<std::vector<Wide>, Wide> cells;
  for (const auto& [row_kinds, row_count] : rows) {
    for (const auto& [column_kinds, column_count] : columns) {
      std::vector<Wide> reads;
      for (std::size_t i = 0; i < patterns.size(); ++i) reads.push_back(patterns[i]->reads[row_kinds[i]][column_kinds[i]]);
      Wide& count = cells[reads];
      count = checked_add(count, checked_mul(row_count, column_count));
    }
  }
  for (auto& [reads, count] : cells) runs.push_back({count, reads});
  return runs;
}

}  // namespace joulegrid
