package dev.pipewright.planner.pipedream;

import dev.pipewright.planner.pipedream.PipeDreamPlanning.RunnerUp;
import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * PipeDream's hierarchical optimizer: stages and their replicas for asynchronous pipelining, so
 * that the slowest stage takes as little as possible per mini-batch.
 *
 * <p>Paper: D. Narayanan, A. Harlap, A. Phanishayee, V. Seshadri, N. Devanur, G. Ganger, P.
 * Gibbons, M. Zaharia, <i>PipeDream: Generalized Pipeline Parallelism for DNN Training</i>, SOSP
 * 2019, doi:10.1145/3341301.3359646, §3.1. A stage of a level is a pipeline of the level below, on
 * all of its units; its table is the next level's computing.
 *
 * <p>Charged as in the authors' program ({@link RowSearch}), whose results agree: 4(r−1)/r where
 * the paper has 2(r−1)/r, computing and exchange added where the paper overlaps them, transfers
 * over the replicas of the later stage, and optional. As there, every unit of every level is used.
 *
 * <p>Exact. With n places and m units per level: O(n²·m²) times the few cuts that {@link RowSearch}
 * looks at, against O(n³·m²), and O(n²) memory; the outermost level costs a factor n less, and a
 * single level needs no table.
 */
public final class PipeDreamOptimizer {
  /** With more places than this the tables between levels would take too much memory. */
  public static final int MOST_PLACES = 5_000;

  private final CutCosts costs;
  private final List<BandwidthLevel> levels;
  private final List<double[]> transfers = new ArrayList<>(); // by level
  private final List<List<StageSeconds>> units =
      new ArrayList<>(); // by level, by stages: computing
  private final boolean charged; // whether activations cost time at the cuts
  private final int count; // stages that are wanted; 0 for any number
  private boolean complete = true;

  private PipeDreamOptimizer(
      CutCosts costs, List<BandwidthLevel> levels, boolean charged, int count) {
    this.charged = charged;
    this.costs = costs;
    this.count = count;
    this.levels = List.copyOf(levels);
    for (BandwidthLevel level : levels) {
      transfers.add(RowSearch.transfers(costs, level, charged));
    }
    units.add(count == 0 ? List.of(costs) : List.of(costs, costs)); // a device has one stage
  }

  /**
   * The best plan for all devices of the levels.
   *
   * <p>When stopped it finishes with the stages that begin where it has been, a grid that becomes
   * finer; all layers on all devices are always among them.
   *
   * @param levels innermost first
   * @param chargeTransfers whether activations cost time at the cuts
   * @param stop asked now and then; once true, always true
   */
  public static PipeDreamPlanning plan(
      CutCosts costs, List<BandwidthLevel> levels, boolean chargeTransfers, BooleanSupplier stop) {
    return new PipeDreamOptimizer(checked(costs, levels), levels, chargeTransfers, 0).run(stop);
  }

  /**
   * The best plan of exactly so many innermost stages; empty where there is none, or the search was
   * stopped before it found one.
   */
  public static Optional<PipeDreamPlanning> plan(
      CutCosts costs,
      List<BandwidthLevel> levels,
      boolean chargeTransfers,
      int stages,
      BooleanSupplier stop) {
    Check.that(stages >= 1, "a plan has stages: stages=%d", stages);
    var search = new PipeDreamOptimizer(checked(costs, levels), levels, chargeTransfers, stages);
    RowSearch top = search.top(stop);
    return Double.isInfinite(top.toTheEnd()) ? Optional.empty() : Optional.of(search.planning(top));
  }

  private static CutCosts checked(CutCosts costs, List<BandwidthLevel> levels) {
    Check.that(!levels.isEmpty(), "devices are on a level: levels=%d", levels.size());
    Check.that(
        levels.size() == 1 || costs.last() <= MOST_PLACES,
        "the network can be cut at %d places, more than the %d that several levels allow; merge layers into blocks, or plan for one level",
        costs.last(),
        MOST_PLACES);
    return costs;
  }

  private PipeDreamPlanning run(BooleanSupplier stop) {
    return planning(top(stop));
  }

  private RowSearch top(BooleanSupplier stop) {
    int outermost = levels.size() - 1;
    for (int level = 0; level < outermost; level++) {
      units.add(tables(level, stop));
    }
    RowSearch top = row(outermost, 0);
    complete &= top.runToTheEnd(stop);
    return top;
  }

  private PipeDreamPlanning planning(RowSearch top) {
    List<LevelStage> pipeline = nodes(levels.size() - 1, top, costs.last(), count);
    List<PipeDreamPlanning.Stage> stages = new Unfolding(costs, levels).stages(pipeline);
    return new PipeDreamPlanning(
        charged,
        top.toTheEnd(),
        stages,
        costs.last(),
        stages.get(0).inFlight(),
        costs.exact(0, costs.last()),
        Bounds.dataParallel(costs, levels),
        Bounds.best(costs, levels),
        PipeDreamBottleneck.of(costs, levels, pipeline),
        runnerUp(top, pipeline.get(pipeline.size() - 1).part().units()),
        complete);
  }

  private RowSearch row(int level, int from) {
    int below = level == 0 ? 1 : levels.get(level - 1).units();
    return new RowSearch(
        costs, units.get(level), count, levels.get(level), below, transfers.get(level), from);
  }

  /** What whole units of a level take, by their innermost stages. */
  private List<StageSeconds> tables(int level, BooleanSupplier stop) {
    int places = costs.last() + 1;
    int most = Math.min(count, (units.get(level).size() - 1) * levels.get(level).units());
    List<LevelTable> tables = new ArrayList<>();
    for (int stages = 0; stages <= most; stages++) {
      tables.add(new LevelTable(count > 0 && stages == 0 ? 1 : places)); // none has no stage
    }
    row(level, 0).run().copyTo(tables);
    for (int stride = Integer.highestOneBit(places); stride >= 1 && complete; stride /= 2) {
      for (int from = stride; from < costs.last() && complete; from += 2 * stride) {
        complete = !stop.getAsBoolean();
        if (complete) {
          row(level, from).run().copyTo(tables);
        }
      }
    }
    tables.subList(Math.min(1, count), tables.size()).forEach(table -> table.finish(places));
    return List.copyOf(tables);
  }

  /** The pipeline of a level, and of what is inside each of its stages. */
  private List<LevelStage> nodes(int level, RowSearch row, int to, int stages) {
    List<LevelStage> nodes = new ArrayList<>();
    for (RowSearch.Part part : row.parts(to, stages)) {
      List<LevelStage> inside =
          level == 0
              ? List.of()
              : nodes(level - 1, row(level - 1, part.from()).run(), part.to(), part.stages());
      nodes.add(
          new LevelStage(
              part,
              units.get(level).get(part.stages()).exact(part.from(), part.to()),
              row.exchange(part),
              row.transfer(part, part.from()),
              row.transfer(part, part.to()),
              inside));
    }
    return nodes;
  }

  private Optional<RunnerUp> runnerUp(RowSearch top, int chosen) {
    Optional<RunnerUp> best = Optional.empty();
    int below = 1;
    for (BandwidthLevel level : levels.subList(0, levels.size() - 1)) {
      below = Math.multiplyExact(below, level.units());
    }
    for (int r = 1; r <= levels.get(levels.size() - 1).units(); r++) {
      double seconds = r == chosen ? Double.POSITIVE_INFINITY : top.bestWithLast(r);
      if (seconds < best.map(RunnerUp::seconds).orElse(Double.POSITIVE_INFINITY)) {
        best = Optional.of(new RunnerUp(r * below, seconds));
      }
    }
    return best;
  }
}
