package dev.pipewright.plan;

import dev.pipewright.schedule.PipeDream;
import dev.pipewright.schedule.PipeDream2bw;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.units.Check;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A pipeline that never flushes: consecutive stages, each on its own devices, that update their
 * weights while later micro-batches are under way.
 *
 * @param rule when the weights are updated, and what the devices of a stage share
 * @param microBatches with {@link Rule#PIPEDREAM} those that each device of the first stage has
 *     under way at once; with {@link Rule#TWO_BUFFERS} those of an update, for each copy of the
 *     pipeline
 * @param microBatch samples of one
 * @param replicas copies of the pipeline side by side; 1 with {@link Rule#PIPEDREAM}
 */
public record AsynchronousPlan(
    Rule rule, int microBatches, int microBatch, int replicas, List<StagePlan> stages)
    implements Plan {
  /** When the weights are updated, and what the devices of a stage share. */
  public enum Rule {
    /**
     * An update for every micro-batch, which is a mini-batch; the devices of a stage take them in
     * turn. See {@link PipeDream}.
     */
    PIPEDREAM(PipeDream.NAME),
    /**
     * An update for some micro-batches; each device of a stage belongs to a copy of the pipeline.
     * See {@link PipeDream2bw}.
     */
    TWO_BUFFERS(PipeDream2bw.NAME);

    private final String schedule;

    Rule(String schedule) {
      this.schedule = schedule;
    }

    /** The schedule's name on the command line and in plan files. */
    public String schedule() {
      return schedule;
    }
  }

  public AsynchronousPlan {
    stages = List.copyOf(stages);
    Check.that(
        microBatches >= 1 && microBatch >= 1 && replicas >= 1,
        "counts must be >= 1: micro_batches=%d, micro_batch=%d, replicas=%d",
        microBatches,
        microBatch,
        replicas);
    StageOrder.check(stages);
    int[] inFlight = inFlight(rule, stages);
    for (int stage = 0; stage < inFlight.length; stage++) {
      StagePlan plan = stages.get(stage);
      Check.that(
          plan.recompute() == Recompute.NONE || plan.recompute() == Recompute.STAGE_INPUT,
          "a stage of %s recomputes all its layers or none: stage=%d",
          rule.schedule(),
          stage);
      Check.that(
          plan.inFlight() == inFlight[stage],
          "%s has its own number of micro-batches in flight: stage=%d, in_flight=%d; take %d",
          rule.schedule(),
          stage,
          plan.inFlight(),
          inFlight[stage]);
      Check.that(
          rule == Rule.PIPEDREAM || plan.replicas() == replicas,
          "each copy of the pipeline has a device in each stage: stage=%d, devices=%d, replicas=%d",
          stage,
          plan.replicas(),
          replicas);
    }
    Check.that(
        rule == Rule.TWO_BUFFERS || replicas == 1,
        "%s has replicas of stages, not of the pipeline: replicas=%d; take 1",
        rule.schedule(),
        replicas);
    Check.that(
        rule == Rule.TWO_BUFFERS || microBatches == inFlight[0],
        "%s has so many micro-batches under way as its first stage holds: micro_batches=%d; take %d",
        rule.schedule(),
        microBatches,
        inFlight[0]);
    Check.that(
        rule == Rule.PIPEDREAM || microBatches >= stages.size(),
        "two versions are enough from as many micro-batches as stages on: micro_batches=%d; take %d or more",
        microBatches,
        stages.size());
  }

  /** Micro-batches that a device of each stage holds at once. */
  public static int[] inFlight(Rule rule, List<StagePlan> stages) {
    int[] inFlight = new int[stages.size()];
    int devices = 0; // from the stage on
    for (int stage = inFlight.length - 1; stage >= 0; stage--) {
      int own = stages.get(stage).replicas();
      devices += own;
      inFlight[stage] =
          rule == Rule.PIPEDREAM ? Math.ceilDiv(devices, own) : inFlight.length - stage;
    }
    return inFlight;
  }

  /** What {@link StagePlan#summary} says of each stage. */
  @Override
  public String summary() {
    return stages.stream().map(StagePlan::summary).collect(Collectors.joining(" "));
  }

  /** Samples of an update. */
  public long globalBatch() {
    return rule == Rule.PIPEDREAM
        ? microBatch
        : Math.multiplyExact((long) microBatches * microBatch, replicas);
  }

  /** Layers of the model's chain that the plan covers. */
  public int layers() {
    return stages.get(stages.size() - 1).lastLayer() + 1;
  }

  /** Versions of its weights that each device of a stage keeps, the newest among them. */
  public int versions(int stage) {
    return rule == Rule.PIPEDREAM ? stages.get(stage).inFlight() : 2;
  }

  /**
   * Micro-batches after which everything is as before: until all devices of all stages have had
   * equally many turns, or those of an update. {@link Long#MAX_VALUE} where they are too many to be
   * counted.
   */
  public long round() {
    if (rule == Rule.TWO_BUFFERS) {
      return microBatches;
    }
    long round = 1;
    for (StagePlan stage : stages) {
      long times = stage.replicas() / gcd(round, stage.replicas());
      if (round > Long.MAX_VALUE / times) {
        return Long.MAX_VALUE;
      }
      round *= times;
    }
    return round;
  }

  private static long gcd(long a, long b) {
    return b == 0 ? a : gcd(b, a % b);
  }

  /**
   * The order of work over so many rounds. Ranks are devices, stage by stage; with {@link
   * Rule#TWO_BUFFERS} those of one copy, since all copies do the same.
   */
  public Schedule schedule(int rounds) {
    if (rule == Rule.TWO_BUFFERS) {
      Schedule one = PipeDream2bw.of(stages.size(), microBatches, rounds);
      return replicas == 1 ? one : AsyncPipeline.DoubleBuffered.withSums(one);
    }
    int[] replicas = stages.stream().mapToInt(StagePlan::replicas).toArray();
    return PipeDream.of(Math.toIntExact(Math.multiplyExact(round(), rounds)), replicas);
  }

  /** The device of each rank of {@link #schedule}. */
  public int[] devices() {
    return stages.stream()
        .flatMap(
            stage -> stage.devices().stream().limit(rule == Rule.PIPEDREAM ? Integer.MAX_VALUE : 1))
        .mapToInt(Integer::intValue)
        .toArray();
  }
}
