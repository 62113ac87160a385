package dev.pipewright.bench.simulator;

import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.catalog.ScheduleCatalog;
import dev.pipewright.schedule.catalog.ScheduleEntry;
import dev.pipewright.schedule.catalog.ScheduleInput;
import dev.pipewright.schedule.search.AdaptiveV;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.schedule.search.ZeroBubbleAuto;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;

/**
 * A way to make a schedule, by its name on the command line.
 *
 * @param family what is drawn as one line
 * @param maker from ranks and micro-batches; those of workers share the micro-batches out
 */
public record Generator(String name, String family, Maker maker) {
  static final String STRAIGHT = "GPipe, 1F1B, ZB-H, PipeDream";
  static final String LOOPED = "interleaved, looped";
  static final String WAVES = "V and waves";
  static final String BOTH_WAYS = "DualPipe, Chimera";
  static final String PERIODIC = "periodic";
  static final String WORKERS = "data parallel, cyclic";
  static final List<String> FAMILIES =
      List.of(STRAIGHT, LOOPED, WAVES, BOTH_WAYS, PERIODIC, WORKERS);

  private static final double TRANSFER = 0.1; // seconds; a pass takes one

  /** Makes a schedule. */
  interface Maker {
    Schedule of(int ranks, int microBatches);
  }

  /** Those that follow a rule and need no times. */
  static final List<Generator> RULES =
      List.of(
          rule("gpipe", STRAIGHT),
          rule("1f1b", STRAIGHT),
          rule("1f1b-b", STRAIGHT),
          rule("zb-h1", STRAIGHT),
          rule("zb-h2", STRAIGHT),
          rule("pipedream", STRAIGHT),
          rule("pipedream-2bw", STRAIGHT),
          rule("interleaved", LOOPED),
          rule("interleaved-zb", LOOPED),
          rule("looped-bfs", LOOPED),
          rule("1f1b-v", WAVES),
          rule("hanayo", WAVES),
          rule("dualpipe", BOTH_WAYS),
          rule("dualpipev", BOTH_WAYS),
          rule("chimera", BOTH_WAYS),
          rule("1f1b-star", PERIODIC),
          rule("k-periodic", PERIODIC),
          rule("dp", WORKERS),
          rule("zero-dp", WORKERS),
          rule("cyclic-v1", WORKERS),
          rule("cyclic-v2", WORKERS),
          rule("cyclic-v2-single", WORKERS),
          rule("cyclic-v2-pyramid", WORKERS),
          rule("cyclic-v2-pipeline", WORKERS),
          rule("cyclic-v2-zero", WORKERS));

  /** Those that are searched for given times; here all stages take the same. */
  static final List<Generator> SEARCHED =
      List.of(searched("zb-auto"), searched("zb-v"), searched("v-half"), searched("v-min"));

  /** Two of them where no two stages take the same. */
  public static final Generator UNEVEN_AUTOMATIC =
      new Generator("zb-auto, stages differ", "zb-auto", (p, m) -> automatic(m, uneven(p)));

  public static final Generator UNEVEN_HALF =
      new Generator(
          "v-half, stages differ", "v-half", (p, m) -> v(m, uneven(2 * p), AdaptiveV.half(p)));

  public static Generator of(String name) {
    return Stream.concat(RULES.stream(), SEARCHED.stream())
        .filter(one -> one.name.equals(name))
        .findFirst()
        .orElseThrow();
  }

  public Schedule make(int ranks, int microBatches) {
    return maker.of(ranks, microBatches);
  }

  private static Generator rule(String name, String family) {
    return of(name, family, 0);
  }

  private static Generator searched(String name) {
    return of(name, name, TRANSFER);
  }

  /** The catalogue's, of stages that all take the same. */
  private static Generator of(String name, String family, double transfer) {
    ScheduleEntry entry = ScheduleCatalog.find(name).orElseThrow();
    return new Generator(
        name,
        family,
        (ranks, microBatches) ->
            entry.make(new EqualStages(ranks, microBatches, entry.chunks(), transfer)));
  }

  /** Passes of a second each, without a cap on memory. */
  private record EqualStages(int stages, int microBatches, int chunks, double transfer)
      implements ScheduleInput {
    @Override
    public int[] replicasOfStages() {
      int[] none = new int[stages];
      Arrays.fill(none, 1);
      return none;
    }

    @Override
    public OpTimes opTimes(Placement placement) {
      return OpTimes.equal(placement.stages(), 1, 1, 1, transfer);
    }

    @Override
    public double[] caps(int ranks) {
      double[] caps = new double[ranks];
      Arrays.fill(caps, microBatches);
      return caps;
    }
  }

  /** Passes of 1 to 2 seconds. */
  private static OpTimes uneven(int stages) {
    SplittableRandom random = new SplittableRandom(stages);
    double[][] seconds = new double[3][stages];
    for (double[] pass : seconds) {
      Arrays.setAll(pass, stage -> 1 + random.nextDouble());
    }
    return OpTimes.of(seconds[0], seconds[1], seconds[2], TRANSFER);
  }

  private static Schedule automatic(int microBatches, OpTimes times) {
    double[] cap = new double[times.stages()];
    Arrays.fill(cap, microBatches);
    return ZeroBubbleAuto.of(microBatches, times, cap);
  }

  private static Schedule v(int microBatches, OpTimes times, int cap) {
    return AdaptiveV.of(microBatches, times, cap);
  }
}
