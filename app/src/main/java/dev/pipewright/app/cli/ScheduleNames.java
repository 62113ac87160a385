package dev.pipewright.app.cli;

import dev.pipewright.formats.BadInputException;
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
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.ZeroBubbleH1;
import dev.pipewright.schedule.ZeroBubbleH2;
import dev.pipewright.schedule.cyclic.Cyclic;
import dev.pipewright.schedule.cyclic.DataParallel;
import dev.pipewright.schedule.cyclic.DataParallel.Reduction;
import dev.pipewright.schedule.periodic.PeriodicPipeline;
import dev.pipewright.schedule.search.AdaptiveV;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.schedule.search.ZeroBubbleAuto;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Function;
import java.util.function.ToIntFunction;

/** The schedules by their names on the command line. */
final class ScheduleNames {
  /**
   * A schedule and what is known of all others.
   *
   * @param lowerBound that no schedule's makespan is below, where one was searched for
   * @param optimal whether this one's is proven to be that
   */
  record Made(Schedule schedule, OptionalDouble lowerBound, boolean optimal) {
    static Made by(Schedule schedule) {
      return new Made(schedule, OptionalDouble.empty(), false);
    }
  }

  /**
   * How to make a schedule.
   *
   * @param chunks on each rank when the user does not say
   * @param fixed whether there can be no other number
   * @param round micro-batches after which the order of one that never flushes repeats; 0 for one
   *     that does
   */
  record Named(
      int chunks,
      boolean fixed,
      Function<ScheduleRequest, Made> generator,
      ToIntFunction<ScheduleRequest> round) {
    Named(int chunks, boolean fixed, Function<ScheduleRequest, Made> generator) {
      this(chunks, fixed, generator, request -> 0);
    }

    /** The chunks that the user wants, or the usual ones. */
    int chunks(String name, OptionalInt wanted) {
      if (fixed && wanted.isPresent() && wanted.getAsInt() != chunks) {
        throw new BadInputException(
            "--chunks: %s runs %d on each rank, not %d; leave --chunks out"
                .formatted(name, chunks, wanted.getAsInt()));
      }
      return wanted.orElse(chunks);
    }
  }

  /** The one whose stages may have replicas. */
  static final String REPLICATED = "pipedream";

  /** The one that is searched for until time is over. */
  static final String SEARCHED = "optimal";

  private static final Map<String, Named> NAMES = new LinkedHashMap<>();

  /** On another number of ranks than the user's stages, or under another name already. */
  private static final Map<String, Named> FORMS = new LinkedHashMap<>();

  static {
    fixed("gpipe", 1, r -> GPipe.of(r.stages(), r.microBatches()));
    fixed("1f1b", 1, r -> OneForwardOneBackward.of(r.stages(), r.microBatches()));
    fixed(
        "1f1b-b",
        1,
        r ->
            OneForwardOneBackward.of(
                r.microBatches(), PipelinePolicy.B.inFlight(r.stages(), r.microBatches())));
    any("interleaved", 2, r -> Interleaved.of(r.stages(), r.chunks(), r.microBatches()));
    any(
        "interleaved-zb",
        2,
        r -> InterleavedZeroBubble.of(r.stages(), r.chunks(), r.microBatches()));
    any("looped-bfs", 2, r -> LoopedBreadthFirst.of(r.stages(), r.chunks(), r.microBatches()));
    fixed("1f1b-v", 2, r -> OneForwardOneBackwardV.of(r.stages(), r.microBatches()));
    fixed("zb-h1", 1, r -> ZeroBubbleH1.of(r.stages(), r.microBatches()));
    fixed("zb-h2", 1, r -> ZeroBubbleH2.of(r.stages(), r.microBatches()));
    fixed("zb-auto", 1, ScheduleNames::automatic);
    fixed("zb-v", 2, r -> v(r, AdaptiveV.zeroBubble(r.stages())));
    fixed("v-half", 2, r -> v(r, AdaptiveV.half(r.stages())));
    fixed("v-min", 2, r -> v(r, AdaptiveV.least(r.stages())));
    fixed("dualpipe", 1, r -> DualPipe.of(r.stages(), r.microBatches()));
    fixed("dualpipev", 2, r -> DualPipeV.of(r.stages(), r.microBatches()));
    fixed("chimera", 1, r -> Chimera.of(r.stages(), r.microBatches()));
    any("hanayo", 2, ScheduleNames::waves);
    asynchronous("1f1b-star", r -> 1, ScheduleNames::star);
    asynchronous("k-periodic", r -> 1, ScheduleNames::dropping);
    asynchronous(
        REPLICATED,
        r -> r.replicas().round(),
        r -> PipeDream.of(r.microBatches(), r.replicas().array()));
    asynchronous("pipedream-2bw", ScheduleRequest::stages, ScheduleNames::twoBuffers);
    fixed("dp", 1, r -> inStep(r, "dp"));
    fixed("zero-dp", 1, r -> DataParallel.zero(r.stages(), steps("zero-dp", r)));
    cyclic(NAMES, Cyclic.Form.RING);
    asynchronous(
        "cyclic-zero-dp",
        ScheduleRequest::stages,
        r -> cyclic(r, "cyclic-zero-dp", Cyclic.Form.ZERO, Cyclic.Rule.V2));
    NAMES.put(SEARCHED, new Named(1, true, SolvedSchedule::of));
    cyclic(FORMS, Cyclic.Form.SINGLE);
    cyclic(FORMS, Cyclic.Form.PYRAMID);
    cyclic(FORMS, Cyclic.Form.PIPELINE);
    cyclic(FORMS, Cyclic.Form.ZERO);
  }

  private ScheduleNames() {}

  private static void fixed(
      String name, int chunks, Function<ScheduleRequest, Schedule> generator) {
    NAMES.put(name, new Named(chunks, true, generator.andThen(Made::by)));
  }

  /** One that never flushes. */
  private static void asynchronous(
      String name,
      ToIntFunction<ScheduleRequest> round,
      Function<ScheduleRequest, Schedule> generator) {
    NAMES.put(name, new Named(1, true, generator.andThen(Made::by), round));
  }

  private static void any(String name, int chunks, Function<ScheduleRequest, Schedule> generator) {
    NAMES.put(name, new Named(chunks, false, generator.andThen(Made::by)));
  }

  /** Both rules of cyclic data parallelism in one form. */
  private static void cyclic(Map<String, Named> names, Cyclic.Form form) {
    for (Cyclic.Rule rule : Cyclic.Rule.values()) {
      String name = form.label(rule);
      names.put(
          name,
          new Named(1, true, r -> Made.by(cyclic(r, name, form, rule)), ScheduleRequest::stages));
    }
  }

  /** Those with a rank for each of the user's stages. */
  static Set<String> all() {
    return Collections.unmodifiableSet(NAMES.keySet());
  }

  /** Further forms of cyclic data parallelism, on fewer or more ranks. */
  static Set<String> forms() {
    return Collections.unmodifiableSet(FORMS.keySet());
  }

  static boolean isKnown(String name) {
    return NAMES.containsKey(name) || FORMS.containsKey(name);
  }

  /** Throws {@link BadInputException} with the nearest name where there is none such. */
  static Named find(String name) {
    Named named = NAMES.getOrDefault(name, FORMS.get(name));
    if (named == null) {
      List<String> known = new ArrayList<>(NAMES.keySet());
      known.addAll(FORMS.keySet());
      throw new BadInputException("unknown schedule '" + name + "'; " + Suggestion.of(name, known));
    }
    return named;
  }

  /** The shortest period in which no stage holds more than the cap. */
  private static Schedule star(ScheduleRequest r) {
    double[] cuts = r.times().cuts(r.stages());
    return PeriodicPipeline.star(
        r.stageLoads(), cuts, r.chunkCap(Integer.MAX_VALUE), r.microBatches());
  }

  /** Without a cap it drops as few batches as saves an activation. */
  private static Schedule dropping(ScheduleRequest r) {
    double[] cuts = r.times().cuts(r.stages());
    return PeriodicPipeline.dropping(
        r.stageLoads(), cuts, r.chunkCap(Integer.MAX_VALUE), r.microBatches());
  }

  /** As many micro-batches to an update as there are stages, the fewest that it allows. */
  private static Schedule twoBuffers(ScheduleRequest r) {
    int updates = r.microBatches() / r.stages();
    if (r.microBatches() % r.stages() != 0 || updates < 2) {
      throw new BadInputException(
          ("--micro-batches: pipedream-2bw updates after every %d micro-batches, one per stage,"
                  + " twice at least, so %d are refused; take %d")
              .formatted(r.stages(), r.microBatches(), Math.max(2L * r.stages(), fullSteps(r))));
    }
    return PipeDream2bw.of(r.stages(), r.stages(), updates);
  }

  private static Schedule inStep(ScheduleRequest r, String name) {
    return DataParallel.of(r.stages(), r.stages(), steps(name, r), Reduction.OVERLAPPED);
  }

  private static Schedule cyclic(
      ScheduleRequest r, String name, Cyclic.Form form, Cyclic.Rule rule) {
    return new Cyclic(r.stages()).schedule(form, rule, steps(name, r));
  }

  /** Training steps of as many workers as stages. */
  private static int steps(String name, ScheduleRequest r) {
    if (r.microBatches() % r.stages() != 0) {
      throw new BadInputException(
          ("--micro-batches: %s has a worker for each of %d stages, which take one micro-batch"
                  + " each in a step, so %d are refused; take %d")
              .formatted(name, r.stages(), r.microBatches(), fullSteps(r)));
    }
    return r.microBatches() / r.stages();
  }

  /** The next number of micro-batches that every worker has its share of. */
  private static long fullSteps(ScheduleRequest r) {
    return (r.microBatches() + r.stages() - 1L) / r.stages() * r.stages();
  }

  private static Schedule automatic(ScheduleRequest r) {
    OpTimes times = r.opTimes(Placement.straight(r.stages()));
    return ZeroBubbleAuto.of(r.microBatches(), times, r.caps(r.stages()));
  }

  /** The best V within a cap in activations of a chunk, the user's own if that is less. */
  private static Schedule v(ScheduleRequest r, int cap) {
    OpTimes times = r.opTimes(Placement.waves(r.stages(), 2));
    return AdaptiveV.of(r.microBatches(), times, r.chunkCap(cap));
  }

  private static Schedule waves(ScheduleRequest r) {
    if (r.chunks() % 2 == 1) {
      throw new BadInputException(
          ("--chunks: hanayo runs there and back, 2 on each rank for a wave, not %d;"
                  + " take an even number")
              .formatted(r.chunks()));
    }
    return Hanayo.of(r.stages(), r.microBatches(), r.chunks() / 2);
  }
}
