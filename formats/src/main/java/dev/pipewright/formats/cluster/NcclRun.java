package dev.pipewright.formats.cluster;

import dev.pipewright.formats.cluster.NcclRow.Half;
import dev.pipewright.formats.file.EnumWords;
import dev.pipewright.profile.CollectiveTiming.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/** One run of nccl-tests, and the timings that its rows become. */
final class NcclRun {
  private final List<NcclRow> rows = new ArrayList<>();
  private @Nullable String program;
  private int ranks;
  private int failedLine;

  List<NcclRow> rows() {
    return rows;
  }

  /** The name without {@code _perf}. */
  Optional<String> program() {
    return Optional.ofNullable(program);
  }

  void setProgram(String name) {
    program = name;
  }

  /** How many ranks take part in a collective; 0 where that is not known. */
  int ranks() {
    return ranks;
  }

  void setRanks(int count) {
    ranks = count;
  }

  /** The run says in this line that results were wrong. */
  void setFailed(int line) {
    failedLine = line;
  }

  void addTo(TimingsFound found, TimingSelection selection) {
    if (rows.isEmpty()) {
      return;
    }
    int first = rows.get(0).line();
    OptionalInt devices = ranks > 0 ? OptionalInt.of(ranks) : selection.devices();
    if (failedLine > 0 && rows.stream().noneMatch(NcclRow::isWrong)) {
      found.leaveOut(
          failedLine,
          "the check of the results FAILED in a run of " + counted(rows.size(), "row"),
          "find out why and measure again");
    } else if (devices.isEmpty()) {
      found.leaveOut(
          first, "names no ranks", "give their number: --devices N, a whole number >= 2");
    } else if (devices.getAsInt() == 1) {
      found.leaveOut(
          first,
          "names one rank, which exchanges nothing",
          "run on two or more, over several processes with nccl-tests built for MPI");
    } else {
      for (List<NcclRow> sweep : sweeps()) {
        add(found, selection, sweep, devices.getAsInt());
      }
    }
  }

  /** Rows of one collective: sizes ascend, and reduction and root are of one kind. */
  private List<List<NcclRow>> sweeps() {
    List<List<NcclRow>> sweeps = new ArrayList<>();
    @Nullable NcclRow before = null;
    for (NcclRow row : rows) {
      if (before == null
          || row.bytes() < before.bytes()
          || row.reduces() != before.reduces()
          || row.isRooted() != before.isRooted()) {
        sweeps.add(new ArrayList<>());
      }
      sweeps.get(sweeps.size() - 1).add(row);
      before = row;
    }
    return sweeps;
  }

  private void add(
      TimingsFound found, TimingSelection selection, List<NcclRow> sweep, int devices) {
    int line = sweep.get(0).line();
    Optional<NcclKind> kind =
        program == null
            ? NcclKind.ofRows(sweep, devices, selection.collective())
            : Optional.of(NcclKind.ofProgram(program));
    if (kind.isEmpty()) {
      found.leaveOut(
          line,
          "does not say which collective it times",
          "give --collective all_reduce, or whichever it is");
    } else if (kind.get().kind().isEmpty()) {
      found.leaveOut(
          line,
          "times a " + kind.get().word() + ", which is not fitted",
          "run all_reduce_perf or sendrecv_perf");
    } else {
      noteOther(found, kind.get(), devices);
      sweep.forEach(row -> add(found, row, kind.get().kind().get(), devices));
    }
  }

  private static void noteOther(TimingsFound found, NcclKind kind, int devices) {
    kind.other()
        .ifPresent(other ->
            found.notes.add(
                "rows without the program's name are taken for %s: on %d devices %s looks the same; choose it with --collective %s"
                    .formatted(
                        kind.word(), devices, EnumWords.word(other), EnumWords.word(other))));
  }

  private static void add(TimingsFound found, NcclRow row, Kind kind, int devices) {
    if (row.bytes() == 0) {
      found.leaveOut(row.line(), "a message of 0 bytes", "measure larger ones");
      return;
    }
    List<String> wrong = new ArrayList<>();
    for (Half half : row.halves()) {
      if (half.isWrong()) {
        wrong.add(wrong(half) + half.place());
      } else if (!Double.isNaN(half.micros())) {
        found.add(row.line(), kind, devices, row.bytes(), half.micros() / 1e6, half.time() + " us");
      }
    }
    if (!wrong.isEmpty()) {
      found.leaveOut(row.line(), String.join(", ", wrong), "find out why and measure again");
    }
  }

  private static String wrong(Half half) {
    return Double.isNaN(half.wrong())
        ? "wrong results"
        : String.format(
            Locale.ROOT, "%.0f wrong result%s", half.wrong(), half.wrong() == 1 ? "" : "s");
  }

  private static String counted(int count, String word) {
    return count + " " + word + (count == 1 ? "" : "s");
  }
}
