package dev.pipewright.runtime.tensor;

import java.util.List;
import org.bytedeco.pytorch.LongOptional;
import org.bytedeco.pytorch.Scalar;

/**
 * The cross entropy of scores of which each of several workers has some columns (M. Shoeybi et al.,
 * <i>Megatron-LM</i>, 2019, §3): workers exchange a few numbers of each row instead of its scores.
 *
 * <p>A worker's {@link #terms} go to all, and each finds the loss from those of all.
 */
public final class DividedScores {
  private static final int LARGEST = 0;
  private static final int EXPONENTIALS = 1;
  private static final int WANTED = 2;
  private static final int CORRECT = 3;

  /** Numbers of a row that a worker sends. */
  public static final int TERMS = 4;

  private final Tensor exponentials; // of each score less the row's largest of this worker
  private final Tensor column; // of the row's class, or 0; rows × 1
  private final Tensor elsewhere; // whether another worker has it; likewise
  private final Tensor terms;

  /**
   * The largest score of each row, the sum of exponentials of all scores less that one, the score
   * of the row's class, and 1 where this is the first of the largest; the last two are 0 where
   * another worker has the class.
   *
   * @param scores rows × columns
   * @param classes of the rows, among the columns of all workers
   * @param first column of this worker
   */
  public DividedScores(Tensor scores, Tensor classes, long first) {
    var own = classes.handle().sub(new Scalar(first)).unsqueeze(1);
    var other = own.lt(new Scalar(0)).logical_or(own.ge(new Scalar(scores.extent(1))));
    var at = own.masked_fill(other, new Scalar(0));
    var largest = scores.handle().amax(new long[] {1}, true);
    var powers = scores.handle().sub(largest).exp_();
    var wanted = scores.handle().gather(1, at).masked_fill(other, new Scalar(0));
    var best = scores.handle().argmax(new LongOptional(1), true);
    var correct = best.eq(own).to(wanted.scalar_type()); // never equal where another has it
    this.exponentials = new Tensor(powers);
    this.column = new Tensor(at);
    this.elsewhere = new Tensor(other);
    this.terms =
        Tensor.joined(
            List.of(
                new Tensor(largest),
                exponentials.sums(1).reshaped(scores.extent(0), 1),
                new Tensor(wanted),
                new Tensor(correct)),
            1);
  }

  /** Rows × {@link #TERMS}. */
  public Tensor terms() {
    return terms;
  }

  /** What all workers find. */
  public record Loss(double sum, long correct) {}

  /**
   * The loss, summed over all rows.
   *
   * @param all rows × workers × {@link #TERMS}
   */
  public Loss loss(Tensor all) {
    Tensor largest = all.at(2, LARGEST);
    Tensor top = new Tensor(largest.handle().amax(new long[] {1}, true));
    Tensor sums = sums(all, top);
    Tensor wanted = all.at(2, WANTED).sums(1);
    Tensor logs = new Tensor(sums.handle().log());
    double loss = logs.plus(top.at(1, 0)).minus(wanted).sum().item();
    var winner = largest.handle().argmax(new LongOptional(1), true);
    double correct = new Tensor(all.at(2, CORRECT).handle().gather(1, winner)).sum().item();
    return new Loss(loss, Math.round(correct));
  }

  private static Tensor sums(Tensor all, Tensor top) {
    Tensor factors = new Tensor(all.at(2, LARGEST).minus(top).handle().exp_());
    return all.at(2, EXPONENTIALS).times(factors).sums(1);
  }

  /**
   * The gradient of this worker's scores, times {@code weight}. It is computed in place: the
   * exponentials are gone.
   *
   * @param all rows × workers × {@link #TERMS}
   */
  public Tensor gradient(Tensor all, double weight) {
    Tensor top = new Tensor(all.at(2, LARGEST).handle().amax(new long[] {1}, true));
    long rows = top.extent(0);
    Tensor own = terms.part(1, LARGEST, 1).minus(top);
    Tensor factor =
        new Tensor(own.handle().exp_()).over(sums(all, top).reshaped(rows, 1)).times(weight);
    exponentials.handle().mul_(factor.handle());
    Tensor minus = Tensor.ones(rows, 1).scaleInPlace(-weight);
    minus.handle().masked_fill_(elsewhere.handle(), new Scalar(0));
    exponentials.handle().scatter_add_(1, column.handle(), minus.handle());
    return exponentials;
  }
}
