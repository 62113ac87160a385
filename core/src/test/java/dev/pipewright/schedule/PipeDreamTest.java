package dev.pipewright.schedule;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.schedule.Op.Pass;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class PipeDreamTest extends ScheduleContract {
  @Override
  Schedule schedule(int stages, int microBatches) {
    return PassesOnly.of(PipeDream.of(stages, microBatches));
  }

  @Override
  int inFlight(int stages, int microBatches, int stage) {
    return Math.min(stages - stage, microBatches);
  }

  @Test
  void everyBackwardPassIsFollowedByAnUpdate() {
    assertEquals(
        """
        0 | F0 F1 F2 B0 U0 F3 B1 U1 B2 U2 B3 U3
        1 | F0 F1 B0 U0 F2 B1 U1 F3 B2 U2 B3 U3
        2 | F0 B0 U0 F1 B1 U1 F2 B2 U2 F3 B3 U3
        """,
        Diagram.of(PipeDream.of(3, 4)));
  }

  /** The paper's figure 8: two replicas take the odd and the even micro-batches. */
  @Test
  void replicasTakeMicroBatchesInTurnAndMeetOnceARound() {
    assertEquals(
        """
        0 | 0F0 0F1 0B0 0A0 0U0 0F2 0B1 0A1 0U1 0B2 0A2 0U2
        1 | 2F0 2F1 2B0 2A0 2U0 2F2 2B1 2A1 2U1 2B2 2A2 2U2
        2 | 1F0 1B0 1U0 3F0 3B0 3U1 1F1 1B1 1U2 3F1 3B1 3U3 1F2 1B2 1U4 3F2 3B2 3U5
        """,
        Picture.of(PipeDream.of(6, 2, 1)));
  }

  @Test
  void theInputStageHasThePapersNumberInFlight() {
    assertEquals(4, PipeDream.versions(1, 1, 1, 1)[0]);
    assertArrayEquals(new int[] {2, 1}, PipeDream.versions(2, 1));
    assertArrayEquals(new int[] {2, 1}, PipeDream.versions(15, 1));
    assertArrayEquals(new int[] {6, 2, 1}, PipeDream.versions(1, 3, 2));
  }

  private static int[] randomReplicas(SplittableRandom random) {
    return random.ints(random.nextInt(1, 6), 1, 5).toArray();
  }

  private static int rounds(int... replicas) {
    int rounds = 1;
    while (true) {
      int multiple = rounds;
      if (Arrays.stream(replicas).allMatch(count -> multiple % count == 0)) {
        return rounds;
      }
      rounds++;
    }
  }

  @RepeatedTest(value = 200, name = "seed {currentRepetition}")
  void anyReplicasRunAndMeetWithoutWaitingForEver(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    int[] replicas = randomReplicas(random);
    int microBatches = rounds(replicas) * random.nextInt(1, 5);
    Schedule schedule = PipeDream.of(microBatches, replicas);
    Picture.assertRuns(schedule);
    ExchangeExecution.assertSimulated(
        schedule, ExchangeExecution.randomTimes(random, schedule.placement()));
    int rank = 0;
    for (int stage = 0; stage < replicas.length; stage++) {
      int own = microBatches / replicas[stage];
      for (int replica = 0; replica < replicas[stage]; replica++, rank++) {
        int held = 0;
        int most = 0;
        int next = 0;
        for (Op op : schedule.program(rank)) {
          held += op.pass() == Pass.FORWARD ? 1 : op.pass() == Pass.BACKWARD ? -1 : 0;
          most = Math.max(most, held);
          if (op.pass() == Pass.FORWARD) {
            int chain = op.stage() / replicas.length;
            int microBatch = op.microBatch() * schedule.placement().chains() + chain;
            assertEquals(next++ * replicas[stage] + replica, microBatch);
          }
        }
        assertEquals(own, next);
        assertEquals(Math.min(PipeDream.versions(replicas)[stage], own), most);
      }
    }
    assertEquals(IntStream.of(replicas).sum(), schedule.ranks());
  }

  /** Versions counted one by one: of the micro-batches under way, and the newest. */
  @RepeatedTest(value = 100, name = "seed {currentRepetition}")
  void aReplicaNeverNeedsMoreVersionsThanDeclared(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    int[] replicas = randomReplicas(random);
    Schedule schedule = PipeDream.of(rounds(replicas) * 12, replicas);
    for (int rank = 0; rank < schedule.ranks(); rank++) {
      int stage = schedule.program(rank).get(0).stage() % replicas.length;
      assertEquals(
          PipeDream.versions(replicas)[stage],
          versions(schedule, rank),
          "rank " + rank + " of " + Arrays.toString(replicas));
    }
  }

  static int versions(Schedule schedule, int rank) {
    Map<Integer, Integer> usedBy = new HashMap<>(); // version, by micro-batch under way
    int newest = 0;
    int most = 0;
    for (Op op : schedule.program(rank)) {
      int key = op.stage() * schedule.microBatches() + op.microBatch();
      switch (op.pass()) {
        case FORWARD -> usedBy.put(key, newest);
        case BACKWARD -> usedBy.remove(key);
        default -> newest += op.pass() == Pass.UPDATE ? 1 : 0;
      }
      var alive = new HashSet<>(usedBy.values());
      alive.add(newest);
      most = Math.max(most, alive.size());
    }
    return most;
  }

  @Test
  void replicasOfASlowStageKeepUpWithAFastOne() {
    Schedule schedule = PipeDream.of(60, 2, 1);
    ExchangeExecution execution =
        new ExchangeExecution(
            schedule,
            op -> op.pass() == Pass.UPDATE || op.pass() == Pass.REDUCE ? 0 : 2 - op.stage() % 2);
    assertTrue(execution.makespan() <= 2 * 60 + 6, "" + execution.makespan());
  }

  @Test
  void microBatchesThatAreNoFullRoundsAreRefused() {
    Exception e =
        assertThrows(IllegalArgumentException.class, () -> PipeDream.of(8, new int[] {2, 3}));
    assertEquals(
        "replicas take micro-batches in turn, and all come round together after 6:"
            + " micro_batches=8 is no multiple of it; take 12",
        e.getMessage());
    assertThrows(IllegalArgumentException.class, () -> PipeDream.of(8, new int[] {2, 0}));
    assertThrows(IllegalArgumentException.class, () -> PipeDream.of(8, new int[0]));
    assertThrows(IllegalArgumentException.class, () -> PipeDream.of(0, 4));
    assertThrows(IllegalArgumentException.class, () -> PipeDream.of(2, 0));
  }
}
