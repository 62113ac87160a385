package dev.pipewright.runtime.net;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.parallel.Span;
import dev.pipewright.parallel.VocabularySplit;
import dev.pipewright.runtime.tensor.DividedScores;
import dev.pipewright.runtime.tensor.RandomSource;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The loss of scores whose columns several workers have against that of whole ones, in 64 bits. */
@ExtendWith(DoublePrecision.class)
class DividedScoresTest {
  private static final int ROWS = 13;
  private static final int WORDS = 11;
  private static final double SHARE = 0.25;

  private static Tensor wanted() {
    long[] words = new long[ROWS];
    for (int row = 0; row < ROWS; row++) {
      words[row] = 5L * row % WORDS;
    }
    return Tensor.ofWhole(words, ROWS);
  }

  private static void same(Tensor scores, int parts) {
    Tensor wanted = wanted();
    LossFunction.Judged whole = LossFunction.CROSS_ENTROPY.judge(List.of(scores), wanted, SHARE);
    List<DividedScores> members = new ArrayList<>();
    for (int part = 0; part < parts; part++) {
      Span own = Span.of(WORDS, part, parts);
      members.add(new DividedScores(scores.part(1, own.first(), own.count()), wanted, own.first()));
    }
    Tensor all =
        Tensor.joined(members.stream().map(DividedScores::terms).toList(), 1)
            .reshaped(ROWS, parts, DividedScores.TERMS);
    List<Tensor> gradients = new ArrayList<>();
    for (DividedScores member : members) {
      DividedScores.Loss loss = member.loss(all);
      assertEquals(whole.loss(), SHARE * loss.sum(), 1e-12 * whole.loss());
      assertEquals(whole.correct(), loss.correct());
      gradients.add(member.gradient(all, SHARE));
    }
    Tensor difference = Tensor.joined(gradients, 1).minus(whole.gradients().get(0));
    assertEquals(0, difference.times(difference).sum().item(), 1e-24);
  }

  @ParameterizedTest
  @CsvSource({"1, 1", "2, 1", "3, 1", "4, 1", "11, 1", "2, 100", "3, 1e4", "3, 0"})
  void lossAndGradientAreThoseOfWholeScores(int parts, double scale) {
    try (RandomSource random = new RandomSource(3)) {
      same(random.normal(1, ROWS, WORDS).times(scale), parts);
    }
  }

  /** Exponentials of these scores are beyond any number. */
  @Test
  void largeScoresAreTakenLessTheLargest() {
    try (RandomSource random = new RandomSource(4)) {
      same(random.normal(1, ROWS, WORDS).plus(Tensor.ones(1).times(5000)), 3);
    }
  }

  @Test
  void aWorkerSendsAsManyNumbersOfARowAsIsPriced() {
    Tensor scores = Tensor.zeros(ROWS, WORDS);
    DividedScores own = new DividedScores(scores, wanted(), 0);
    assertArrayEquals(new long[] {ROWS, VocabularySplit.LOSS_TERMS}, own.terms().shape());
  }
}
