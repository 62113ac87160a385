package dev.pipewright.app.cli.sweep;

import dev.pipewright.formats.file.BadInputException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;

/** The flags of sweeps. */
public final class SweepFlags {
  private static final int MOST_JOBS = 1024;
  private static final List<String> WITH_SWEEP =
      List.of("--sweep", "--shard", "--merge", "--jobs", "--out", "--json", "--debug");

  @Option(
      names = "--sweep",
      paramLabel = "FILE.yaml",
      description =
          "Plan every combination of the file's models, clusters, batches and flags"
              + " (docs/formats.md), and write results.jsonl, results.csv and charts to --out, or a"
              + " folder with the file's name. The same command goes on where a run has stopped.")
  private @Nullable Path sweep;

  @Option(
      names = "--shard",
      paramLabel = "I/N",
      description =
          "Plan only the I-th of N shards of the sweep, from 1 on, as Slurm's --array=1-N counts;"
              + " each writes to a folder of its own in that of the sweep.")
  private @Nullable String shard;

  @Option(names = "--merge", description = "Join the shards in the folder of the sweep.")
  private boolean merge;

  @Option(
      names = "--jobs",
      paramLabel = "N",
      description = "Points of a sweep that are planned at the same time. Default: one per core.")
  private @Nullable Integer jobs;

  /** Whether it is a sweep; throws where its flags stand alone or contradict each other. */
  public boolean isGiven() {
    if (sweep == null) {
      refuseAlone("--shard", shard != null);
      refuseAlone("--merge", merge);
      refuseAlone("--jobs", jobs != null);
      return false;
    }
    if (merge && (shard != null || jobs != null)) {
      throw new BadInputException(
          "--merge: joins what shards have planned, and plans nothing; leave out %s"
              .formatted(shard != null ? "--shard" : "--jobs"));
    }
    return true;
  }

  private static void refuseAlone(String flag, boolean given) {
    if (given) {
      throw new BadInputException(flag + ": is for sweeps; add --sweep FILE.yaml");
    }
  }

  /** Throws where other arguments are given, which belong into the file. */
  public void refuseOthers(CommandSpec spec, String model) {
    if (!model.isEmpty()) {
      throw new BadInputException(
          "--sweep: its file lists the models; leave out '%s' here".formatted(model));
    }
    for (OptionSpec option : spec.commandLine().getParseResult().matchedOptions()) {
      if (!WITH_SWEEP.contains(option.longestName())) {
        throw new BadInputException(
            "%s: does not go with --sweep; write it in the file: the cluster under clusters, samples under batches, other flags under flags"
                .formatted(option.longestName()));
      }
    }
    jobs();
    shard();
  }

  Path file() {
    return Optional.ofNullable(sweep).orElseThrow();
  }

  Optional<SweepShard> shard() {
    return Optional.ofNullable(shard).map(SweepShard::of);
  }

  boolean merge() {
    return merge;
  }

  int jobs() {
    if (jobs != null && (jobs < 1 || jobs > MOST_JOBS)) {
      throw new BadInputException(
          "--jobs: %d is no number of points to plan at a time; give 1 to %d"
              .formatted(jobs, MOST_JOBS));
    }
    return jobs == null ? Runtime.getRuntime().availableProcessors() : jobs;
  }

  /** The folder of the sweep: as given, or named after the file. */
  Path folder(@Nullable Path out) {
    if (out != null) {
      return out;
    }
    String name = String.valueOf(file().getFileName());
    int dot = name.lastIndexOf('.');
    return Path.of(dot > 0 ? name.substring(0, dot) : name + ".sweep");
  }
}
