package dev.pipewright.runtime.training;

import dev.pipewright.execution.TrainingRequest;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.runtime.checkpoint.Checkpoint;
import dev.pipewright.runtime.checkpoint.Checkpoints;
import dev.pipewright.runtime.checkpoint.Manifest;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/**
 * The checkpoint that a run goes on from. Its network, seed and optimizer must be the run's; the
 * plan, the batch and the rates may be others.
 *
 * @param folder its own
 */
record Resumption(Path folder, Manifest manifest) {
  static final String OPTIMIZER = "optimizer";

  /**
   * Finds and reads it completely.
   *
   * @param where its folder, or one that holds some of which the last counts
   * @throws BadInputException where it is damaged or does not suit the run
   */
  static Resumption of(Path where, TrainingRequest request, String model) {
    Path folder = find("--resume", where);
    Manifest manifest = Checkpoint.open(folder).verify().requireModel(model).manifest();
    if (!manifest.isFresh()) {
      same(
          folder,
          "--seed",
          Long.toString(manifest.seed()),
          Long.toString(request.learning().seed()));
      same(
          folder,
          "--optimizer",
          manifest.settings().getOrDefault(OPTIMIZER, optimizer(request)),
          optimizer(request));
    }
    if (manifest.step() >= request.learning().steps()) {
      throw new BadInputException(
          "--steps: %s has made %d steps already, and %d are wanted in all; give more"
              .formatted(folder, manifest.step(), request.learning().steps()));
    }
    return new Resumption(folder, manifest);
  }

  static String optimizer(TrainingRequest request) {
    return request.learning().rule().kind().name().toLowerCase(Locale.ROOT);
  }

  /**
   * The folder of a checkpoint.
   *
   * @param argument that names where it is
   * @param where its folder, or one that holds some of which the last counts
   */
  static Path find(String argument, Path where) {
    if (Files.exists(where.resolve("manifest.json"))) {
      return where;
    }
    for (Path root : List.of(where, where.resolve(Trainer.CHECKPOINTS))) {
      var latest = new Checkpoints(root, 1).latest();
      if (latest.isPresent()) {
        return latest.get();
      }
    }
    throw new BadInputException(
        argument
            + ": "
            + where
            + " holds no checkpoint; give a folder step-… or one that holds some");
  }

  private static void same(Path folder, String flag, String then, String now) {
    if (!then.equals(now)) {
      throw new BadInputException(
          "%s: %s was made with %s, not %s; give %s %s"
              .formatted(flag, folder, then, now, flag, then));
    }
  }
}
