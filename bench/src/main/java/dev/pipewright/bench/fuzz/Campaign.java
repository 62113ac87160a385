package dev.pipewright.bench.fuzz;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Many damaged files, command lines and messages, each answered in this process: never with an
 * internal failure, a stack trace, a number that is none or a hang, and with the file's name and
 * line where a file is refused. A case is made from its target's name and its number alone.
 */
public final class Campaign {
  /** What a case did wrong. */
  public record Finding(
      String target, int number, List<String> command, List<String> faults, String err) {
    @Override
    public String toString() {
      String said = err.strip().lines().findFirst().orElse("");
      return "%s %d: %s: `%s` said: %s"
          .formatted(
              target,
              number,
              String.join(", ", faults),
              String.join(" ", command),
              said.length() <= 400 ? said : said.substring(0, 400) + "…");
    }
  }

  private final Map<String, Trial> trials = new LinkedHashMap<>(); // by name

  /** Works in an empty folder, where the files of findings stay. */
  public Campaign(Path folder) {
    Seeds seeds = new Seeds(folder.resolve("seeds"));
    seeds.targets().forEach(target -> add(new FileTrial(target, seeds, folder)));
    CommandLines.COMMANDS.keySet().forEach(command -> add(new FlagTrial(command, seeds)));
    DataTrial.all(folder.resolve("data")).forEach(this::add);
    add(new FrameTrial());
    add(new ControlTrial());
    add(new TensorTrial());
  }

  private void add(Trial trial) {
    trials.put(trial.name(), trial);
  }

  /**
   * The names of all targets: kinds of files, commands whose flags are tried, kinds of messages.
   */
  public List<String> targets() {
    return List.copyOf(trials.keySet());
  }

  /** Runs cases {@code 0..count-1} of a target; targets may be run at once. */
  public List<Finding> run(String target, int count) {
    Trial trial = Objects.requireNonNull(trials.get(target), target);
    List<Finding> findings = new ArrayList<>();
    try (Runner runner = new Runner()) {
      for (int number = 0; number < count; number++) {
        long seed = 31L * target.hashCode() + number;
        trial.one(runner, number, seed).ifPresent(findings::add);
      }
    }
    return findings;
  }
}
