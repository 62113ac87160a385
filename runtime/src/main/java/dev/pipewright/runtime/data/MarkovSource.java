package dev.pipewright.runtime.data;

/**
 * A source of tokens of which each depends on the one before: every token has four that like to
 * follow it, with falling probability, and one time in twenty any follows (A. A. Markov's chains;
 * C. E. Shannon, <i>A mathematical theory of communication</i>, 1948, §3).
 */
record MarkovSource(long seed, int alphabet) {
  private static final double[] UP_TO = {0.5, 0.75, 0.875, 0.95}; // sums of the probabilities

  int first(RandomStream draw) {
    return draw.below(alphabet);
  }

  int next(int token, RandomStream draw) {
    double chance = draw.uniform();
    for (int choice = 0; choice < UP_TO.length; choice++) {
      if (chance < UP_TO[choice]) {
        return follower(token, choice);
      }
    }
    return draw.below(alphabet);
  }

  /** One of the four that like to follow a token, the likeliest first; some may be the same. */
  int follower(int token, int choice) {
    return new RandomStream(seed, token, choice).below(alphabet);
  }
}
