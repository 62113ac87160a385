package dev.pipewright.runtime.data;

import java.nio.file.Path;
import java.util.List;

/**
 * A file cut into windows. Bytes are tokens; after each the network answers with the next, so a
 * window reaches one byte into the next window.
 */
final class TextWindows implements Dataset {
  private static final int VOCABULARY = 256;

  private final FileBytes file;
  private final int steps;
  private final long samples;

  private TextWindows(FileBytes file, int steps, long samples) {
    this.file = file;
    this.steps = steps;
    this.samples = samples;
  }

  static TrainingData open(Path path, Fit fit) {
    DatasetRequirements.Input.Tokens read = fit.tokens();
    int steps = read.steps();
    int known = Math.min(read.vocabulary(), fit.tokenScores(steps).vocabulary());
    if (known < VOCABULARY) {
      throw fit.misfit(
          "text has 256 tokens, one for each byte, but "
              + fit.wanted().network()
              + " knows "
              + known
              + "; take a network with vocabulary=256 or more");
    }
    FileBytes file = FileBytes.open(path);
    long samples = (file.size() - 1) / steps;
    if (samples < 1) {
      throw file.wrong(
          "has "
              + file.size()
              + " bytes, fewer than the "
              + (steps + 1)
              + " of one sequence; give a longer text or a network with a shorter sequence");
    }
    return Selection.lastTenthHeldOut(new TextWindows(file, steps, samples));
  }

  @Override
  public long samples() {
    return samples;
  }

  @Override
  public List<HostValues> inputs(long[] numbers) {
    return List.of(tokens(numbers, 0));
  }

  @Override
  public HostValues target(long[] numbers) {
    return tokens(numbers, 1);
  }

  private HostValues tokens(long[] numbers, int first) {
    long[] tokens = new long[Math.multiplyExact(numbers.length, steps)];
    int at = 0;
    for (long number : numbers) {
      for (byte token : file.read(number * steps + first, steps)) {
        tokens[at++] = token & 0xff;
      }
    }
    return Batches.tokens(tokens, numbers.length);
  }
}
