package dev.pipewright.plan;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.plan.AsynchronousPlan.Rule;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.PipeDream;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.check.Validator;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class AsynchronousPlanTest {
  /** One layer each, on so many devices each. */
  private static List<StagePlan> stages(Rule rule, int... replicas) {
    List<StagePlan> bare = new ArrayList<>();
    int device = 0;
    for (int s = 0; s < replicas.length; s++) {
      List<Integer> devices = IntStream.range(device, device + replicas[s]).boxed().toList();
      bare.add(new StagePlan(s, s, devices, Recompute.NONE, 1));
      device += replicas[s];
    }
    int[] inFlight = AsynchronousPlan.inFlight(rule, bare);
    return IntStream.range(0, replicas.length)
        .mapToObj(s -> new StagePlan(s, s, bare.get(s).devices(), Recompute.NONE, inFlight[s]))
        .toList();
  }

  private static AsynchronousPlan pipeDream(int... replicas) {
    List<StagePlan> stages = stages(Rule.PIPEDREAM, replicas);
    return new AsynchronousPlan(Rule.PIPEDREAM, stages.get(0).inFlight(), 8, 1, stages);
  }

  private static AsynchronousPlan twoBuffers(int depth, int width, int microBatches) {
    int[] replicas = new int[depth];
    Arrays.fill(replicas, width);
    return new AsynchronousPlan(
        Rule.TWO_BUFFERS, microBatches, 8, width, stages(Rule.TWO_BUFFERS, replicas));
  }

  @RepeatedTest(value = 60, name = "seed {currentRepetition}")
  void everyPlanHasAScheduleThatCanRun(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    int depth = random.nextInt(1, 5);
    int[] replicas = random.ints(depth, 1, 5).toArray();
    AsynchronousPlan never = pipeDream(replicas);
    Schedule schedule = never.schedule(random.nextInt(1, 4));
    assertEquals(List.of(), Validator.check(schedule));
    assertEquals(Arrays.stream(replicas).sum(), schedule.ranks());
    assertEquals(schedule.ranks(), never.devices().length);
    assertArrayEquals(
        PipeDream.versions(replicas), AsynchronousPlan.inFlight(Rule.PIPEDREAM, never.stages()));
    int micro = depth + random.nextInt(3);
    AsynchronousPlan two = twoBuffers(depth, replicas[0], micro);
    int rounds = random.nextInt(1, 4);
    Schedule copy = two.schedule(rounds);
    assertEquals(List.of(), Validator.check(copy));
    assertEquals(micro * rounds, copy.microBatches());
    assertEquals(replicas[0] > 1 ? rounds : 0, count(copy, Pass.REDUCE));
    assertEquals(rounds, count(copy, Pass.UPDATE));
  }

  private static long count(Schedule schedule, Pass pass) {
    return Arrays.stream(schedule.packed(0)).filter(op -> Schedule.pass(op) == pass).count();
  }

  @Test
  void devicesTakeTurnsUntilAllHaveHadEquallyMany() {
    assertEquals(12, pipeDream(4, 3, 2).round());
    assertEquals(1, pipeDream(1, 1).round());
    assertEquals(6, twoBuffers(2, 3, 6).round());
    int[] primes = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59};
    assertEquals(Long.MAX_VALUE, pipeDream(primes).round());
  }

  @Test
  void versionsAndBatchesFollowTheRule() {
    AsynchronousPlan one = pipeDream(3, 1);
    assertEquals(8, one.globalBatch());
    assertEquals(2, one.versions(0)); // 4 ranks, 3 of them its own
    assertEquals(1, one.versions(1));
    AsynchronousPlan two = twoBuffers(3, 2, 5);
    assertEquals(5 * 8 * 2, two.globalBatch());
    assertEquals(2, two.versions(0));
    assertEquals(2, two.versions(2));
    assertArrayEquals(new int[] {0, 2, 4}, two.devices()); // the first copy's
    assertArrayEquals(new int[] {0, 1, 2, 3}, one.devices());
  }

  private static void refused(String words, Runnable made) {
    String found =
        String.valueOf(assertThrows(IllegalArgumentException.class, made::run).getMessage());
    assertTrue(found.contains(words), found);
  }

  @Test
  void whatContradictsTheRuleIsRefused() {
    List<StagePlan> straight = stages(Rule.PIPEDREAM, 1, 1);
    refused(
        "micro_batches=3; take 2", () -> new AsynchronousPlan(Rule.PIPEDREAM, 3, 1, 1, straight));
    refused("replicas=2; take 1", () -> new AsynchronousPlan(Rule.PIPEDREAM, 2, 1, 2, straight));
    refused(
        "micro_batches=1; take 2 or more",
        () -> new AsynchronousPlan(Rule.TWO_BUFFERS, 1, 1, 1, straight));
    refused(
        "devices=1, replicas=2", () -> new AsynchronousPlan(Rule.TWO_BUFFERS, 2, 1, 2, straight));
    List<StagePlan> again = List.of(straight.get(0), straight.get(0));
    refused("found 0", () -> new AsynchronousPlan(Rule.PIPEDREAM, 2, 1, 1, again));
    StagePlan other = new StagePlan(1, 1, List.of(0), Recompute.NONE, 1);
    refused(
        "device 0 serves two stages",
        () -> new AsynchronousPlan(Rule.PIPEDREAM, 2, 1, 1, List.of(straight.get(0), other)));
    StagePlan more = new StagePlan(1, 1, List.of(1), Recompute.NONE, 2);
    refused(
        "stage=1, in_flight=2; take 1",
        () -> new AsynchronousPlan(Rule.PIPEDREAM, 2, 1, 1, List.of(straight.get(0), more)));
    refused(
        "all its layers or none",
        () ->
            new AsynchronousPlan(
                Rule.PIPEDREAM,
                1,
                1,
                1,
                List.of(
                    new StagePlan(
                        0, 0, List.of(0), Recompute.SELECTIVE, 1, List.of(new LayerRange(0, 0))))));
  }
}
