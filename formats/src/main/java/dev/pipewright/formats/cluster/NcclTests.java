package dev.pipewright.formats.cluster;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What NVIDIA's nccl-tests print (and AMD's rccl-tests): a line for each rank, headings, a row for
 * each size with a time out of place and one in place, both of which are read. Several runs may
 * follow one another, and other programs' lines may stand between, also between the pieces of a
 * row: nccl-tests print a row in three.
 */
final class NcclTests {
  private static final Pattern RANK =
      Pattern.compile("#?\\s*Rank\\s+(\\d{1,9})\\s+(?:Group\\s+(\\d{1,9})\\b)?.*");
  private static final Pattern PROGRAM =
      Pattern.compile(
          "\\b(all_reduce|all_gather|reduce_scatter|alltoallv?|broadcast|reduce|sendrecv|gather"
              + "|scatter|hypercube|bisection)_perf\\b");
  private static final Pattern BEGINS =
      Pattern.compile("#?\\s*(?:nThread\\s+\\d+|Using devices|Collective test starting).*");
  private static final Pattern FAILED =
      Pattern.compile("#?\\s*Out of bounds values\\s*:\\s*\\d+\\s+FAILED.*");
  private static final Pattern AGGREGATED = Pattern.compile("\\bagg iters:\\s*(\\d{1,9})");

  private final TimingSelection selection;
  private final TimingsFound found;
  private final Set<Integer> ranks = new HashSet<>();
  private final List<String> pending = new ArrayList<>(); // the pieces of a row so far
  private int pendingLine;
  private NcclRun run = new NcclRun();
  private @Nullable NcclColumns columns;

  private NcclTests(TimingSelection selection, TimingsFound found) {
    this.selection = selection;
    this.found = found;
  }

  /** {@code # size count type redop root time algbw busbw …}. */
  static boolean isHeading(LogLine line) {
    List<String> words = line.words();
    return words.contains("algbw")
        && words.contains("busbw")
        && words.stream().anyMatch(word -> word.matches("#?(?:size|bytes)"));
  }

  static void read(List<LogLine> lines, TimingSelection selection, TimingsFound found) {
    NcclTests reader = new NcclTests(selection, found);
    lines.forEach(reader::read);
    reader.finish();
  }

  private void read(LogLine line) {
    String body = line.body().strip();
    Matcher rank = RANK.matcher(body);
    if (isHeading(line)) {
      heading(line);
    } else if (rank.matches()) {
      beginRun();
      if (rank.group(2) == null || Integer.parseInt(rank.group(2)) == 0) {
        ranks.add(Integer.parseInt(rank.group(1)));
      }
    } else if (BEGINS.matcher(body).matches()) {
      beginRun();
      ranks.clear();
      begins(body);
    } else if (FAILED.matcher(body).matches()) {
      run.setFailed(line.number());
      finish();
    } else if (OsuBenchmark.isTitle(line)) {
      finish();
    } else if (columns == null || body.startsWith("#") || !row(line)) {
      program(body);
    }
  }

  private void heading(LogLine line) {
    Set<Integer> known = Set.copyOf(ranks);
    Optional<String> program = run.program();
    beginRun(); // of the same ranks, unless lines above say otherwise
    if (ranks.isEmpty()) {
      ranks.addAll(known);
      program.ifPresent(run::setProgram);
    }
    columns = NcclColumns.of(line);
    if (!columns.haveTimes()) {
      found.leaveOut(
          columns.line(),
          "this is a table of nccl-tests without its times, of bandwidths only",
          "keep the column time");
      columns = null;
    } else if (columns.areOfTheProcessor()) {
      found.leaveOut(columns.line(), NcclColumns.OF_PROCESSOR, NcclColumns.WITHOUT_C);
      columns = null;
    }
  }

  private void begins(String body) {
    program(body);
    Matcher aggregated = AGGREGATED.matcher(body);
    if (aggregated.find()) {
      noteAggregated(found, Long.parseLong(aggregated.group(1)));
    }
  }

  /** {@code -m}: so many collectives start together. */
  static void noteAggregated(TimingsFound found, long together) {
    if (together > 1) {
      found.notes.add(
          "%d collectives started together (agg iters); the latency is their average, less than that of one"
              .formatted(together));
    }
  }

  /**
   * Names the run that begins, or is about to; a line that names several, like a loop, does not.
   */
  private void program(String body) {
    if (body.contains(" NCCL ") || body.contains("concluded")) {
      return;
    }
    List<String> names =
        PROGRAM.matcher(body).results().map(match -> match.group(1)).distinct().toList();
    if (names.size() == 1 && !run.program().equals(Optional.of(names.get(0)))) {
      beginRun();
      run.setProgram(names.get(0));
    }
  }

  /** Takes the words of a row, or of a piece of one; false where the line is something else. */
  private boolean row(LogLine line) {
    NcclColumns table = columns;
    if (table == null) {
      return false;
    }
    List<String> words = line.rowWords();
    if (!pending.isEmpty() && table.fit(pending.size(), words)) {
      pending.addAll(words);
    } else if (table.looksLikeRow(words)) {
      endRow();
      pendingLine = line.number();
      if (table.fit(0, words)) {
        pending.addAll(words);
      } else {
        damaged(words.size());
      }
    } else {
      return false;
    }
    if (pending.size() == table.count()) {
      endRow();
    }
    return true;
  }

  private void endRow() {
    NcclColumns table = columns;
    if (table != null && !pending.isEmpty()) {
      if (table.isComplete(pending.size())) {
        run.rows().add(table.row(pendingLine, pending));
      } else {
        damaged(pending.size());
      }
    }
    pending.clear();
  }

  private void damaged(int words) {
    int headings = columns == null ? 0 : columns.count();
    found.leaveOut(
        pendingLine,
        words == headings
            ? "a value does not fit its heading"
            : "%d values stand under %d headings".formatted(words, headings),
        "expected a row as nccl-tests print it");
  }

  /** Ends the run before, where there is one; otherwise what is known of this one stays. */
  private void beginRun() {
    endRow();
    if (!run.rows().isEmpty()) {
      finish();
    }
  }

  private void finish() {
    endRow();
    run.setRanks(ranks.size());
    run.addTo(found, selection);
    run = new NcclRun();
    ranks.clear();
    columns = null;
  }
}
