package dev.pipewright.runtime.data;

import java.util.List;

/**
 * Sequences from a {@link MarkovSource}. A network answers each token with the next; or, where it
 * answers once, with the one of several sources that the sequence came from.
 */
final class SyntheticTokens implements Dataset {
  private final long samples;
  private final long seed;
  private final int alphabet;
  private final int sources;
  private final int steps;
  private final boolean nextToken;

  /**
   * @param sources how many there are, numbered as classes
   * @param nextToken whether the answer is each next token; otherwise it is the source
   */
  SyntheticTokens(
      long samples, long seed, int alphabet, int sources, int steps, boolean nextToken) {
    this.samples = samples;
    this.seed = seed;
    this.alphabet = alphabet;
    this.sources = sources;
    this.steps = steps;
    this.nextToken = nextToken;
  }

  @Override
  public long samples() {
    return samples;
  }

  private int sourceOf(long number) {
    return new RandomStream(seed, number, 1).below(sources);
  }

  @Override
  public List<HostValues> inputs(long[] numbers) {
    return List.of(tokens(numbers, 0));
  }

  @Override
  public HostValues target(long[] numbers) {
    return nextToken ? tokens(numbers, 1) : Batches.classes(numbers, this::sourceOf);
  }

  /** The tokens of each sequence from {@code first} on. */
  private HostValues tokens(long[] numbers, int first) {
    long[] tokens = new long[Math.multiplyExact(numbers.length, steps)];
    for (int i = 0; i < numbers.length; i++) {
      MarkovSource source =
          new MarkovSource(RandomStream.mixed(seed + sourceOf(numbers[i])), alphabet);
      RandomStream draw = new RandomStream(seed, numbers[i], 2);
      int token = source.first(draw);
      for (int step = 0; step < first + steps; step++) {
        if (step >= first) {
          tokens[i * steps + step - first] = token;
        }
        token = source.next(token, draw);
      }
    }
    return Batches.tokens(tokens, numbers.length);
  }
}
