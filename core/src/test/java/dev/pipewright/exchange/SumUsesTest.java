package dev.pipewright.exchange;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.exchange.SumUses.Spent;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.plan.AsyncPipeline;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.cyclic.Cyclic;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Every rank's program is followed op by op, and what there is of sums with it. */
class SumUsesTest {
  private static final int STEPS = 9;

  private static Assignment ring(int workers, Cyclic.Rule rule) {
    AsyncPipeline asyncPipeline =
        new AsyncPipeline.CyclicDataParallel(new Cyclic(workers), Cyclic.Form.RING, rule);
    List<StageLayers> stages =
        IntStream.range(0, workers).mapToObj(i -> StageLayers.keeping(i, i)).toList();
    List<Integer> replicas = Collections.nCopies(workers, 1);
    return Assignment.of(asyncPipeline, stages, replicas, asyncPipeline.microBatches()).over(STEPS);
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 5})
  void sumsAreThereWhenTheyAreReadOrHandedOnAndGoneInTheEnd(int workers) {
    for (Cyclic.Rule rule : Cyclic.Rule.values()) {
      Assignment all = ring(workers, rule);
      for (int depth = 0; depth < workers; depth++) {
        for (int rank = 0; rank < workers; rank++) {
          follow(all, depth, rank);
        }
      }
    }
  }

  private static void follow(Assignment all, int depth, int rank) {
    GradientPasses gradientPasses = GradientPasses.of(all, depth);
    SumUses uses = SumUses.of(all, depth, rank, gradientPasses);
    Set<Integer> there = new HashSet<>();
    long[] program = all.schedule().packed(rank);
    int updates = 0;
    for (int at = 0; at < program.length; at++) {
      int stage = Schedule.stage(program[at]);
      if (stage % all.stages().size() != depth) {
        continue;
      }
      int number = Schedule.microBatch(program[at]);
      Pass pass = Schedule.pass(program[at]);
      if (pass == Pass.BACKWARD) {
        there.add(all.inFlow(stage, number) / all.asyncPipeline().orElseThrow().perUpdate(depth));
      } else if (pass == Pass.HAND_ON && gradientPasses.comes(number)) {
        there.addAll(gradientPasses.carried(number));
      } else if (pass == Pass.UPDATE) {
        assertTrue(there.contains(number), "update " + number + " has no sum");
        updates++;
      }
      int turn = gradientPasses.over(rank, at).orElse(-1) + 1;
      boolean goes = turn > 0 && turn < gradientPasses.size() && gradientPasses.comes(turn);
      List<Integer> handedOn = goes ? gradientPasses.carried(turn) : List.of();
      assertTrue(there.containsAll(handedOn), "no sum to hand on");
      for (Spent spent : uses.spent(at)) {
        assertTrue(there.remove(spent.update()), "freed twice");
        assertEquals(handedOn.contains(spent.update()), spent.goes());
      }
    }
    assertEquals(Set.of(), there);
    assertEquals(STEPS, updates);
  }

  /** With two workers a sum goes round: the first has it, gives it away and gets it back whole. */
  @Test
  void whatIsHandedOnAndComesAgainIsFreedBetween() {
    Assignment all = ring(2, Cyclic.Rule.V1);
    SumUses uses = SumUses.of(all, 0, 0, GradientPasses.of(all, 0));
    long given =
        IntStream.range(0, all.schedule().packed(0).length)
            .mapToLong(at -> uses.spent(at).stream().filter(Spent::goes).count())
            .sum();
    assertTrue(given >= STEPS - 1, () -> "given away " + given + " times");
  }
}
