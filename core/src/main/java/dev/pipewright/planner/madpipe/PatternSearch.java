package dev.pipewright.planner.madpipe;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.periodic.Discipline;
import dev.pipewright.schedule.periodic.Pattern;
import dev.pipewright.schedule.periodic.PatternCheck;
import dev.pipewright.schedule.periodic.RepeatedOp;
import dev.pipewright.schedule.periodic.StageLoad;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * A short pattern for stages that are on devices already, several on some, within memory: a beam
 * search, since the problem is strongly NP-complete.
 *
 * <p>Paper: O. Beaumont et al., <i>Pipelined Model Parallelism</i>, Euro-Par 2021, §4.2, theorem 2.
 * For one period: from the last stage on, each stage's forward pass is put as late before the next
 * stage's as its device is free, its backward pass as early behind, or next to what the device does
 * already, so that the device's free time stays in one piece. What the stage then holds follows,
 * and drafts that exceed memory are dropped. With one stage per device this holds no more than
 * 1F1B*: both start every forward pass the same time before the next, and none of the backward
 * passes later. Periods are tried from the least on; {@link Tightening} then shortens what is found
 * as far as its orders allow. What is returned has passed {@link PatternCheck} and fits into
 * memory.
 */
final class PatternSearch {
  private static final int BEAM = 32;
  private static final int CANDIDATES = 4;
  private static final int PERIODS = 16;

  private final Ops ops;
  private final Discipline discipline;
  private final double capacity;

  private PatternSearch(Allocation allocation, Discipline discipline) {
    ops = new Ops(allocation);
    this.discipline = discipline;
    capacity = allocation.problem().capacityBytes();
  }

  /** A draft with what decides which ones are kept. */
  private record Scored(Draft draft, double[] bytes, double span, int pieces) {}

  /** The plan, if one with less than so many seconds per batch is found. */
  static Optional<PlacedPattern> plan(
      Allocation allocation, Discipline discipline, double secondsPerBatch, BooleanSupplier stop) {
    double low = allocation.leastPeriod(discipline);
    double inARow = allocation.loads().stream().mapToDouble(StageLoad::seconds).sum();
    double high = Math.min(2 * inARow, secondsPerBatch / discipline.stretch());
    if (low >= high) {
      return Optional.empty();
    }
    PatternSearch search = new PatternSearch(allocation, discipline);
    Optional<PlacedPattern> best = Optional.empty();
    for (int i = 0; i < PERIODS && best.isEmpty() && !stop.getAsBoolean(); i++) {
      double share = (double) i / PERIODS;
      best = search.at(low + (high - low) * share * share);
    }
    return best.filter(plan -> plan.secondsPerBatch() < secondsPerBatch);
  }

  private Optional<PlacedPattern> at(double period) {
    double[] state = new double[ops.allocation().problem().devices()];
    for (int stage = 0; stage < ops.stages(); stage += 2) {
      state[ops.rank(stage)] += ops.allocation().loads().get(stage).stateBytes();
    }
    List<Scored> beam = List.of(new Scored(new Draft(ops, period), state, 0, 0));
    for (int stage = ops.stages() - 1; stage >= 0 && !beam.isEmpty(); stage--) {
      List<Scored> next = new ArrayList<>();
      for (Scored one : beam) {
        extend(one, stage, next);
      }
      beam = best(next);
    }
    for (Scored one : beam) {
      Optional<PlacedPattern> plan = plan(one.draft(), period);
      if (plan.isPresent()) {
        return plan;
      }
    }
    return Optional.empty();
  }

  private void extend(Scored one, int stage, List<Scored> next) {
    Draft draft = one.draft();
    boolean last = stage == ops.stages() - 1;
    int most = ops.shared(stage) ? CANDIDATES : 1;
    int back = ops.back(stage);
    double before = (last ? 0 : draft.start(stage + 1)) - ops.seconds(stage);
    double behind = last ? 0 : draft.end(back - 1);
    for (double forward : draft.candidates(stage, before, false, last ? 1 : most)) {
      if (Double.isNaN(forward)) {
        continue;
      }
      Draft half = draft.with(stage, forward);
      for (double backward : half.candidates(back, behind, true, most)) {
        if (!Double.isNaN(backward)) {
          add(one, half.with(back, backward), stage, next);
        }
      }
    }
  }

  private void add(Scored before, Draft draft, int stage, List<Scored> next) {
    double[] bytes = before.bytes();
    if (stage % 2 == 0) {
      StageLoad load = ops.allocation().loads().get(stage);
      int device = ops.rank(stage);
      int held = discipline.held(draft.held(stage), 0);
      bytes = bytes.clone();
      bytes[device] += held * load.activationBytes();
      if (bytes[device] > capacity) {
        return;
      }
    }
    int pieces = ops.shared(stage) ? draft.pieces(stage, ops.longestBefore(stage)) : 0;
    if (pieces < Integer.MAX_VALUE) {
      double span = draft.end(ops.back(stage)) - draft.start(stage);
      next.add(new Scored(draft, bytes, span, before.pieces() + pieces));
    }
  }

  /** Half of the beam for what holds batches shortest, half for what leaves time in few pieces. */
  private static List<Scored> best(List<Scored> all) {
    if (all.size() <= BEAM) {
      return all;
    }
    List<Scored> left = new ArrayList<>(all);
    left.sort(Comparator.comparingDouble(Scored::span).thenComparingInt(Scored::pieces));
    List<Scored> kept = new ArrayList<>(left.subList(0, BEAM / 2));
    left = new ArrayList<>(left.subList(BEAM / 2, left.size()));
    left.sort(Comparator.comparingInt(Scored::pieces).thenComparingDouble(Scored::span));
    kept.addAll(left.subList(0, Math.min(left.size(), BEAM - kept.size())));
    return kept;
  }

  private Optional<PlacedPattern> plan(Draft draft, double period) {
    Tightening.Tight tight = Tightening.of(ops, draft.starts(), period);
    for (Tightening.Tight one : List.of(tight, new Tightening.Tight(period, draft.starts()))) {
      PlacedPattern plan = new PlacedPattern(discipline, ops.allocation().stages(), pattern(one));
      double[] bytes = plan.bytes(ops.allocation().problem().devices());
      if (PatternCheck.check(plan.pattern()).isEmpty()
          && Arrays.stream(bytes).allMatch(sum -> sum <= capacity)) {
        return Optional.of(plan);
      }
    }
    return Optional.empty();
  }

  private Pattern pattern(Tightening.Tight tight) {
    int kept = discipline instanceof Discipline.Dropping dropping ? dropping.batches() : 1;
    double once = tight.period();
    double period = discipline instanceof Discipline.Dropping ? (kept + 1) * once : once;
    List<RepeatedOp> repeated = new ArrayList<>();
    for (int link = 0; link < ops.links(); link++) {
      Pass pass = link < ops.stages() ? Pass.FORWARD : Pass.BACKWARD;
      for (int batch = 0; batch < kept; batch++) {
        double start = tight.starts()[link] + batch * once;
        repeated.add(RepeatedOp.at(pass, ops.stage(link), batch, start, period, kept));
      }
    }
    Allocation allocation = ops.allocation();
    return Pattern.of(allocation.placement(), allocation.loads(), period, kept, repeated);
  }
}
