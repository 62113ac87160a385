package dev.pipewright.runtime.data;

import java.util.List;

/**
 * Sentences and their translations: the translation has the words of the sentence from the last to
 * the first, each replaced by another that follows from the seed. Sentences come from a {@link
 * MarkovSource}.
 *
 * <p>A network reads the sentence and the translation so far, that is the translation after a mark
 * for its begin, and answers each step with the translation's next word. Where the translation has
 * more steps than the sentence, marks for its end fill them.
 */
final class SyntheticPairs implements Dataset {
  static final int BEGIN = 0;
  static final int END = 1;
  static final int MARKS = 2;

  private final long samples;
  private final long seed;
  private final int sourceSteps;
  private final int targetSteps;
  private final MarkovSource source;
  private final Sampler words; // a substitution is a permutation

  /**
   * @param alphabet words of either language, without the marks
   */
  SyntheticPairs(long samples, long seed, int alphabet, int sourceSteps, int targetSteps) {
    this.samples = samples;
    this.seed = seed;
    this.sourceSteps = sourceSteps;
    this.targetSteps = targetSteps;
    this.source = new MarkovSource(RandomStream.mixed(seed), alphabet);
    this.words = new Sampler(alphabet, seed);
  }

  @Override
  public long samples() {
    return samples;
  }

  @Override
  public List<HostValues> inputs(long[] numbers) {
    long[] sentences = new long[Math.multiplyExact(numbers.length, sourceSteps)];
    long[] soFar = new long[Math.multiplyExact(numbers.length, targetSteps)];
    for (int i = 0; i < numbers.length; i++) {
      int[] sentence = sentence(numbers[i]);
      for (int step = 0; step < sourceSteps; step++) {
        sentences[i * sourceSteps + step] = (long) MARKS + sentence[step];
      }
      for (int step = 0; step < targetSteps; step++) {
        soFar[i * targetSteps + step] = step == 0 ? BEGIN : translated(sentence, step - 1);
      }
    }
    return List.of(
        Batches.tokens(sentences, numbers.length), Batches.tokens(soFar, numbers.length));
  }

  @Override
  public HostValues target(long[] numbers) {
    long[] answers = new long[Math.multiplyExact(numbers.length, targetSteps)];
    for (int i = 0; i < numbers.length; i++) {
      int[] sentence = sentence(numbers[i]);
      for (int step = 0; step < targetSteps; step++) {
        answers[i * targetSteps + step] = translated(sentence, step);
      }
    }
    return Batches.tokens(answers, numbers.length);
  }

  private int[] sentence(long number) {
    int[] sentence = new int[sourceSteps];
    RandomStream draw = new RandomStream(seed, number);
    for (int step = 0; step < sourceSteps; step++) {
      sentence[step] = step == 0 ? source.first(draw) : source.next(sentence[step - 1], draw);
    }
    return sentence;
  }

  private long translated(int[] sentence, int step) {
    return step < sentence.length
        ? MARKS + words.numbers(sentence[sentence.length - 1 - step], 1)[0]
        : END;
  }
}
