package dev.pipewright.schedule.periodic;

import dev.pipewright.units.Check;
import java.util.List;

/**
 * How the batches of a chain of stages, transfers among them, follow each other; and so how many
 * batches a stage holds.
 *
 * <p>Paper: O. Beaumont et al., <i>Pipelined Model Parallelism</i>, Euro-Par 2021, §5.
 */
public sealed interface Discipline {
  /**
   * The batches that a stage holds, or makes room for.
   *
   * @param group of the stage in 1F1B*, counted from 1 at the last stage, transfers included
   * @param behind stages from this one to the last, transfers not included
   * @return 0 where the stage would have to hold more than the discipline lets it; never less for a
   *     higher group
   */
  int held(int group, int behind);

  /** Seconds per batch over the seconds between batches, of which some may be dropped. */
  default double stretch() {
    return 1;
  }

  /**
   * The pattern.
   *
   * @param stages with transfers between them
   * @param once seconds between batches, none dropped
   */
  default Pattern pattern(List<StageLoad> stages, double once) {
    return OneForwardOneBackwardStar.of(stages, once);
  }

  /**
   * PipeDream's: as many batches as there are stages from this one on, whether they are needed or
   * not. The fastest pattern that does with so many.
   */
  record OneForwardOneBackward() implements Discipline {
    @Override
    public int held(int group, int behind) {
      return group <= behind ? behind : 0;
    }

    @Override
    public String toString() {
      return "1f1b";
    }
  }

  /** As few batches as any pattern of one batch holds (§5.1, theorem 3). */
  record Star() implements Discipline {
    @Override
    public int held(int group, int behind) {
      return group;
    }

    @Override
    public String toString() {
      return "1f1b-star";
    }
  }

  /**
   * The same without every (k+1)-th batch (§5.2).
   *
   * @param batches kept of every {@code batches + 1}: k
   */
  record Dropping(int batches) implements Discipline {
    public Dropping {
      Check.that(batches >= 1, "a pattern keeps batches: batches=%d", batches);
    }

    @Override
    public int held(int group, int behind) {
      return group - group / (batches + 1);
    }

    @Override
    public double stretch() {
      return 1 + 1.0 / batches;
    }

    @Override
    public Pattern pattern(List<StageLoad> stages, double once) {
      return KPeriodic.of(stages, once, batches);
    }

    @Override
    public String toString() {
      return batches + "-periodic";
    }
  }
}
