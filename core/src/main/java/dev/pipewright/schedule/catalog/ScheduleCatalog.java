package dev.pipewright.schedule.catalog;

import static dev.pipewright.schedule.catalog.UpdateSemantics.CYCLIC;
import static dev.pipewright.schedule.catalog.UpdateSemantics.DOUBLE_BUFFERED;
import static dev.pipewright.schedule.catalog.UpdateSemantics.PERIODIC;
import static dev.pipewright.schedule.catalog.UpdateSemantics.STASHED;

import dev.pipewright.schedule.Chimera;
import dev.pipewright.schedule.DualPipe;
import dev.pipewright.schedule.DualPipeV;
import dev.pipewright.schedule.GPipe;
import dev.pipewright.schedule.Gems;
import dev.pipewright.schedule.Hanayo;
import dev.pipewright.schedule.Interleaved;
import dev.pipewright.schedule.InterleavedZeroBubble;
import dev.pipewright.schedule.LoopedBreadthFirst;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.OneForwardOneBackwardV;
import dev.pipewright.schedule.PipeDream;
import dev.pipewright.schedule.PipeDream2bw;
import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.ZeroBubbleH1;
import dev.pipewright.schedule.ZeroBubbleH2;
import dev.pipewright.schedule.catalog.UnsuitableException.Parameter;
import dev.pipewright.schedule.cyclic.Cyclic;
import dev.pipewright.schedule.cyclic.DataParallel;
import dev.pipewright.schedule.cyclic.DataParallel.Reduction;
import dev.pipewright.schedule.periodic.PeriodicPipeline;
import dev.pipewright.schedule.search.AdaptiveV;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.schedule.search.ZeroBubbleAuto;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.IntUnaryOperator;

/** All schedules that follow from a rule or a fast search, in the order of the help text. */
public final class ScheduleCatalog {
  private static final List<ScheduleEntry> ENTRIES = new ArrayList<>();

  private static final String DAPPLE = "S. Fan et al., DAPPLE, PPoPP 2021";
  private static final String MEGATRON = "D. Narayanan et al., Megatron-LM, SC 2021";
  private static final String ZERO_BUBBLE = "P. Qi et al., Zero Bubble, ICLR 2024";
  private static final String CONTROLLABLE = "P. Qi et al., Controllable Memory, NeurIPS 2024";
  private static final String PERIODIC_PATTERNS = "O. Beaumont et al., Euro-Par 2021";
  private static final String CDP = "L. Fournier, E. Oyallon, Cyclic Data Parallelism, 2024";

  static {
    add(
        ScheduleEntry.of(
                "gpipe",
                1,
                "Y. Huang et al., GPipe, NeurIPS 2019",
                r -> GPipe.of(r.stages(), r.microBatches()))
            .with(GPipe.BUBBLE));
    add(
        ScheduleEntry.of(
                "1f1b", 1, DAPPLE, r -> OneForwardOneBackward.of(r.stages(), r.microBatches()))
            .with(OneForwardOneBackward.BUBBLE));
    add(
        ScheduleEntry.of("1f1b-b", 1, DAPPLE, ScheduleCatalog::policyB)
            .with(OneForwardOneBackward.BUBBLE));
    add(
        ScheduleEntry.of(
                Interleaved.NAME,
                2,
                MEGATRON,
                r -> Interleaved.of(r.stages(), r.chunks(), r.microBatches()))
            .withAnyChunks()
            .with(Interleaved.BUBBLE));
    add(
        ScheduleEntry.of(
                InterleavedZeroBubble.NAME,
                2,
                ZERO_BUBBLE,
                r -> InterleavedZeroBubble.of(r.stages(), r.chunks(), r.microBatches()))
            .withAnyChunks()
            .with(InterleavedZeroBubble.BUBBLE));
    add(
        ScheduleEntry.of(
                LoopedBreadthFirst.NAME,
                2,
                "J. Lamy-Poirier, Breadth-First, MLSys 2023",
                r -> LoopedBreadthFirst.of(r.stages(), r.chunks(), r.microBatches()))
            .withAnyChunks()
            .with(LoopedBreadthFirst.BUBBLE));
    add(
        ScheduleEntry.of(
            "1f1b-v",
            2,
            CONTROLLABLE,
            r -> OneForwardOneBackwardV.of(r.stages(), r.microBatches())));
    add(
        ScheduleEntry.of(
                "zb-h1", 1, ZERO_BUBBLE, r -> ZeroBubbleH1.of(r.stages(), r.microBatches()))
            .with(ZeroBubbleH1.BUBBLE));
    add(
        ScheduleEntry.of(
                "zb-h2", 1, ZERO_BUBBLE, r -> ZeroBubbleH2.of(r.stages(), r.microBatches()))
            .with(ZeroBubbleH2.BUBBLE));
    add(ScheduleEntry.of("zb-auto", 1, ZERO_BUBBLE, ScheduleCatalog::automatic).forDurations());
    v("zb-v", ZERO_BUBBLE, AdaptiveV::zeroBubble);
    v("v-half", CONTROLLABLE, AdaptiveV::half);
    v("v-min", CONTROLLABLE, AdaptiveV::least);
    add(
        ScheduleEntry.of(
                "dualpipe",
                1,
                "DeepSeek-AI, DeepSeek-V3, 2024",
                r -> DualPipe.of(r.stages(), r.microBatches()))
            .forCounts(CountRule.EVEN_FROM_TWICE)
            .with(DualPipe.BUBBLE));
    add(
        ScheduleEntry.of(
                DualPipeV.NAME,
                2,
                "Sea AI Lab, Cut-in-half, 2025",
                r -> DualPipeV.of(r.stages(), r.microBatches()))
            .forCounts(CountRule.TWICE_THE_RANKS)
            .with(DualPipeV.BUBBLE));
    add(
        ScheduleEntry.of(
                "gems",
                1,
                "A. Jain et al., GEMS, SC 2020",
                r -> Gems.of(r.stages(), r.microBatches()))
            .forCounts(CountRule.EVEN_MICRO_BATCHES)
            .with(Gems.BUBBLE));
    add(
        ScheduleEntry.of(
                "chimera",
                1,
                "S. Li, T. Hoefler, Chimera, SC 2021",
                r -> Chimera.of(r.stages(), r.microBatches()))
            .forCounts(CountRule.EVEN_RANKS_MULTIPLES)
            .with(Chimera.BUBBLE));
    add(
        ScheduleEntry.of("hanayo", 2, "Z. Liu et al., Hanayo, SC 2023", ScheduleCatalog::waves)
            .withAnyChunks()
            .with(Hanayo.BUBBLE));
    add(
        ScheduleEntry.asynchronous(
                "1f1b-star", PERIODIC_PATTERNS, PERIODIC, r -> 1, ScheduleCatalog::star)
            .forDurations());
    add(
        ScheduleEntry.asynchronous(
                "k-periodic", PERIODIC_PATTERNS, PERIODIC, r -> 1, ScheduleCatalog::dropping)
            .forDurations());
    add(
        ScheduleEntry.asynchronous(
            PipeDream.NAME,
            "D. Narayanan et al., PipeDream, SOSP 2019",
            STASHED,
            ScheduleInput::round,
            r -> PipeDream.of(r.microBatches(), r.replicasOfStages())));
    add(
        ScheduleEntry.asynchronous(
                PipeDream2bw.NAME,
                "D. Narayanan et al., PipeDream-2BW, ICML 2021",
                DOUBLE_BUFFERED,
                ScheduleInput::stages,
                ScheduleCatalog::twoBuffers)
            .forCounts(CountRule.MULTIPLES_FROM_TWICE));
    add(
        ScheduleEntry.replicated("dp", "synchronous data parallelism", r -> inStep(r, "dp"))
            .forCounts(CountRule.MULTIPLES));
    add(
        ScheduleEntry.replicated(
                "zero-dp",
                "S. Rajbhandari et al., ZeRO, SC 2020",
                r -> DataParallel.zero(r.stages(), steps("zero-dp", r)))
            .forCounts(CountRule.MULTIPLES));
    cyclic(Cyclic.Form.RING);
    add(
        ScheduleEntry.asynchronous(
                "cyclic-zero-dp",
                CDP,
                CYCLIC,
                ScheduleInput::stages,
                r -> cyclic(r, "cyclic-zero-dp", Cyclic.Form.ZERO, Cyclic.Rule.V2))
            .forCounts(CountRule.MULTIPLES));
    cyclic(Cyclic.Form.SINGLE);
    cyclic(Cyclic.Form.PYRAMID);
    cyclic(Cyclic.Form.PIPELINE);
    cyclic(Cyclic.Form.ZERO);
  }

  private ScheduleCatalog() {}

  private static void add(ScheduleEntry entry) {
    ENTRIES.add(entry);
  }

  /** A V within a cap that follows from the ranks. */
  private static void v(String name, String paper, IntUnaryOperator cap) {
    add(
        ScheduleEntry.of(name, 2, paper, r -> v(r, cap.applyAsInt(r.stages())))
            .forDurations()
            .forCounts(CountRule.TWO_RANKS));
  }

  /** Both rules of cyclic data parallelism in one form. */
  private static void cyclic(Cyclic.Form form) {
    for (Cyclic.Rule rule : Cyclic.Rule.values()) {
      String name = form.label(rule);
      ScheduleEntry entry =
          ScheduleEntry.asynchronous(
                  name, CDP, CYCLIC, ScheduleInput::stages, r -> cyclic(r, name, form, rule))
              .forCounts(CountRule.MULTIPLES);
      add(form == Cyclic.Form.RING ? entry : entry.onOtherRanks());
    }
  }

  public static List<ScheduleEntry> entries() {
    return List.copyOf(ENTRIES);
  }

  /**
   * The schedule of which one is a form that takes more time and less memory (P. Qi et al.,
   * <i>Pipeline parallelism with controllable memory</i>, NeurIPS 2024); empty for others.
   */
  public static Optional<String> roomierForm(String name) {
    return name.equals("v-half") || name.equals("v-min") ? Optional.of("zb-v") : Optional.empty();
  }

  /** The schedule of a name; empty where there is none. */
  public static Optional<ScheduleEntry> find(String name) {
    return ENTRIES.stream().filter(entry -> entry.name().equals(name)).findFirst();
  }

  private static Schedule policyB(ScheduleInput r) {
    return OneForwardOneBackward.of(
        r.microBatches(), PipelinePolicy.B.inFlight(r.stages(), r.microBatches()));
  }

  /** The shortest period in which no stage holds more than the cap. */
  private static Schedule star(ScheduleInput r) {
    return PeriodicPipeline.star(
        r.stageLoads(), r.cuts(), r.chunkCap(Integer.MAX_VALUE), r.microBatches());
  }

  /** Without a cap it drops as few batches as saves an activation. */
  private static Schedule dropping(ScheduleInput r) {
    return PeriodicPipeline.dropping(
        r.stageLoads(), r.cuts(), r.chunkCap(Integer.MAX_VALUE), r.microBatches());
  }

  /** As many micro-batches to an update as there are stages, the fewest that it allows. */
  private static Schedule twoBuffers(ScheduleInput r) {
    int updates = r.microBatches() / r.stages();
    if (r.microBatches() % r.stages() != 0 || updates < 2) {
      throw new UnsuitableException(
          Parameter.MICRO_BATCHES,
          ("pipedream-2bw updates after every %d micro-batches, one per stage, twice at least, so"
                  + " %d are refused; take %d")
              .formatted(r.stages(), r.microBatches(), Math.max(2L * r.stages(), fullSteps(r))));
    }
    return PipeDream2bw.of(r.stages(), r.stages(), updates);
  }

  private static Schedule inStep(ScheduleInput r, String name) {
    return DataParallel.of(r.stages(), r.stages(), steps(name, r), Reduction.OVERLAPPED);
  }

  private static Schedule cyclic(ScheduleInput r, String name, Cyclic.Form form, Cyclic.Rule rule) {
    return new Cyclic(r.stages()).schedule(form, rule, steps(name, r));
  }

  /** Training steps of as many workers as stages. */
  private static int steps(String name, ScheduleInput r) {
    if (r.microBatches() % r.stages() != 0) {
      throw new UnsuitableException(
          Parameter.MICRO_BATCHES,
          ("%s has a worker for each of %d stages, which take one micro-batch each in a step, so"
                  + " %d are refused; take %d")
              .formatted(name, r.stages(), r.microBatches(), fullSteps(r)));
    }
    return r.microBatches() / r.stages();
  }

  /** The next number of micro-batches that every worker has its share of. */
  private static long fullSteps(ScheduleInput r) {
    return (r.microBatches() + r.stages() - 1L) / r.stages() * r.stages();
  }

  private static Schedule automatic(ScheduleInput r) {
    OpTimes times = r.opTimes(Placement.straight(r.stages()));
    double[] caps = r.caps(r.stages());
    List<Double> room = Arrays.stream(caps).boxed().toList();
    return r.searched(
        List.of(ZeroBubbleAuto.class, r.microBatches(), room, times.passes()),
        () -> ZeroBubbleAuto.search(r.microBatches(), times, caps, 1));
  }

  /** The best V within a cap in activations of a chunk, the user's own if that is less. */
  private static Schedule v(ScheduleInput r, int cap) {
    OpTimes times = r.opTimes(Placement.waves(r.stages(), 2));
    int most = r.chunkCap(cap);
    return r.searched(
        List.of(AdaptiveV.class, r.microBatches(), most, times.passes()),
        () -> AdaptiveV.search(r.microBatches(), times, most));
  }

  private static Schedule waves(ScheduleInput r) {
    if (r.chunks() % 2 == 1) {
      throw new UnsuitableException(
          Parameter.CHUNKS,
          "hanayo runs there and back, 2 on each rank for a wave, not %d; take an even number"
              .formatted(r.chunks()));
    }
    return Hanayo.of(r.stages(), r.microBatches(), r.chunks() / 2);
  }
}
