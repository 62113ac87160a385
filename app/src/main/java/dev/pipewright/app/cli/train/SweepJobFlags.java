package dev.pipewright.app.cli.train;

import dev.pipewright.app.cli.input.AtLeast;
import dev.pipewright.app.cli.launch.LaunchedSweep;
import dev.pipewright.app.cli.terminal.ParseMistakes;
import dev.pipewright.formats.export.JobNames;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.FileNames;
import dev.pipewright.formats.sweep.SweepFile;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParseResult;

/** A sweep that runs as a job array instead of a training. */
public final class SweepJobFlags {
  private static final int MOST_TASKS = 1000; // of an array, as Slurm is set up by default

  @Option(
      names = "--sweep",
      paramLabel = "FILE.yaml",
      description =
          "Run a sweep of `plan` instead of a training: a shard for each task of a job array, or pod"
              + " of an Indexed Job. What follows -- are further flags of `plan`.")
  private @Nullable Path sweep;

  @Option(
      names = "--array",
      paramLabel = "N",
      description = "Tasks that share the points of the sweep. Default: 1.")
  private @Nullable Integer array;

  /** The file of a sweep; empty for a training. */
  Optional<Path> file() {
    if (sweep == null && array != null) {
      throw new BadInputException("--array: is for sweeps; add --sweep FILE.yaml");
    }
    return Optional.ofNullable(sweep);
  }

  /**
   * The job of the sweep; throws where `plan` would refuse it.
   *
   * @param plan the command that its tasks run
   * @param flags of it
   * @param name of the job; the file's name where null
   */
  LaunchedSweep job(
      CommandLine plan,
      List<String> flags,
      @Nullable String name,
      @Nullable String time,
      @Nullable String image) {
    String file = file().orElseThrow().toString();
    int points = SweepFile.read(FileNames.file("--sweep", file)).size();
    int tasks = array == null ? 1 : (int) AtLeast.within("--array", array, 1, MOST_TASKS);
    if (tasks > points) {
      throw new BadInputException(
          "--array: the sweep has %d points, which %d tasks cannot share; give at most as many"
              .formatted(points, tasks));
    }
    List<String> words = new ArrayList<>(List.of("--sweep", file));
    words.addAll(flags);
    ParseResult parsed = plan.parseArgs(words.toArray(String[]::new));
    List<String> mistakes = ParseMistakes.of(parsed).sentences();
    if (!mistakes.isEmpty()) {
      throw new BadInputException("plan: " + mistakes.get(0) + "; `plan --help` lists its flags");
    }
    for (String refused : List.of("--shard", "--merge")) {
      if (parsed.hasMatchedOption(refused)) {
        throw new BadInputException(
            refused
                + ": the job's tasks are the shards, which are merged when all have ended; leave it out");
      }
    }
    int jobs = parsed.matchedOptionValue("--jobs", 1);
    if (parsed.hasMatchedOption("--jobs")) {
      int at = words.indexOf("--jobs");
      if (at >= 0) {
        words.subList(at, at + 2).clear();
      } else {
        words.removeIf(word -> word.startsWith("--jobs="));
      }
    }
    return new LaunchedSweep(
        name == null ? JobNames.of("sweep", file.replaceAll("\\.ya?ml$", "")) : name,
        tasks,
        words,
        jobs,
        time,
        image);
  }
}
