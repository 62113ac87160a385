package dev.pipewright.predict.paradl;

import dev.pipewright.units.Check;
import java.util.List;
import java.util.stream.Collectors;

/**
 * In how many parts a strategy cuts the work.
 *
 * @param groups how many groups work on different samples (ParaDL's p1)
 * @param parts devices of one group, which share out the network (p2); a stage each for pipelines
 * @param grid parts along each spatial axis, their product {@code parts}; empty unless positions
 *     are split
 * @param segments micro-batches of a pipeline; 1 otherwise
 */
public record Layout(Strategy strategy, int groups, int parts, List<Integer> grid, int segments) {
  public Layout {
    grid = List.copyOf(grid);
    Check.that(
        groups >= 1 && parts >= 1 && segments >= 1,
        "a layout has groups, parts and segments: groups=%d, parts=%d, segments=%d",
        groups,
        parts,
        segments);
  }

  /** Without a grid or segments. */
  public static Layout of(Strategy strategy, int groups, int parts) {
    return new Layout(strategy, groups, parts, List.of(), 1);
  }

  public int devices() {
    return Math.multiplyExact(groups, parts);
  }

  /** As a person would write it: {@code 16 × 4}, {@code 2×2}, {@code 4 stages, 8 segments}. */
  @Override
  public String toString() {
    String inside =
        grid.isEmpty()
            ? String.valueOf(parts)
            : grid.stream().map(String::valueOf).collect(Collectors.joining("×"));
    return switch (strategy.split()) {
      case NOTHING -> String.valueOf(groups);
      case LAYERS ->
          (groups > 1 ? groups + " × " : "") + parts + " stages, " + segments + " segments";
      default -> (strategy.hybrid() ? groups + " × " : "") + inside;
    };
  }
}
