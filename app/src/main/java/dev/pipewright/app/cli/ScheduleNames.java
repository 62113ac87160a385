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
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.WarmUp;
import dev.pipewright.schedule.ZeroBubbleH1;
import dev.pipewright.schedule.ZeroBubbleH2;
import dev.pipewright.schedule.timed.AdaptiveV;
import dev.pipewright.schedule.timed.OpTimes;
import dev.pipewright.schedule.timed.ZeroBubbleAuto;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Function;

/** The schedules by their names on the command line. */
final class ScheduleNames {
  /**
   * How to make a schedule.
   *
   * @param chunks on each rank when the user does not say
   * @param fixed whether there can be no other number
   */
  record Named(int chunks, boolean fixed, Function<ScheduleRequest, Schedule> generator) {
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

  private static final Map<String, Named> NAMES = new LinkedHashMap<>();

  static {
    fixed("gpipe", 1, r -> GPipe.of(r.stages(), r.microBatches()));
    fixed("1f1b", 1, r -> OneForwardOneBackward.of(r.stages(), r.microBatches()));
    fixed(
        "1f1b-b",
        1,
        r ->
            OneForwardOneBackward.of(
                r.microBatches(), WarmUp.B.inFlight(r.stages(), r.microBatches())));
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
  }

  private ScheduleNames() {}

  private static void fixed(
      String name, int chunks, Function<ScheduleRequest, Schedule> generator) {
    NAMES.put(name, new Named(chunks, true, generator));
  }

  private static void any(String name, int chunks, Function<ScheduleRequest, Schedule> generator) {
    NAMES.put(name, new Named(chunks, false, generator));
  }

  static Set<String> all() {
    return NAMES.keySet();
  }

  /** Throws {@link BadInputException} with the nearest name where there is none such. */
  static Named find(String name) {
    Named named = NAMES.get(name);
    if (named == null) {
      throw new BadInputException(
          "unknown schedule '" + name + "'; " + Suggestion.of(name, NAMES.keySet()));
    }
    return named;
  }

  private static Schedule automatic(ScheduleRequest r) {
    OpTimes times = r.opTimes(Placement.straight(r.stages()));
    int[] cap = new int[r.stages()];
    Arrays.fill(cap, r.chunkCap(r.microBatches()));
    return ZeroBubbleAuto.of(r.microBatches(), times, cap);
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
