package dev.pipewright.bench.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Jobs of a real Slurm with two nodes, which {@code launch slurm} has written. */
class SlurmTest {
  private static final Duration PATIENCE = Duration.ofMinutes(5);
  private static final List<String> NETWORK =
      List.of("mlp:layers=3,hidden=16,in=12,classes=4", "--global-batch=8", "--micro-batches=2");
  private static final int FEW = 4; // steps
  private static final int MANY = 3000; // steps: some seconds
  private static final double NEAR =
      1e-3; // sums of another order differ in the last bits of each step

  @TempDir static Path folder;
  private static SlurmCluster cluster;

  @BeforeAll
  static void start() throws Exception {
    SlurmCluster.missing().ifPresent(program -> assumeTrue(false, program + " is not installed"));
    cluster = new SlurmCluster(folder.resolve("cluster"), folder);
  }

  @AfterAll
  static void leavesNothing() throws Exception {
    if (cluster != null) {
      assertFalse(cluster.processes().isEmpty(), "the cluster is found by its processes");
      assertFalse(cluster.ports().isEmpty(), "and by its ports");
      cluster.close();
      assertEquals(List.of(), cluster.processes());
      assertEquals(List.of(), cluster.ports());
    }
  }

  private static String[] train(String run, int steps, String... more) {
    List<String> command = new ArrayList<>(NETWORK);
    command.add("--steps=" + steps);
    command.add("--checkpoint-every=" + steps);
    command.add("--out=" + run);
    command.addAll(List.of(more));
    return command.toArray(String[]::new);
  }

  /** Writes the job of a command line of {@code train}. */
  private static Path job(String run, List<String> flags, String... train) throws Exception {
    List<String> command =
        new ArrayList<>(List.of("pipewright", "launch", "slurm", "--out=job-" + run));
    command.addAll(flags);
    command.add("--");
    command.addAll(List.of(train));
    cluster.run(command.toArray(String[]::new));
    return folder.resolve("job-" + run + "/train.sbatch");
  }

  /** The run of one process on no cluster that a run has to agree with. */
  private static Path serial(int steps) throws Exception {
    String run = "serial-" + steps;
    if (!Files.exists(folder.resolve(run))) {
      List<String> command = new ArrayList<>(List.of("pipewright", "train"));
      command.addAll(List.of(train(run, steps)));
      cluster.run(command.toArray(String[]::new));
    }
    return folder.resolve(run);
  }

  @Test
  void twoWorkersTrainAsABatchJob() throws Exception {
    Path script = job("batch", List.of("--nodes=2"), train("batch", FEW, "--stages=2"));
    String number = cluster.submit(script);
    cluster.awaitSuccess(number, PATIENCE);
    assertTrue(cluster.job(number).contains(" NumNodes=2 "), cluster.job(number));
    RunPrograms.assertSameState(serial(FEW), folder.resolve("batch"));
  }

  @Test
  void twoWorkersTrainUnderMpirunInAnAllocation() throws Exception {
    List<String> command =
        new ArrayList<>(
            List.of(
                "salloc",
                "--nodes=2",
                "--ntasks-per-node=1",
                "env",
                "PIPEWRIGHT_TOKEN=0f1e2d3c4b5a69788796a5b4c3d2e1f0",
                "mpirun",
                "--allow-run-as-root", // as whoever runs the tests may be
                "-n",
                "2",
                "pipewright",
                "train"));
    command.addAll(List.of(train("mpirun", FEW, "--stages=2", "--launcher=env")));
    String printed = cluster.run(command.toArray(String[]::new));
    assertTrue(printed.contains("rank 0 of 2 by Open MPI"), printed);
    RunPrograms.assertSameState(serial(FEW), folder.resolve("mpirun"));
  }

  @Test
  void aSweepRunsAsAJobArrayOfFourAndIsMerged() throws Exception {
    Files.writeString(
        folder.resolve("study.yaml"),
        """
        models: [bert-48]
        clusters: ["dapple-a:1x2", "dapple-a:1x4"]
        batches: [32, 64, 128]
        flags: ["--planner dapple"]
        """);
    cluster.run(
        "pipewright", "launch", "slurm", "--sweep=study.yaml", "--array=4", "--out=job-sweep");
    String number = cluster.submit(folder.resolve("job-sweep/sweep.sbatch"));
    cluster.awaitSuccess(number, PATIENCE);
    for (int task = 1; task <= 4; task++) {
      Path shard = folder.resolve("study/shard-%d-of-4/results.jsonl".formatted(task));
      assertEquals(task <= 2 ? 2 : 1, Files.readAllLines(shard).size(), "points of " + shard);
    }
    cluster.run("pipewright", "plan", "--sweep=study.yaml", "--merge");
    List<String> merged = Files.readAllLines(folder.resolve("study/results.csv"));
    assertEquals(1 + 6, merged.size(), "a head and all points");
    cluster.run("pipewright", "plan", "--sweep=study.yaml", "--out=at-once");
    assertEquals(
        withoutSeconds(folder.resolve("at-once")), withoutSeconds(folder.resolve("study")));
  }

  /** The answers of a sweep without what their search took. */
  private static List<String> withoutSeconds(Path sweep) throws IOException {
    return Files.readAllLines(sweep.resolve("results.jsonl")).stream()
        .map(line -> line.replaceAll("\"seconds\": ?[-.0-9E]+", ""))
        .sorted()
        .toList();
  }

  private static void awaitStep(String run, long step) throws IOException, InterruptedException {
    Path metrics = folder.resolve(run + "/metrics.jsonl");
    cluster.await(
        "step " + step,
        () -> {
          try {
            return Files.exists(metrics) && Files.readAllLines(metrics).size() > step;
          } catch (IOException e) {
            return false;
          }
        },
        PATIENCE);
  }

  @Test
  void aJobWhoseNodeIsKilledGoesOnWithAnotherPlanForTheOther() throws Exception {
    RunPrograms.planOfTwo(folder.resolve("plan.json"));
    String[] train = {"plan.json", "--steps=" + MANY, "--checkpoint-every=20", "--out=replanned"};
    Path script = job("replanned", List.of("--nodes=2", "--requeue-plan"), train);
    String number = cluster.submit(script);
    awaitStep("replanned", 40);
    List<String> ended = cluster.killNode("n2");
    assertEquals(2, ended.size(), () -> "a daemon and a step: " + ended);
    assertTrue(
        ended.stream().anyMatch(each -> each.endsWith(" with 2 descendants")), ended::toString);
    long killed = RunPrograms.steps(folder.resolve("replanned"));
    try {
      cluster.awaitSuccess(number, PATIENCE);
    } finally {
      cluster.startNode("n2");
    }
    assertTrue(killed < MANY, "it had made all " + killed + " steps");
    assertTrue(cluster.job(number).contains(" NumNodes=1 "), cluster.job(number));
    assertTrue(cluster.job(number).contains(" Restarts=1 "), cluster.job(number));
    assertTrue(
        cluster.printed().contains("it goes on with another plan, 1f1b on 1 devices"),
        cluster.printed());
    assertEquals(MANY, RunPrograms.steps(folder.resolve("replanned")));
    RunPrograms.assertNearState(serial(MANY), folder.resolve("replanned"), NEAR);
  }

  /** First as before a time limit, by a signal to its steps; then as Slurm preempts jobs. */
  @Test
  void aPreemptedJobIsRequeuedAndEndsWithTheSameParameters() throws Exception {
    Path script = job("preempted", List.of("--nodes=2"), train("preempted", MANY, "--stages=2"));
    String number = cluster.submit(script);
    awaitStep("preempted", 10);
    cluster.run("scancel", "--signal=TERM", number);
    cluster.await(
        "the first restart", () -> cluster.job(number).contains(" Restarts=1 "), PATIENCE);
    long first = RunPrograms.steps(folder.resolve("preempted"));
    assertTrue(first < MANY, "it ended at step " + first);
    awaitStep("preempted", first + 10);
    cluster.run("scontrol", "requeue", number);
    cluster.await(
        "the second restart", () -> cluster.job(number).contains(" Restarts=2 "), PATIENCE);
    cluster.await(
        "a second checkpoint",
        () -> RunPrograms.steps(folder.resolve("preempted")) > first,
        PATIENCE);
    long second = RunPrograms.steps(folder.resolve("preempted"));
    assertTrue(second < MANY, "it ended at step " + second);
    cluster.awaitSuccess(number, PATIENCE);
    assertEquals(MANY, RunPrograms.steps(folder.resolve("preempted")));
    RunPrograms.assertSameState(serial(MANY), folder.resolve("preempted"));
  }
}
