package dev.pipewright.app.cli.sweep;

import dev.pipewright.app.cli.terminal.Failures;
import dev.pipewright.app.cli.terminal.Terminal;
import dev.pipewright.app.report.sweep.SweepSvg;
import dev.pipewright.app.report.sweep.SweepText;
import dev.pipewright.app.report.text.Words;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.OutputFolder;
import dev.pipewright.formats.json.JsonText;
import dev.pipewright.formats.sweep.SweepCsv;
import dev.pipewright.formats.sweep.SweepFile;
import dev.pipewright.formats.sweep.SweepKey;
import dev.pipewright.formats.sweep.SweepLog;
import dev.pipewright.formats.sweep.SweepPoint;
import dev.pipewright.formats.sweep.SweepResult;
import dev.pipewright.formats.sweep.SweepResult.Status;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Runs a sweep, or joins its shards, and shows what there is. */
public final class SweepAnswer {
  private static final String STEP = "step.svg";
  private static final String RATE = "throughput.svg";
  private static final String[] FILES = {SweepLog.NAME, SweepCsv.NAME, STEP, RATE};

  private final SweepFlags flags;
  private final List<SweepPoint> all;
  private final Path folder;
  private final boolean json;
  private final PrintWriter out;
  private final PrintWriter err;

  /**
   * Reads the file.
   *
   * @param to the folder of the sweep; named after the file where null
   */
  public SweepAnswer(
      SweepFlags flags, @Nullable Path to, boolean json, PrintWriter out, PrintWriter err) {
    this.flags = flags;
    this.all = SweepFile.read(flags.file());
    this.folder = flags.folder(to);
    this.json = json;
    this.out = out;
    this.err = err;
  }

  /** Plans what has no answer yet, or joins shards; returns the exit status. */
  public int call(SweepPlanner planner) {
    return flags.merge() ? merge() : plan(planner);
  }

  private int plan(SweepPlanner planner) {
    List<SweepPoint> points = flags.shard().map(shard -> shard.of(all)).orElse(all);
    if (points.isEmpty()) {
      throw new BadInputException(
          "--shard: the sweep has only %s; take fewer shards"
              .formatted(Words.count(all.size(), "point")));
    }
    check(points, planner);
    Path own = flags.shard().map(shard -> folder.resolve(shard.folder())).orElse(folder);
    try (OutputFolder to = Objects.requireNonNull(OutputFolder.of(own, FILES))) {
      Path file = to.path().resolve(SweepLog.NAME);
      if (!Files.exists(file)) {
        to.write(SweepLog.NAME, "");
      }
      boolean whole = run(planner, points, to.file(SweepLog.NAME));
      Map<SweepKey, SweepResult> results = SweepLog.read(file);
      if (!whole) {
        err.println(
            "pipewright: interrupted: %,d of %s have an answer, in %s; the same command goes on with the rest"
                .formatted(answered(points, results), Words.count(points.size(), "point"), own));
        return Failures.INTERRUPTED;
      }
      int others = results.size() - answered(points, results);
      if (others > 0) {
        err.println(
            "pipewright: %s: %s of it are no points of %s, and so not in the table"
                .formatted(own.resolve(SweepLog.NAME), Words.count(others, "line"), flags.file()));
      }
      return show(points, results, to);
    }
  }

  /** Reads all flags before any work, each combination once. */
  private void check(List<SweepPoint> points, SweepPlanner planner) {
    Set<List<String>> seen = new HashSet<>();
    for (SweepPoint point : points) {
      if (seen.add(point.words())) {
        try {
          planner.check(point);
        } catch (BadInputException e) {
          int line =
              Stream.of(point.flags(), point.batch(), point.cluster(), point.model())
                  .filter(entry -> !entry.flags().isEmpty())
                  .findFirst()
                  .orElse(point.model())
                  .line();
          throw BadInputException.at(flags.file(), line, String.valueOf(e.getMessage()));
        }
      }
    }
  }

  private boolean run(SweepPlanner planner, List<SweepPoint> points, Path file) {
    Map<SweepKey, SweepResult> before = SweepLog.read(file);
    List<SweepPoint> open =
        points.stream().filter(point -> !before.containsKey(point.key())).toList();
    if (open.size() < points.size()) {
      err.println(
          "%,d of %s have an answer already"
              .formatted(points.size() - open.size(), Words.count(points.size(), "point")));
    }
    AtomicInteger done = new AtomicInteger(points.size() - open.size());
    try (SweepLog log = SweepLog.open(file)) {
      SweepRun run =
          new SweepRun(
              planner,
              log,
              result ->
                  err.println(
                      "[%d/%d] %s"
                          .formatted(
                              done.incrementAndGet(), points.size(), SweepText.line(result))));
      return run.plan(open, flags.jobs());
    }
  }

  private static int answered(List<SweepPoint> points, Map<SweepKey, SweepResult> results) {
    return (int) points.stream().filter(point -> results.containsKey(point.key())).count();
  }

  private int merge() {
    Map<SweepKey, SweepResult> results = SweepShards.merged(flags.file(), all, folder);
    try (OutputFolder to = Objects.requireNonNull(OutputFolder.of(folder, FILES))) {
      to.write(
          SweepLog.NAME,
          text -> {
            for (SweepResult result : results.values()) {
              text.append(JsonText.line(result.members()));
            }
          });
      int status = show(all, results, to);
      int missing = all.size() - results.size();
      if (missing > 0) {
        err.println(
            "pipewright: %s have no answer yet; plan the other shards, or the same command without --merge"
                .formatted(Words.count(missing, "point")));
        return Failures.NO;
      }
      return status;
    }
  }

  private int show(List<SweepPoint> points, Map<SweepKey, SweepResult> results, OutputFolder to) {
    to.write(SweepCsv.NAME, SweepCsv.of(points, results));
    String subject = String.valueOf(flags.file().getFileName());
    to.write(STEP, SweepSvg.steps(points, results, subject));
    to.write(RATE, SweepSvg.rates(points, results, subject));
    Map<Status, Integer> counts = new HashMap<>();
    for (SweepPoint point : points) {
      SweepResult result = results.get(point.key());
      if (result != null) {
        counts.merge(result.status(), 1, Integer::sum);
      }
    }
    if (json) {
      out.print(object(points, results, counts));
    } else {
      out.print(SweepText.of(points, results, Terminal.columns(), Terminal.colours()));
    }
    err.println("wrote " + String.join(", ", FILES) + " to " + to);
    int failed = counts.getOrDefault(Status.FAILED, 0);
    if (failed > 0) {
      err.println(
          "pipewright: %s failed, as %s says; correct them in the file"
              .formatted(Words.count(failed, "point"), SweepCsv.NAME));
    }
    return failed > 0 ? Failures.NO : 0;
  }

  private static String object(
      List<SweepPoint> points, Map<SweepKey, SweepResult> results, Map<Status, Integer> counts) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("points", points.size());
    for (Status status : Status.values()) {
      object.put(status.word().replace('-', '_'), counts.getOrDefault(status, 0));
    }
    object.put(
        "results",
        points.stream()
            .filter(point -> results.containsKey(point.key()))
            .map(point -> Objects.requireNonNull(results.get(point.key())).members())
            .toList());
    return JsonText.of(object);
  }
}
