package dev.pipewright.execution;

import dev.pipewright.model.Optimizer;
import dev.pipewright.units.Check;
import java.util.List;
import java.util.OptionalInt;

/**
 * What to measure.
 *
 * @param model a name of the zoo or a file
 * @param sequence tokens of a sample; the network's usual ones where empty
 * @param data which samples are read, such as {@code synthetic:images}
 * @param batches sizes of micro-batches, ascending
 * @param repeats of each measurement, behind the warm-up
 * @param workers that compute while one of them measures: as many as will train on the machine
 * @param threads that each worker computes with
 * @param optimizer whose step is measured
 * @param groups numbers of worker processes between which links are measured; empty for none
 * @param largestMessage bytes of the largest message between them
 * @param memoryDevices how many workers measure peaks of layers by mCAP's protocol, if any
 * @param processorTime whether the processor's time counts instead of the clock's, which other
 *     programs lengthen; for one thread only
 * @param command how the user would ask for the same, for the provenance
 */
public record ProfilingRequest(
    String model,
    OptionalInt sequence,
    String data,
    List<Integer> batches,
    int repeats,
    int workers,
    int threads,
    Optimizer optimizer,
    List<Integer> groups,
    long largestMessage,
    OptionalInt memoryDevices,
    boolean processorTime,
    String command) {
  public ProfilingRequest {
    batches = List.copyOf(batches);
    groups = List.copyOf(groups);
    Check.that(!batches.isEmpty(), "a profile is for a batch or more: batches=%s", batches);
    Check.that(repeats >= 1, "a measurement is made once or more: repeats=%d", repeats);
    Check.that(workers >= 1, "a worker or more measures: workers=%d", workers);
    Check.that(threads >= 1, "a worker computes with a thread or more: threads=%d", threads);
    Check.that(
        !processorTime || threads == 1,
        "the processor's time is counted for one thread: threads=%d",
        threads);
    for (int i = 0; i < batches.size(); i++) {
      Check.that(
          batches.get(i) > (i == 0 ? 0 : batches.get(i - 1)),
          "batches are positive and ascending: batches=%s",
          batches);
    }
    for (int group : groups) {
      Check.that(group >= 2, "a link joins two workers or more: workers=%d", group);
    }
  }
}
