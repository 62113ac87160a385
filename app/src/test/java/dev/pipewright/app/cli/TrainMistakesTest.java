package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What {@code train} refuses before it needs anything that trains. */
class TrainMistakesTest {
  @TempDir private Path folder;

  private static String refusal(String... flags) {
    List<String> line = new ArrayList<>(List.of("train", "mlp-8x1024", "--global-batch", "8"));
    line.addAll(List.of(flags));
    return Cli.run(line.toArray(String[]::new)).refusal(2);
  }

  @Test
  void checkpointsNeedAFolder() {
    assertEquals(
        "--checkpoint-every: there is no folder for it; add --out DIR",
        refusal("--checkpoint-every", "2"));
  }

  @Test
  void nothingIsKeptWhereNothingIsWritten() {
    assertEquals(
        "--keep: no checkpoints are written; add --checkpoint-every N",
        refusal("--out", folder.toString(), "--keep", "2"));
  }

  @Test
  void numbersOfStepsAreOneOrMore() {
    for (String flag : List.of("--checkpoint-every", "--keep", "--evaluate-every")) {
      List<String> flags = new ArrayList<>(List.of("--out", folder.toString(), flag, "0"));
      if (flag.equals("--keep")) {
        flags.addAll(List.of("--checkpoint-every", "2"));
      }
      assertEquals(
          flag + ": 0 is too few; give a whole number >= 1", refusal(flags.toArray(String[]::new)));
    }
  }

  @Test
  void tensorParallelismHasADegreeAndAKnownKind() {
    for (String value :
        List.of(
            "filters:2", "filter", "filter:0", "filter:2x2", "none:2", "2x2", "spatial:2", "")) {
      assertEquals(
          "--tensor-parallel: '%s' is no tensor parallelism; give a degree, or KIND:P with a kind of"
                  .formatted(value)
              + " tensor, sequence, context, expert, filter, channel, like 2 or sequence:2",
          refusal("--tensor-parallel", value));
    }
  }

  @Test
  void spatialParallelismHasParts() {
    for (String value : List.of("filter:2", "0", "2x", "99999x99999", "")) {
      assertEquals(
          "--spatial-parallel: '%s' is no number of parts; give one, or one for each axis, like 2 or"
                  .formatted(value)
              + " 2x2",
          refusal("--spatial-parallel", value));
    }
  }

  @Test
  void aLayerLimitsParallelism() {
    for (String value : List.of("11", "filter:11")) {
      assertEquals(
          "--tensor-parallel: layer classifier of mlp-8x1024 has 10 filters and cannot be split in"
              + " 11; take 10 parts or fewer",
          refusal("--tensor-parallel", value));
    }
    assertEquals(
        "--spatial-parallel: mlp-8x1024 has no layer whose spatial positions can be split; take"
            + " another kind",
        refusal("--spatial-parallel", "2"));
  }

  @Test
  void parallelismIsForAllStagesOrForEach() {
    assertEquals(
        "--tensor-parallel: filter:2,1,1 has 3 values for 2 stages; give one for all, or one for"
            + " each",
        refusal("--stages", "2", "--tensor-parallel", "filter:2,1,1"));
  }

  @Test
  void layersAreSplitInOneWay() {
    assertEquals(
        "--spatial-parallel: --tensor-parallel splits the layers already; leave one of them out",
        refusal("--spatial-parallel", "2", "--tensor-parallel", "2"));
  }

  /** The former names are understood, and are in no help text. */
  @Test
  void formerNamesOfOptions() {
    assertEquals(
        "--split: 'filters:2' is no split; give --tensor-parallel KIND:P or --spatial-parallel P,"
            + " which replace it",
        refusal("--split", "filters:2"));
    assertEquals(
        "--split: layer classifier of mlp-8x1024 has 10 filters and cannot be split in 11; take 10"
            + " parts or fewer",
        refusal("--split", "filter:11"));
    assertEquals(
        "--remote-workers: all workers are 1; give at most as many", refusal("--elsewhere", "2"));
    String help = Cli.run("train", "--help").ends(0).out();
    assertFalse(help.contains("--split") || help.contains("--elsewhere"), help);
  }

  @Test
  void waysToSumGradientsAreForSplitLayers() {
    assertEquals(
        "--reduce: no layers are split; leave it out, or add --tensor-parallel or"
            + " --spatial-parallel",
        refusal("--reduce", "leaders"));
    assertEquals(
        "--reduce: leader is no way to sum gradients; give one of hierarchical, leaders, flat",
        refusal("--tensor-parallel", "filter:2", "--reduce", "leader"));
  }

  @Test
  void aPlanOfAnotherNetwork() {
    Path out = folder.resolve("plan");
    Cli.plan("bert-10", "dapple-a:1x4", "--global-batch", "8", "--out", out.toString()).ends(0);
    Path plan = out.resolve("plan.json");
    String said = Cli.run("train", plan.toString(), "--model", "mlp-8x1024").refusal(2);
    assertEquals(
        plan + ": covers 12 layers, but mlp-8x1024 has 10; give the plan of this network",
        said.replaceAll("covers \\d+ layers", "covers 12 layers")
            .replaceAll("has \\d+;", "has 10;"));
  }

  @Test
  void aSizeThatANetworkDoesNotHave() {
    assertEquals(
        "mlp:width=64: 'width=64' is not understood; write key=number with a key of layers, hidden,"
            + " in, classes",
        Cli.run("train", "mlp:width=64", "--global-batch", "8").refusal(2));
  }

  @Test
  void threadsShareNoGpu() {
    assertEquals(
        "--device cuda: threads share a process and so a GPU; leave out --workers threads",
        refusal("--device", "cuda", "--workers", "threads"));
  }

  @Test
  void valuesOfAnotherKindAreNamed() {
    assertEquals(
        "--device: 'gpu' is none of cpu, cuda; give one of these", refusal("--device", "gpu"));
    assertEquals(
        "--momentum: 'much' is no number; give one, like 0.1", refusal("--momentum", "much"));
  }

  @Test
  void otherMachinesAreForProcesses() {
    assertEquals(
        "--port: no machine joins; leave it out, or add --remote-workers N",
        refusal("--port", "7000"));
    assertEquals(
        "--remote-workers: 0 is too few; give a whole number >= 1",
        refusal("--remote-workers", "0"));
    assertEquals(
        "--remote-workers: all workers are 1; give at most as many", refusal("--elsewhere", "2"));
    assertEquals(
        "--remote-workers: threads run in one process; leave out --workers threads",
        refusal("--remote-workers", "1", "--workers", "threads"));
    assertEquals(
        "--port: 70000 is no port; give one up to 65535",
        refusal("--remote-workers", "1", "--port", "70000"));
  }

  @Test
  void stepsThatFlow() {
    assertEquals(
        "--micro-batches: pipedream updates after each micro-batch, which is a step of its own;"
            + " leave it out",
        refusal("--schedule", "pipedream", "--stages", "2", "--micro-batches", "4"));
    assertEquals(
        "--micro-batches: pipedream-2bw gets by with two versions from as many as stages on, and 2"
            + " are fewer than 3; give 3 or more",
        refusal("--schedule", "pipedream-2bw", "--stages", "3", "--micro-batches", "2"));
    assertEquals(
        "--vertical-sync: only pipedream keeps versions for it; leave it out",
        refusal("--schedule", "pipedream-2bw", "--vertical-sync"));
    assertEquals(
        "--vertical-sync: only pipedream keeps versions for it; leave it out",
        refusal("--vertical-sync"));
    assertEquals(
        "--replicas: cyclic-v2 has a worker for each of its 3 micro-batches; leave it out",
        refusal("--schedule", "cyclic-v2", "--stages", "3", "--replicas", "2"));
    assertEquals(
        "--micro-batches: cyclic-v1-single has as many as --stages, 3, not 4; leave it out",
        refusal("--schedule", "cyclic-v1-single", "--stages", "3", "--micro-batches", "4"));
    assertEquals(
        "--chunks: pipedream runs 1 on each rank, not 2; leave --chunks out",
        refusal("--schedule", "pipedream", "--chunks", "2"));
    assertEquals(
        "--emulate: emulated workers have no states to send, as those of"
            + " cyclic-v2-zero do; leave it out",
        refusal(
            "--schedule",
            "cyclic-v2-zero",
            "--stages",
            "2",
            "--cluster",
            "dapple-a:1x4",
            "--emulate"));
    assertEquals(
        "--schedule: zero-dp is no pipeline that ends with each step; take another",
        refusal("--schedule", "zero-dp", "--stages", "2", "--micro-batches", "2"));
  }

  @Test
  void statesAreSharedOutAsFarAsTheyCan() {
    assertEquals(
        "--zero: there are levels 0 to 3, not 4; give one of them",
        refusal("--replicas", "2", "--zero", "4"));
    assertEquals(
        "--zero: two ranks hold each stage of chimera and come to it at different times; take 1",
        refusal("--schedule", "chimera", "--stages", "2", "--zero", "2"));
    assertEquals(
        "--zero: pipedream is asynchronous and updates each stage as a whole; leave it out",
        refusal("--schedule", "pipedream", "--stages", "2", "--zero", "1"));
    assertEquals(
        "--zero: all replicas get parameters for each of their micro-batches, but one of 2 samples"
            + " leaves some of 3 without any; take larger micro-batches, or 2",
        refusal("--replicas", "3", "--micro-batches", "4", "--zero", "3"));
  }
}
