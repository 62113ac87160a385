package dev.pipewright.bench;

import dev.pipewright.schedule.Chimera;
import dev.pipewright.schedule.DualPipe;
import dev.pipewright.schedule.DualPipeV;
import dev.pipewright.schedule.GPipe;
import dev.pipewright.schedule.Hanayo;
import dev.pipewright.schedule.Interleaved;
import dev.pipewright.schedule.InterleavedZeroBubble;
import dev.pipewright.schedule.LoopedBreadthFirst;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.OneForwardOneBackwardV;
import dev.pipewright.schedule.PipeDream;
import dev.pipewright.schedule.PipeDream2bw;
import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.ZeroBubbleH1;
import dev.pipewright.schedule.ZeroBubbleH2;
import dev.pipewright.schedule.cyclic.Cyclic;
import dev.pipewright.schedule.cyclic.Cyclic.Form;
import dev.pipewright.schedule.cyclic.Cyclic.Rule;
import dev.pipewright.schedule.cyclic.DataParallel;
import dev.pipewright.schedule.cyclic.DataParallel.Reduction;
import dev.pipewright.schedule.periodic.PeriodicPipeline;
import dev.pipewright.schedule.periodic.StageLoad;
import dev.pipewright.schedule.search.AdaptiveV;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.schedule.search.ZeroBubbleAuto;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;

/**
 * A way to make a schedule, by its name on the command line.
 *
 * @param family what is drawn as one line
 * @param maker from ranks and micro-batches; those of workers share the micro-batches out
 */
record Generator(String name, String family, Maker maker) {
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
          new Generator("gpipe", STRAIGHT, GPipe::of),
          new Generator("1f1b", STRAIGHT, OneForwardOneBackward::of),
          new Generator(
              "1f1b-b",
              STRAIGHT,
              (p, m) -> OneForwardOneBackward.of(m, PipelinePolicy.B.inFlight(p, m))),
          new Generator("zb-h1", STRAIGHT, ZeroBubbleH1::of),
          new Generator("zb-h2", STRAIGHT, ZeroBubbleH2::of),
          new Generator("pipedream", STRAIGHT, PipeDream::of),
          new Generator("pipedream-2bw", STRAIGHT, (p, m) -> PipeDream2bw.of(p, p, m / p)),
          new Generator("interleaved", LOOPED, (p, m) -> Interleaved.of(p, 2, m)),
          new Generator("interleaved-zb", LOOPED, (p, m) -> InterleavedZeroBubble.of(p, 2, m)),
          new Generator("looped-bfs", LOOPED, (p, m) -> LoopedBreadthFirst.of(p, 2, m)),
          new Generator("1f1b-v", WAVES, OneForwardOneBackwardV::of),
          new Generator("hanayo", WAVES, (p, m) -> Hanayo.of(p, m, 1)),
          new Generator("dualpipe", BOTH_WAYS, DualPipe::of),
          new Generator("dualpipev", BOTH_WAYS, DualPipeV::of),
          new Generator("chimera", BOTH_WAYS, Chimera::of),
          new Generator(
              "1f1b-star",
              PERIODIC,
              (p, m) -> PeriodicPipeline.star(loads(p), new double[p - 1], Integer.MAX_VALUE, m)),
          new Generator(
              "k-periodic",
              PERIODIC,
              (p, m) ->
                  PeriodicPipeline.dropping(loads(p), new double[p - 1], Integer.MAX_VALUE, m)),
          new Generator(
              "dp", WORKERS, (p, m) -> DataParallel.of(p, p, m / p, Reduction.OVERLAPPED)),
          new Generator("zero-dp", WORKERS, (p, m) -> DataParallel.zero(p, m / p)),
          cyclic(Form.RING, Rule.V1),
          cyclic(Form.RING, Rule.V2),
          cyclic(Form.SINGLE, Rule.V2),
          cyclic(Form.PYRAMID, Rule.V2),
          cyclic(Form.PIPELINE, Rule.V2),
          cyclic(Form.ZERO, Rule.V2));

  /** Those that are searched for given times; here all stages take the same. */
  static final List<Generator> SEARCHED =
      List.of(
          new Generator("zb-auto", "zb-auto", (p, m) -> automatic(m, equal(p))),
          new Generator("zb-v", "zb-v", (p, m) -> v(m, equal(2 * p), AdaptiveV.zeroBubble(p))),
          new Generator("v-half", "v-half", (p, m) -> v(m, equal(2 * p), AdaptiveV.half(p))),
          new Generator("v-min", "v-min", (p, m) -> v(m, equal(2 * p), AdaptiveV.least(p))));

  /** Two of them where no two stages take the same. */
  static final Generator UNEVEN_AUTOMATIC =
      new Generator("zb-auto, stages differ", "zb-auto", (p, m) -> automatic(m, uneven(p)));

  static final Generator UNEVEN_HALF =
      new Generator(
          "v-half, stages differ", "v-half", (p, m) -> v(m, uneven(2 * p), AdaptiveV.half(p)));

  static Generator of(String name) {
    return Stream.concat(RULES.stream(), SEARCHED.stream())
        .filter(one -> one.name.equals(name))
        .findFirst()
        .orElseThrow();
  }

  Schedule make(int ranks, int microBatches) {
    return maker.of(ranks, microBatches);
  }

  private static Generator cyclic(Form form, Rule rule) {
    return new Generator(
        form.label(rule), WORKERS, (p, m) -> new Cyclic(p).schedule(form, rule, m / p));
  }

  private static List<StageLoad> loads(int stages) {
    return Collections.nCopies(stages, new StageLoad(1, 2, 0, 1));
  }

  private static OpTimes equal(int stages) {
    return OpTimes.equal(stages, 1, 1, 1, TRANSFER);
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
