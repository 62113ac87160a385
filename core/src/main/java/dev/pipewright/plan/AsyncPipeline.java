package dev.pipewright.plan;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.PipeDream;
import dev.pipewright.schedule.PipeDream2bw;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Program;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.cyclic.Cyclic;
import dev.pipewright.schedule.periodic.Pattern;
import dev.pipewright.schedule.periodic.RepeatedOp;
import dev.pipewright.schedule.periodic.StageLoad;
import dev.pipewright.schedule.periodic.UpdatedPattern;
import dev.pipewright.units.Check;
import java.util.Collections;
import java.util.List;

/**
 * Training without pipeline flushes: a stage updates its parameters while later micro-batches are
 * in flight, so each micro-batch uses one parameter version in both of its passes.
 *
 * <p>Micro-batches are counted through all steps; in a schedule of C directions, number {@code m}
 * of direction {@code c} is m · C + c. A version is the number of updates that the parameters have
 * had.
 */
public sealed interface AsyncPipeline {
  /** What the command line calls it. */
  String name();

  /** Stages of a chain. */
  int stages();

  /** Micro-batches of a training step. */
  int microBatches();

  /** Training steps after which all ranks have had equally many turns. */
  int round();

  /**
   * All ops from the first forward pass to the last update.
   *
   * @param steps training steps, a multiple of {@link #round}
   */
  Schedule schedule(int steps);

  /** Micro-batches whose gradients add up to an update of a stage. */
  int perUpdate(int stage);

  /** The version of a stage's parameters that both passes of a micro-batch meet. */
  int version(int stage, int microBatch);

  /** Versions of a stage's parameters that a rank holds at once at most, the newest among them. */
  int versions(int stage);

  /** Whether each stage's states are on one worker at a time, and go from user to user. */
  default boolean inOnePlace() {
    return false;
  }

  /**
   * An update for every micro-batch, which is a training step of its own; the replicas of a stage
   * take them in turn, and average their gradients.
   *
   * @param replicas of each stage
   * @param vertical whether all stages use the version that the first one had (D. Narayanan et al.,
   *     <i>PipeDream</i>, SOSP 2019, §3.3, vertical sync); each uses its newest otherwise
   * @see dev.pipewright.schedule.PipeDream
   */
  record PipeDream(List<Integer> replicas, boolean vertical) implements AsyncPipeline {
    public PipeDream {
      replicas = List.copyOf(replicas);
      int first = replicas.get(0);
      Check.that(
          !vertical || replicas.stream().allMatch(count -> count == first),
          "stages that use one version have equally many replicas: replicas=%s",
          replicas);
    }

    @Override
    public String name() {
      return dev.pipewright.schedule.PipeDream.NAME;
    }

    @Override
    public int stages() {
      return replicas.size();
    }

    @Override
    public int microBatches() {
      return 1;
    }

    @Override
    public int round() {
      return replicas.stream().reduce(1, PipeDream::multiple);
    }

    private static int multiple(int a, int b) {
      int divisor = a;
      for (int rest = b; rest != 0; ) {
        int next = divisor % rest;
        divisor = rest;
        rest = next;
      }
      return Math.multiplyExact(a / divisor, b);
    }

    @Override
    public Schedule schedule(int steps) {
      return dev.pipewright.schedule.PipeDream.of(steps, array());
    }

    private int[] array() {
      return replicas.stream().mapToInt(Integer::intValue).toArray();
    }

    @Override
    public int perUpdate(int stage) {
      return replicas.get(stage);
    }

    @Override
    public int version(int stage, int microBatch) {
      int behind = versions(vertical ? 0 : stage) - 1; // updates that are still under way
      return Math.max(microBatch / replicas.get(stage) - behind, 0);
    }

    @Override
    public int versions(int stage) {
      return dev.pipewright.schedule.PipeDream.versions(array())[vertical ? 0 : stage];
    }
  }

  /** An update for all micro-batches of a step, with gradients at the version before the newest. */
  sealed interface Buffered extends AsyncPipeline {
    @Override
    default int round() {
      return 1;
    }

    @Override
    default int perUpdate(int stage) {
      return microBatches();
    }

    @Override
    default int version(int stage, int microBatch) {
      return PipeDream2bw.version(microBatch, microBatches());
    }

    @Override
    default int versions(int stage) {
      return 2;
    }
  }

  /**
   * One forward, one backward, as PipeDream-2BW has it.
   *
   * @param microBatches of an update
   * @param shared whether the ranks are several workers each, which add up their gradients
   * @see PipeDream2bw
   */
  record DoubleBuffered(int stages, int microBatches, boolean shared) implements Buffered {
    public DoubleBuffered {
      schedule(stages, microBatches, 1); // says what is wrong with them
    }

    @Override
    public String name() {
      return PipeDream2bw.NAME;
    }

    @Override
    public Schedule schedule(int steps) {
      Schedule one = schedule(stages, microBatches, steps);
      return shared ? withSums(one) : one;
    }

    private static Schedule schedule(int stages, int microBatches, int steps) {
      return PipeDream2bw.of(stages, microBatches, steps);
    }

    /** An update waits for the sum of the gradients over all copies of the pipeline. */
    static Schedule withSums(Schedule one) {
      long[][] programs = new long[one.ranks()][];
      for (int rank = 0; rank < programs.length; rank++) {
        Program program = new Program();
        for (long op : one.packed(rank)) {
          if (Schedule.pass(op) == Pass.UPDATE) {
            program.add(Pass.REDUCE, Schedule.stage(op), Schedule.microBatch(op));
          }
          program.add(op);
        }
        programs[rank] = program.packed();
      }
      return new Schedule(one.name(), one.placement(), one.microBatches(), programs);
    }
  }

  /**
   * A pattern of stages of which a rank may have several, repeated for ever (O. Beaumont et al.,
   * <i>Pipelined Model Parallelism</i>, Euro-Par 2021); updates and versions are those of {@link
   * DoubleBuffered}.
   *
   * @param ranks of each stage
   * @param period seconds after which the pattern repeats
   * @param batches of a period, each of which is a micro-batch here
   * @param ops in a period; their starts say in which order they run
   * @param microBatches of an update
   * @see UpdatedPattern
   */
  record Repeated(
      List<Integer> ranks, double period, int batches, List<RepeatedOp> ops, int microBatches)
      implements Buffered {
    public Repeated {
      ranks = List.copyOf(ranks);
      ops = List.copyOf(ops);
      UpdatedPattern.check(pattern(ranks, period, batches, ops), microBatches);
    }

    /** An update behind as few micro-batches as two versions allow. */
    public static Repeated of(
        List<Integer> ranks, double period, int batches, List<RepeatedOp> ops) {
      int least = UpdatedPattern.least(pattern(ranks, period, batches, ops));
      return new Repeated(ranks, period, batches, ops, least);
    }

    private static Pattern pattern(
        List<Integer> ranks, double period, int batches, List<RepeatedOp> ops) {
      int count = ranks.stream().mapToInt(rank -> rank + 1).max().orElse(1);
      int[] rankOf = ranks.stream().mapToInt(Integer::intValue).toArray();
      List<StageLoad> loads = Collections.nCopies(rankOf.length, new StageLoad(0, 0, 0, 0));
      return Pattern.of(Placement.of(count, 1, rankOf), loads, period, batches, ops);
    }

    @Override
    public String name() {
      return "periodic";
    }

    @Override
    public int stages() {
      return ranks.size();
    }

    @Override
    public Schedule schedule(int steps) {
      return UpdatedPattern.of(name(), pattern(ranks, period, batches, ops), microBatches, steps);
    }
  }

  /** Cyclic data parallelism: as many workers, stages and micro-batches of a step. */
  record CyclicDataParallel(Cyclic cyclic, Cyclic.Form form, Cyclic.Rule rule)
      implements AsyncPipeline {
    @Override
    public String name() {
      return form.label(rule);
    }

    @Override
    public int stages() {
      return cyclic.workers();
    }

    @Override
    public int microBatches() {
      return cyclic.workers();
    }

    @Override
    public int round() {
      return 1;
    }

    @Override
    public Schedule schedule(int steps) {
      return cyclic.schedule(form, rule, steps);
    }

    @Override
    public int perUpdate(int stage) {
      return cyclic.workers();
    }

    @Override
    public int version(int stage, int microBatch) {
      int step = microBatch / cyclic.workers();
      int worker = microBatch % cyclic.workers();
      return Math.max(step - cyclic.delay(rule, worker, stage), 0);
    }

    @Override
    public boolean inOnePlace() {
      return form == Cyclic.Form.ZERO;
    }

    /** A worker with a copy of its own updates it when it holds no activations. */
    @Override
    public int versions(int stage) {
      boolean alwaysFresh = cyclic.delay(rule, 0, stage) == 0;
      return switch (form) {
        case RING, PYRAMID -> 1;
        case SINGLE, PIPELINE, ZERO -> alwaysFresh ? 1 : 2;
      };
    }
  }
}
