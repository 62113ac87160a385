package dev.pipewright.bench.runtime;

import dev.pipewright.bench.reproduction.Markdown;
import dev.pipewright.bench.reproduction.Numbers;
import dev.pipewright.bench.reproduction.Reference;
import dev.pipewright.bench.reproduction.Report;
import dev.pipewright.bench.reproduction.Reproduction;
import dev.pipewright.runtime.launch.TemporaryFolder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The step of a training with two workers whose ranks Slurm starts, next to the same training whose
 * ranks are started by hand: in turn, so that whatever else the machine does meets both, and each
 * rank in a session of its own, as Linux divides processors among sessions.
 */
public final class SlurmOverhead implements Reproduction {
  private static final int ROUNDS = Integer.getInteger("slurm.rounds", 7);
  private static final int STEPS = 120;
  private static final int WARM_UP = 20; // steps
  private static final List<String> TRAINING =
      List.of("mlp-8x1024", "--stages=2", "--global-batch=64", "--steps=" + STEPS);
  private static final String SCRIPTS = "tools/slurm-two-nodes/";

  @Override
  public String name() {
    return "slurm-overhead";
  }

  @Override
  public String summary() {
    return "What Slurm adds to a training run.";
  }

  @Override
  public Report run(Reference reference) {
    if (!Files.exists(Path.of("/usr/sbin/slurmctld"))) {
      return new Report("A step under Slurm").paragraph("Slurm is not installed here.");
    }
    try (TemporaryFolder folder = TemporaryFolder.create()) {
      return measured(folder.path());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  private static Report measured(Path folder) throws IOException, InterruptedException {
    Path cluster = folder.resolve("cluster");
    List<Double> byHand = new ArrayList<>();
    List<Double> bySlurm = new ArrayList<>();
    Markdown table = new Markdown("round", "by hand, ms", "under Slurm, ms");
    TwoRanks.finish(List.of(SCRIPTS + "start", cluster.toString()), Map.of());
    try {
      for (int round = 0; round < ROUNDS; round++) {
        Path hand = folder.resolve("hand-" + round);
        Path slurm = folder.resolve("slurm-" + round);
        if (round % 2 == 0) {
          byHand(hand);
          bySlurm(slurm, cluster);
        } else {
          bySlurm(slurm, cluster);
          byHand(hand);
        }
        List<Double> first = TwoRanks.seconds(hand, WARM_UP);
        List<Double> second = TwoRanks.seconds(slurm, WARM_UP);
        byHand.addAll(first);
        bySlurm.addAll(second);
        table.row(
            round + 1,
            Numbers.significant(1e3 * TwoRanks.median(first)),
            Numbers.significant(1e3 * TwoRanks.median(second)));
      }
    } finally {
      TwoRanks.finish(List.of(SCRIPTS + "stop", cluster.toString()), Map.of());
    }
    table.row(
        "all",
        Numbers.significant(1e3 * TwoRanks.median(byHand)),
        Numbers.significant(1e3 * TwoRanks.median(bySlurm)));
    return new Report("A step under Slurm")
        .paragraph(
            "`Reproduce slurm-overhead`: `train %s` as two ranks on one machine, started by hand and by `srun` in turn; medians of the steps after the first %d."
                .formatted(String.join(" ", TRAINING), WARM_UP))
        .paragraph(
            "Under Slurm the median step takes %+.1f %%."
                .formatted(100 * (TwoRanks.median(bySlurm) / TwoRanks.median(byHand) - 1)))
        .table(table);
  }

  private static void byHand(Path run) throws IOException, InterruptedException {
    TwoRanks.train(run, TRAINING);
  }

  private static void bySlurm(Path run, Path cluster) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("srun", "--nodes=2", "--ntasks-per-node=1"));
    command.addAll(TwoRanks.command(run, TRAINING));
    command.addAll(TwoRanks.ONE_WORKER_EACH);
    TwoRanks.finish(
        command,
        Map.of("SLURM_CONF", cluster.resolve("slurm.conf").toString(), "MASTER_ADDR", "127.0.0.1"));
  }
}
