package dev.pipewright.app.cli.catalog;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.Level;
import dev.pipewright.cluster.Link;
import dev.pipewright.formats.cluster.ClusterYaml;
import dev.pipewright.formats.cluster.CollectiveTimings;
import dev.pipewright.formats.cluster.LinkFitJson;
import dev.pipewright.formats.cluster.MeasuredTimings;
import dev.pipewright.formats.cluster.TimingSelection;
import dev.pipewright.formats.cluster.TimingWords;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.OutputFolder;
import dev.pipewright.formats.file.Suggestion;
import dev.pipewright.formats.oracle.TrainingTable;
import dev.pipewright.formats.problem.ClusterNames;
import dev.pipewright.profile.CollectiveTiming;
import dev.pipewright.profile.LinkFit;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SortedMap;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
    name = "calibrate",
    description =
        "Fits the latency and the bandwidth of a link to measured collectives, or the constants of"
            + " predict --table to measured training runs.",
    footer = {
      "",
      "FILE is what nccl-tests (also with -J) or the OSU micro-benchmarks print, as a launcher logged"
          + " it, or a CSV with the columns devices, bytes and seconds, time_us or time_ns; or a table"
          + " of training runs with iteration_s (docs/formats.md).",
      "",
      "In the answer: one line is a latency and a bandwidth for all sizes, by least squares; by the",
      "extremes takes the latency of the smallest messages and the bandwidth of the largest; lines by",
      "size has one for each range of sizes.",
      "",
      "What cannot be fitted is left out and listed: wrong results, runs that FAILED, tables without"
          + " times, and single times that are more than 3 times off those of their neighbours.",
      "",
      "Training runs: at most nine physical constants, those on which the runs depend most, move from"
          + " their built-in values. At least 12 runs of 2 networks on one machine are needed. Networks"
          + " that are left out of the fit show whether the new constants foresee more than the old"
          + " ones.",
      "",
      "Examples:",
      "  pipewright calibrate all-reduce.txt",
      "  pipewright calibrate osu-allreduce.txt --devices 16 --json",
      "  pipewright calibrate all-reduce.txt --cluster mine.yaml --level node --out fitted",
      "  pipewright calibrate runs.csv --cluster h100-80g-8x3200g --out fitted"
    })
public final class CalibrateCommand implements Callable<Integer> {
  private static final String CLUSTER_FILE = "cluster.yaml";
  private static final String FIT_FILE = "fit.json";

  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "FILE", description = "Measured sizes and times, or training runs.")
  private Path file = Path.of("");

  @Option(
      names = "--devices",
      paramLabel = "N",
      description = "Use only timings of N devices; where FILE does not state the number, it is N.")
  private @Nullable Integer devices;

  @Option(
      names = "--collective",
      paramLabel = "NAME",
      description =
          "Use only timings of this collective, like all_reduce; where FILE does not name one,"
              + " it is this.")
  private @Nullable String collective;

  @Option(
      names = "--machine",
      paramLabel = "NAME",
      description = "Use only timings of this machine, where a CSV names several.")
  private @Nullable String machine;

  @Option(
      names = "--cluster",
      paramLabel = "CLUSTER",
      description = "The cluster one of whose levels was measured: a file or a name.")
  private @Nullable String cluster;

  @Option(
      names = "--level",
      paramLabel = "NAME",
      description = "The level of the cluster that was measured.")
  private @Nullable String level;

  @Option(
      names = "--out",
      paramLabel = "DIR",
      description =
          "Write fit.json and, with --cluster, cluster.yaml with the fitted link. For training runs:"
              + " constants.json for predict --constants, and residuals.svg.")
  private @Nullable Path out;

  @Option(names = "--json", description = "Print one JSON object and nothing else.")
  private boolean json;

  public CalibrateCommand() {
    this.spec = CommandSpec.create();
  }

  @Override
  public Integer call() {
    if (TrainingTable.isMeasured(file)) {
      refuseForRuns();
      return new RunsCalibration(file, Optional.ofNullable(cluster)).answer(spec, json, out);
    }
    TimingSelection selection = selection();
    Optional<Target> target = target();
    String[] names =
        target.isPresent() ? new String[] {CLUSTER_FILE, FIT_FILE} : new String[] {FIT_FILE};
    try (OutputFolder to = OutputFolder.of(out, names)) { // before any work
      return fit(selection, target, to);
    }
  }

  private int fit(TimingSelection selection, Optional<Target> target, @Nullable OutputFolder to) {
    MeasuredTimings measured = CollectiveTimings.read(file, selection).withoutOutliers();
    List<CollectiveTiming> timings = measured.timings();
    target.ifPresent(wanted -> wanted.check(file, timings));
    LinkFitJson.Context fit = fit(measured);
    if (json) {
      spec.commandLine().getOut().print(LinkFitJson.text(fit));
    } else {
      spec.commandLine().getOut().print(FitText.of(fit));
    }
    Stream.concat(measured.notes().stream(), differing(fit).stream())
        .forEach(note -> spec.commandLine().getErr().println("pipewright: " + note));
    if (to != null) {
      to.write(FIT_FILE, LinkFitJson.textWithResiduals(fit));
      target.ifPresent(wanted ->
          to.write(CLUSTER_FILE, ClusterYaml.text(wanted.with(fit.whole().pieces(), timings))));
      String names = target.isPresent() ? CLUSTER_FILE + ", " + FIT_FILE : FIT_FILE;
      spec.commandLine().getErr().println("wrote " + names + " to " + to);
    }
    return 0;
  }

  /** Throws where an option selects collectives. */
  private void refuseForRuns() {
    for (String name : List.of("--devices", "--collective", "--machine", "--level")) {
      if (spec.commandLine().getParseResult().hasMatchedOption(name)) {
        throw new BadInputException(
            name + ": is for collectives, and " + file + " holds training runs; leave it out");
      }
    }
  }

  private TimingSelection selection() {
    if (devices != null && devices < 2) {
      throw new BadInputException(
          "--devices: " + devices + " exchange nothing; give a whole number >= 2");
    }
    if (collective != null && !TimingWords.KINDS.containsKey(collective)) {
      throw new BadInputException(
          "--collective: unknown '"
              + collective
              + "'; "
              + Suggestion.of(collective, TimingWords.KINDS.keySet()));
    }
    return new TimingSelection(
        Optional.ofNullable(collective).map(TimingWords.KINDS::get),
        devices == null ? OptionalInt.empty() : OptionalInt.of(devices),
        Optional.ofNullable(machine));
  }

  private LinkFitJson.Context fit(MeasuredTimings measured) {
    List<CollectiveTiming> timings = measured.timings();
    try {
      return new LinkFitJson.Context(
          file.toString(),
          timings,
          measured.leftOut(),
          LinkFit.of(timings),
          LinkFit.byDevices(timings),
          Optional.ofNullable(cluster),
          Optional.ofNullable(level));
    } catch (IllegalArgumentException e) {
      throw new BadInputException(file + ": " + e.getMessage());
    }
  }

  /** Says so where one link for all numbers of devices tells none of them. */
  private static Optional<String> differing(LinkFitJson.Context fit) {
    SortedMap<Integer, LinkFit> byDevices = fit.byDevices();
    double own =
        byDevices.values().stream()
            .mapToDouble(each -> each.piecesQuality().meanError())
            .average()
            .orElse(0);
    double whole = fit.whole().piecesQuality().meanError();
    if (whole < 0.1 || whole < 3 * own) {
      return Optional.empty();
    }
    return Optional.of(
        "the constants differ with the number of devices, so those for all together are rough;"
            + " choose one: --devices "
            + byDevices.lastKey());
  }

  private Optional<Target> target() {
    if (cluster == null) {
      if (level != null) {
        throw new BadInputException("--level: needs the cluster that it is of; add --cluster C");
      }
      return Optional.empty();
    }
    Cluster whole = ClusterNames.resolve(cluster);
    List<String> known = whole.levels().stream().map(Level::name).toList();
    if (level == null) {
      throw new BadInputException(
          "--level: is missing; say which level of the cluster was measured: --level "
              + String.join(" or ", known));
    }
    int index = known.indexOf(level);
    if (index < 0) {
      throw new BadInputException(
          "--level: the cluster has no '" + level + "'; " + Suggestion.of(level, known));
    }
    return Optional.of(new Target(whole, index));
  }

  /** The level of a cluster whose link is fitted. */
  private record Target(Cluster cluster, int level) {

    void check(Path file, List<CollectiveTiming> timings) {
      int largest = Collections.max(cluster.groups().get(level));
      for (CollectiveTiming timing : timings) {
        if (timing.devices() > largest) {
          throw new BadInputException(
              "%s: %d devices were measured, but a %s has %d; name a wider level, or give --devices N"
                  .formatted(file, timing.devices(), cluster.levels().get(level).name(), largest));
        }
      }
    }

    /** The cluster with the link at its level, for all members or for pairs as was measured. */
    Cluster with(Link link, List<CollectiveTiming> timings) {
      List<Level> levels = new ArrayList<>(cluster.levels());
      Level old = levels.get(level);
      boolean all = timings.get(0).kind().isCollective();
      levels.set(
          level,
          new Level(
              old.name(),
              all ? old.pointToPoint() : link,
              all ? link : old.collective(),
              old.ports(),
              old.achieved()));
      return new Cluster(
          cluster.name() + " (" + old.name() + " fitted)",
          cluster.devices(),
          levels,
          cluster.groups(),
          cluster.software());
    }
  }
}
