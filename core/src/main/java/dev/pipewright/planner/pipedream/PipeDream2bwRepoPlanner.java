package dev.pipewright.planner.pipedream;

import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The planner that the authors of PipeDream-2BW published with their program, for networks of equal
 * blocks: width times depth is the number of workers, the fastest that fits wins, of equals the
 * narrowest.
 *
 * <p>Source: {@code planner/planner.py} of the repository of PipeDream, branch {@code
 * pipedream_2bw}, for D. Narayanan et al., <i>Memory-Efficient Pipeline-Parallel DNN Training</i>,
 * ICML 2021, arXiv:2006.09503. Kept as it is, oddities included: parameters and outputs are counted
 * in numbers where they are sent and in 4 bytes where they are kept, blocks that do not divide are
 * dropped, and with more stages than blocks each computes nothing yet keeps one block. {@link
 * PipeDream2bwPlanner} is the planner of the paper.
 */
public final class PipeDream2bwRepoPlanner {
  private static final double BETWEEN_STAGES = 1e9; // numbers per second
  private static final double NARROW = 100e9; // among up to MACHINE replicas
  private static final double WIDE = 1e9;
  private static final int MACHINE = 8;
  private static final int BYTES = 4;

  private PipeDream2bwRepoPlanner() {}

  /**
   * A network of equal blocks.
   *
   * @param seconds of one block, forward and backward
   * @param parameters of one block, as a number
   * @param activations that one block keeps, as a number
   * @param output activations between two blocks, as a number
   */
  public record Blocks(
      int blocks, double seconds, double parameters, double activations, double output) {
    public Blocks {
      Check.that(blocks >= 1, "a network has blocks: blocks=%d", blocks);
      Check.amount(seconds, "seconds");
      Check.amount(parameters, "parameters");
      Check.amount(activations, "activations");
      Check.amount(output, "output");
    }
  }

  /**
   * One way to use all workers.
   *
   * @param width replicas of the pipeline
   * @param depth its stages
   * @param seconds for each mini-batch, over all replicas
   */
  public record Row(int width, int depth, double memoryBytes, double seconds, boolean fits) {}

  /** All ways, by width. */
  public record Table(List<Row> rows) {
    public Table {
      rows = List.copyOf(rows);
    }

    /** The fastest that fits, of equals the first; empty when nothing fits. */
    public Optional<Row> best() {
      Optional<Row> best = Optional.empty();
      for (Row row : rows) {
        if (row.fits && row.seconds < best.map(Row::seconds).orElse(Double.POSITIVE_INFINITY)) {
          best = Optional.of(row);
        }
      }
      return best;
    }
  }

  /** Scores every width that divides the workers. */
  public static Table plan(Blocks blocks, int workers, double memoryBytes) {
    Check.that(workers >= 1, "a plan has workers: workers=%d", workers);
    List<Row> rows = new ArrayList<>();
    for (int width = 1; width <= workers; width++) {
      if (workers % width == 0) {
        int depth = workers / width;
        double memory = memory(blocks, depth);
        rows.add(
            new Row(width, depth, memory, seconds(blocks, width, depth), memory <= memoryBytes));
      }
    }
    return new Table(rows);
  }

  private static double seconds(Blocks blocks, int width, int depth) {
    int each = blocks.blocks / depth;
    double compute = blocks.seconds * each;
    double transfer = 2 * blocks.output / BETWEEN_STAGES;
    double rate = width <= MACHINE ? NARROW : WIDE;
    double exchange = 2 * (width - 1) * (blocks.parameters * each) / rate;
    return Math.max(compute, Math.max(transfer, exchange)) / width;
  }

  private static double memory(Blocks blocks, int depth) {
    int each = Math.max(1, blocks.blocks / depth);
    return (2 * blocks.parameters * each + blocks.activations * each * depth) * BYTES;
  }
}
