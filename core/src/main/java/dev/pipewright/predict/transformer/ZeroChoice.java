package dev.pipewright.predict.transformer;

import dev.pipewright.units.Check;
import java.util.List;

/**
 * What data-parallel ranks shard, and when.
 *
 * @param stage of ZeRO, 0 to 3
 * @param reshard as {@link TrainingLayout#reshard}
 */
public record ZeroChoice(int stage, boolean reshard) {
  private static final int GRADIENTS = 2;

  /** All that differ, each at its {@link #index}. */
  public static final List<ZeroChoice> ALL =
      List.of(
          new ZeroChoice(0, false),
          new ZeroChoice(1, false),
          new ZeroChoice(2, false),
          new ZeroChoice(3, false),
          new ZeroChoice(2, true),
          new ZeroChoice(3, true));

  public ZeroChoice {
    Check.that(0 <= stage && stage <= 3, "zero=%d is no ZeRO stage; write 0 to 3", stage);
    reshard &= stage >= GRADIENTS;
  }

  /** Its position in {@link #ALL}. */
  public int index() {
    return reshard ? stage + GRADIENTS : stage;
  }
}
