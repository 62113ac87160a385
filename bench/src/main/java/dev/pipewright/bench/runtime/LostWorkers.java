package dev.pipewright.bench.runtime;

import dev.pipewright.bench.reproduction.Markdown;
import dev.pipewright.bench.reproduction.Numbers;
import dev.pipewright.bench.reproduction.Reference;
import dev.pipewright.bench.reproduction.Report;
import dev.pipewright.bench.reproduction.Reproduction;
import dev.pipewright.bench.runtime.LostWorkerTrial.Loss;
import dev.pipewright.runtime.launch.TemporaryFolder;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Kills, stops or cuts off a worker at a random moment of a run, under every strategy: the run has
 * to end in time with one sentence and without orphans, and what goes on from its last checkpoint
 * has to end with the parameters of a run that nothing disturbed.
 */
public final class LostWorkers implements Reproduction {
  private static final int CASES = Integer.getInteger("lost.cases", 100);
  private static final long SEED = Long.getLong("lost.seed", 1);

  private static final String MLP = "mlp:layers=3,hidden=16,in=12,classes=4 --global-batch 8";
  private static final String CNN = "cnn-64-128-256:size=8,classes=4 --global-batch 8";
  private static final String GPT =
      "gpt:layers=2,hidden=16,heads=2,sequence=8,vocabulary=16 --global-batch 8";

  /** Two workers each. */
  static final List<String> STRATEGIES =
      List.of(
          MLP + " --stages 2 --schedule gpipe --micro-batches 4",
          MLP + " --stages 2 --schedule 1f1b --micro-batches 4",
          MLP + " --stages 2 --schedule zb-h1 --micro-batches 4",
          MLP + " --stages 2 --schedule interleaved --chunks 2 --micro-batches 4",
          MLP + " --stages 2 --schedule chimera --micro-batches 4",
          MLP + " --stages 2 --schedule pipedream",
          MLP + " --stages 2 --schedule pipedream-2bw",
          MLP + " --stages 2 --schedule cyclic-v1",
          MLP + " --stages 2 --schedule cyclic-v2",
          MLP + " --replicas 2",
          MLP + " --replicas 2 --zero 1",
          MLP + " --replicas 2 --zero 2",
          MLP + " --replicas 2 --zero 3",
          CNN + " --tensor-parallel filter:2",
          CNN + " --tensor-parallel channel:2",
          CNN + " --spatial-parallel 2",
          GPT + " --tensor-parallel 2",
          GPT + " --tensor-parallel sequence:2",
          GPT + " --tensor-parallel context:2");

  @Override
  public String name() {
    return "lost-workers";
  }

  @Override
  public String summary() {
    return "Runs that lose a worker and go on.";
  }

  @Override
  public Report run(Reference reference) {
    List<Loss> losses = List.of(Loss.values());
    int[][] lost = new int[STRATEGIES.size()][losses.size()];
    List<String> findings = new ArrayList<>();
    double longest = 0;
    int unscathed = 0;
    try (TemporaryFolder folder = TemporaryFolder.create()) {
      SplittableRandom random = new SplittableRandom(SEED);
      LostWorkerTrial trial = new LostWorkerTrial(folder.path());
      for (int i = 0; i < CASES; i++) {
        int strategy = i % STRATEGIES.size();
        int kind = (i / STRATEGIES.size() + i) % losses.size(); // each strategy meets all
        Loss loss = losses.get(kind);
        LostWorkerTrial.Result result =
            trial.run(STRATEGIES.get(strategy), loss, random.nextDouble(), random.nextInt(2));
        lost[strategy][kind]++;
        longest = Math.max(longest, result.secondsToEnd());
        unscathed += result.ended() ? 0 : 1;
        result
            .finding()
            .ifPresent(what -> findings.add("`" + STRATEGIES.get(strategy) + "`: " + what));
        System.err.printf(
            "%d of %d: %s, %s: %s%n",
            i + 1, CASES, STRATEGIES.get(strategy), loss, result.finding().orElse("as it should"));
      }
    }
    Markdown table = new Markdown("strategy", "killed", "stopped", "cut off");
    for (int i = 0; i < lost.length; i++) {
      table.row("`" + STRATEGIES.get(i) + "`", lost[i][0], lost[i][1], lost[i][2]);
    }
    Report report =
        new Report("Lost workers")
            .paragraph(
                "`Reproduce lost-workers` (seed %d): %d runs of two workers on one machine, of which one is killed, stopped or cut off at a random moment. A run has to end within %d s of the loss (`--stall-timeout %d`; %d s before its first step, as workers have two minutes to come) with status 3 and one sentence, without a process left; the same command with `--resume` then has to end with the parameters of a run without loss, bit by bit."
                    .formatted(
                        SEED,
                        CASES,
                        LostWorkerTrial.DEADLINE,
                        LostWorkerTrial.PATIENCE,
                        LostWorkerTrial.STARTING))
            .paragraph(
                "Findings: %d. The slowest run ended %s s after the loss. %d runs had made their last step before the loss reached them."
                    .formatted(findings.size(), Numbers.significant(longest), unscathed))
            .table(table);
    findings.forEach(report::paragraph);
    return report;
  }
}
