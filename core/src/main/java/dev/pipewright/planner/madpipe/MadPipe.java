package dev.pipewright.planner.madpipe;

import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.schedule.periodic.Discipline;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;

/**
 * Plans in which devices may have several stages, each with a pattern that runs within memory.
 *
 * <p>Paper: O. Beaumont, L. Eyraud-Dubois, A. Shilova, <i>MadPipe</i>, hal-03025305, in two phases:
 * allocations for a row of periods ({@link SpecialDevice}, and {@link Packing} where transfers cost
 * little), then patterns for each of them ({@link PatternSearch}; the paper solves an integer
 * program). Layers may run again, which the paper leaves out: those that {@link
 * PatternRecomputation} chooses for each allocation and period. A heuristic: theorem 1 of the
 * Euro-Par paper has even the allocation strongly NP-complete. The period of a plan is its
 * pattern's, never an estimate.
 */
public final class MadPipe {
  /** The planner's name. */
  public static final String NAME = "madpipe";

  private static final int PROBES = 14;
  private static final int PERIODS = 6;
  private static final int[] BLOCKS = {40, 160}; // more layers are taken together

  private final PeriodicProblem problem;
  private final Discipline discipline;
  private final BooleanSupplier stop;
  private final Set<Allocation> seen = new LinkedHashSet<>();
  private Optional<PlacedPattern> best = Optional.empty();
  private double bound;

  private MadPipe(PeriodicProblem problem, Discipline discipline, BooleanSupplier stop) {
    this.problem = problem;
    this.discipline = discipline;
    this.stop = stop;
  }

  /**
   * The best plan found. Where layers may run again, first among plans in which none do, then among
   * those that are faster.
   *
   * @param secondsPerBatch that it has to take less than; no more than all layers in a row is of
   *     use
   * @param stop asked between allocations; true ends the search with what there is
   */
  public static Optional<PlacedPattern> plan(
      PeriodicProblem problem,
      Discipline discipline,
      double secondsPerBatch,
      BooleanSupplier stop) {
    if (problem.devices() < 2 || problem.chain().layers() < 2) {
      return Optional.empty();
    }
    if (problem.recomputation() != Recomputation.SELECTIVE) {
      return search(problem, discipline, secondsPerBatch, stop);
    }
    PeriodicProblem never = problem.recomputing(Recomputation.NEVER);
    Optional<PlacedPattern> kept = search(never, discipline, secondsPerBatch, stop);
    double bound = kept.map(PlacedPattern::secondsPerBatch).orElse(secondsPerBatch);
    return search(problem, discipline, bound, stop).or(() -> kept);
  }

  private static Optional<PlacedPattern> search(
      PeriodicProblem problem,
      Discipline discipline,
      double secondsPerBatch,
      BooleanSupplier stop) {
    LayerChain fine = problem.chain();
    double alone = fine.seconds(0, fine.layers(), problem.recomputation() == Recomputation.ALWAYS);
    MadPipe planner = new MadPipe(problem, discipline, stop);
    planner.bound = Math.min(secondsPerBatch, 2 * alone * discipline.stretch());
    planner.pack();
    int done = 0;
    for (int most : BLOCKS) {
      int[] ends = fine.blocks(most);
      if (ends.length > done) {
        planner.inBlocks(ends);
        done = ends.length;
      }
    }
    return planner.best;
  }

  private void inBlocks(int[] ends) {
    LayerChain coarse = problem.chain().cutOnlyAt(ends);
    MadPipe blocks = new MadPipe(problem.of(coarse), discipline, stop);
    blocks.bound = bound;
    blocks.special();
    best = blocks.best.map(plan -> plan.inLayers(ends)).or(() -> best);
    bound = blocks.bound;
  }

  private double highest() {
    return bound / discipline.stretch();
  }

  private double least() {
    return Math.max(
        PeriodBounds.work(problem).value(),
        PeriodBounds.memory(problem).value() / discipline.stretch());
  }

  private void pack() {
    Packing packing = new Packing(problem, discipline);
    double least = least();
    for (int i = 0; i < PERIODS; i++) {
      double share = (double) i / PERIODS;
      double period = least + (highest() - least) * share * share;
      for (Packing.Order order : Packing.Order.values()) {
        if (period < highest()) {
          packing.allocation(period, order).ifPresent(this::schedule);
        }
      }
    }
  }

  /** Bisects for the shortest period that has an allocation, and schedules all on the way. */
  private void special() {
    SpecialDevice search = new SpecialDevice(problem, discipline);
    double low = least();
    double high = highest();
    double period = low;
    for (int probe = 0; probe < PROBES && period < highest() && !stop.getAsBoolean(); probe++) {
      List<Allocation> allocations = search.allocations(period);
      allocations.forEach(this::schedule);
      if (allocations.isEmpty()) {
        low = period;
      } else {
        high = Math.min(period, highest());
      }
      if (high - low <= 1e-4 * high) {
        break;
      }
      period = (low + high) / 2;
    }
    for (int i = 1; i < PERIODS && !stop.getAsBoolean(); i++) { // what no pattern keeps up with
      double wider = low + (highest() - low) * i / PERIODS;
      search.allocations(wider).forEach(this::schedule);
    }
  }

  private void schedule(Allocation allocation) {
    if (problem.recomputation() == Recomputation.SELECTIVE) {
      relieve(allocation);
    } else {
      pattern(allocation);
    }
  }

  /** For a row of periods, and with room for more batches than those demand. */
  private void relieve(Allocation allocation) {
    double least = allocation.busiest();
    for (int i = 0; i < PERIODS && least < highest(); i++) {
      double share = (double) i / PERIODS;
      double period = least + (highest() - least) * share * share;
      for (int more = 0; more <= 1; more++) {
        PatternRecomputation.of(allocation, discipline, period, more).ifPresent(this::pattern);
      }
    }
  }

  private void pattern(Allocation allocation) {
    boolean allowed = problem.allows(allocation.stages().size());
    if (allowed && seen.add(allocation) && !stop.getAsBoolean()) {
      Optional<PlacedPattern> plan = PatternSearch.plan(allocation, discipline, bound, stop);
      if (plan.isPresent()) {
        best = plan;
        bound = plan.get().secondsPerBatch();
      }
    }
  }
}
