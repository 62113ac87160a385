package dev.pipewright.predict.paradl;

import dev.pipewright.plan.Recompute;
import dev.pipewright.units.Check;
import java.util.List;
import java.util.stream.Collectors;

/**
 * In how many parts a strategy cuts the work.
 *
 * @param groups how many groups work on different samples (ParaDL's p1): the degree of data
 *     parallelism
 * @param stages of the pipeline of a group; 1 without a pipeline
 * @param parts devices of a group that compute each layer together
 * @param grid parts along each spatial axis, their product {@code parts}; empty unless positions
 *     are split
 * @param segments micro-batches of an iteration
 * @param recompute {@link Recompute#SELECTIVE} where every layer keeps its input alone
 */
public record Layout(
    Strategy strategy,
    int groups,
    int stages,
    int parts,
    List<Integer> grid,
    int segments,
    Recompute recompute) {
  public Layout {
    grid = List.copyOf(grid);
    Check.that(
        groups >= 1 && stages >= 1 && parts >= 1 && segments >= 1,
        "a layout has groups, stages, parts and segments: groups=%d, stages=%d, parts=%d, segments=%d",
        groups,
        stages,
        parts,
        segments);
  }

  /** Without a grid, stages or segments. */
  public static Layout of(Strategy strategy, int groups, int parts) {
    return new Layout(strategy, groups, 1, parts, List.of(), 1, Recompute.NONE);
  }

  /** With spatial positions cut so. */
  public static Layout spatial(Strategy strategy, int groups, List<Integer> grid) {
    int parts = grid.stream().reduce(1, Math::multiplyExact);
    return new Layout(strategy, groups, 1, parts, grid, 1, Recompute.NONE);
  }

  /** A pipeline with a device for each stage of a group. */
  public static Layout pipeline(Strategy strategy, int groups, int stages, int segments) {
    return new Layout(strategy, groups, stages, 1, List.of(), segments, Recompute.NONE);
  }

  /** Devices of a group (ParaDL's p2). */
  public int groupSize() {
    return Math.multiplyExact(stages, parts);
  }

  public int devices() {
    return Math.multiplyExact(groups, groupSize());
  }

  /**
   * As a person would write it: {@code 16 × 4}, {@code 2×2}, {@code 4 stages, 8 segments}, {@code 8
   * × t4 × 2 stages, 16 segments, recomputing}.
   */
  @Override
  public String toString() {
    if (strategy.accumulates()) {
      return plan();
    }
    String inside =
        grid.isEmpty()
            ? String.valueOf(parts)
            : grid.stream().map(String::valueOf).collect(Collectors.joining("×"));
    return strategy.split() == Strategy.Split.NOTHING
        ? String.valueOf(groups)
        : (strategy.hybrid() ? groups + " × " : "") + inside;
  }

  private String plan() {
    boolean divides = strategy.dividesBlocks();
    String copies = groups > 1 ? groups + " × " : "";
    String tensor = divides ? degree() + parts : "";
    String pipeline = strategy.pipelined() ? (divides ? " × " : "") + stages + " stages" : "";
    String accumulated = strategy.pipelined() || segments > 1 ? ", " + segments + " segments" : "";
    return copies + tensor + pipeline + accumulated + recomputing();
  }

  /** The letter of a degree of parallelism. */
  private String degree() {
    return switch (strategy.split()) {
      case TOKENS -> "c";
      case EXPERTS -> "e";
      default -> "t";
    };
  }

  private String recomputing() {
    return switch (recompute) {
      case NONE -> "";
      case SELECTIVE -> ", recomputing layers";
      case STAGE_INPUT, EXCEPT_LAST -> ", recomputing stages";
    };
  }
}
