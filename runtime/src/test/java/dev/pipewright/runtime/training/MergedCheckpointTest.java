package dev.pipewright.runtime.training;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.pipewright.execution.CheckpointService.ParameterSet;
import dev.pipewright.execution.TrainingRequest.Workers;
import dev.pipewright.model.Chain;
import dev.pipewright.model.Optimizer;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.parallel.Parallelism.Kind;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.runtime.Python;
import dev.pipewright.runtime.checkpoint.Checkpoint;
import dev.pipewright.runtime.net.ForwardPass;
import dev.pipewright.runtime.net.Network;
import dev.pipewright.runtime.net.Parameter;
import dev.pipewright.runtime.net.Part;
import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import dev.pipewright.schedule.OneForwardOneBackward;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Checkpoints of every strategy as one file, as readers that share no code with it find it. */
class MergedCheckpointTest {
  private static final String GPT = "gpt:layers=2,hidden=16,heads=4,sequence=8,vocabulary=31";
  private static final String MIXTRAL =
      "mixtral:layers=2,hidden=16,heads=4,kv-heads=2,ffn=12,sequence=8,vocabulary=31,experts=4,chosen=2";
  private static final String CNN = "cnn-64-128-256:size=8,classes=5";

  @TempDir private Path folder;

  /** A way to train, next to which one worker trains the same network. */
  enum Strategy {
    STAGES(GPT, Kind.NONE, 1, 3, 1, ZeroStage.NOTHING),
    REPLICAS(GPT, Kind.NONE, 1, 1, 3, ZeroStage.NOTHING),
    TENSOR(GPT, Kind.TENSOR, 2, 2, 1, ZeroStage.NOTHING),
    SEQUENCE(GPT, Kind.SEQUENCE, 2, 1, 2, ZeroStage.NOTHING),
    CONTEXT(GPT, Kind.CONTEXT, 2, 2, 1, ZeroStage.NOTHING),
    EXPERT(MIXTRAL, Kind.EXPERT, 2, 2, 1, ZeroStage.NOTHING),
    FILTER(Runs.MODEL, Kind.FILTER, 2, 2, 1, ZeroStage.NOTHING),
    CHANNEL(Runs.MODEL, Kind.CHANNEL, 2, 1, 1, ZeroStage.NOTHING),
    SPATIAL(CNN, Kind.SPATIAL, 2, 1, 1, ZeroStage.NOTHING),
    ZERO_1(GPT, Kind.NONE, 1, 2, 2, ZeroStage.OPTIMIZER),
    ZERO_2(GPT, Kind.NONE, 1, 1, 3, ZeroStage.GRADIENTS),
    ZERO_3(GPT, Kind.TENSOR, 2, 1, 2, ZeroStage.PARAMETERS);

    private final String model;
    private final Kind kind;
    private final int parts;
    private final int stages;
    private final int replicas;
    private final ZeroStage sharding;

    Strategy(String model, Kind kind, int parts, int stages, int replicas, ZeroStage sharding) {
      this.model = model;
      this.kind = kind;
      this.parts = parts;
      this.stages = stages;
      this.replicas = replicas;
      this.sharding = sharding;
    }

    private Parallelism split() {
      return parts == 1
          ? Parallelism.NONE
          : kind == Kind.SPATIAL
              ? new Parallelism(kind, List.of(parts, 1))
              : Parallelism.of(kind, parts);
    }

    Runs runs() {
      return MergedCheckpointTest.runs(
          model, assignment(model, split(), stages, replicas, sharding));
    }

    Runs serial() {
      return MergedCheckpointTest.runs(
          model, assignment(model, Parallelism.NONE, 1, 1, ZeroStage.NOTHING));
    }
  }

  private static Runs runs(String model, Assignment assignment) {
    return new Runs(model, assignment, Optimizer.MOMENTUM, Workers.THREADS, 3, 3);
  }

  private static Assignment assignment(
      String model, Parallelism split, int stages, int replicas, ZeroStage sharding) {
    int size = Chain.of(RunnableModel.of(model)).size();
    List<StageLayers> all = new ArrayList<>();
    for (int stage = 0; stage < stages; stage++) {
      int last = (stage + 1) * size / stages - 1;
      all.add(StageLayers.keeping(stage * size / stages, last).with(split));
    }
    List<Integer> workers = new ArrayList<>();
    for (int stage = 0; stage < stages; stage++) {
      workers.add(replicas * split.parts());
    }
    return new Assignment(OneForwardOneBackward.of(stages, 2), all, workers, Runs.BATCH, true)
        .sharded(sharding);
  }

  private Path merged(Runs runs, String name) {
    runs.run(folder.resolve(name));
    Path file = folder.resolve(name + ".safetensors");
    new CheckpointFiles().merge(folder.resolve(name).toString(), file.toString());
    return file;
  }

  @ParameterizedTest
  @EnumSource(Strategy.class)
  void theFileHoldsTheParametersOfTheSerialRun(Strategy strategy) throws IOException {
    Path serial = merged(strategy.serial(), "serial");
    Path split = merged(strategy.runs(), "split");
    Map<String, float[]> found = Safetensors.read(split);
    if (strategy == Strategy.STAGES) { // which changes no order of sums
      assertArrayEquals(Files.readAllBytes(serial), Files.readAllBytes(split));
    } else {
      Runs.near(Safetensors.read(serial), found, 1e-5, 1e-7);
    }
    Map<String, float[]> held = new TreeMap<>(Runs.state(folder.resolve("split")));
    held.keySet().removeIf(name -> name.contains("/moment-"));
    if (strategy.model.equals(GPT)) {
      assertArrayEquals(held.remove("head.weight"), found.get("embedding.weight"));
      assertEquals(
          "embedding.weight", Safetensors.head(split).at("/__metadata__/head.weight").asString());
    }
    assertEquals(held.keySet(), found.keySet());
    held.forEach((name, values) -> assertArrayEquals(values, found.get(name), name));
  }

  @Test
  void aLibraryOfPythonReadsIt() throws IOException {
    Path file = merged(Strategy.TENSOR.runs(), "split");
    List<String> lines = Python.plain().run(folder, "safetensors/read.py", file.toString());
    List<String> expected = new ArrayList<>();
    expected.add("metadata format pt");
    expected.add("metadata head.weight embedding.weight");
    expected.add("metadata model " + GPT);
    expected.add("metadata step 3");
    expected.add("metadata writer pipewright");
    Checkpoint checkpoint = Checkpoint.open(Runs.last(folder.resolve("split")));
    new TreeMap<>(Runs.state(folder.resolve("split")))
        .forEach((name, values) -> {
          if (!name.contains("/moment-") && !name.equals("head.weight")) {
            StringBuilder bits = new StringBuilder();
            for (float value : values) {
              bits.append("%08x".formatted(Float.floatToRawIntBits(value)));
            }
            String shape =
                String.join(
                    "x", Arrays.stream(checkpoint.shape(name)).mapToObj(Long::toString).toList());
            expected.add("%s F32 %s %s".formatted(name, shape, bits));
          }
        });
    assertEquals(expected, lines);
  }

  /** Modules of PyTorch with these names take it, and compute the same scores. */
  @Test
  void modulesOfPytorchLoadItAndComputeTheSame() throws IOException {
    Path file = merged(Strategy.ZERO_3.runs(), "split");
    List<String> lines =
        Python.withTorch().run(folder, "safetensors/torch_gpt.py", file.toString());
    float[] scores = scores(Runs.state(folder.resolve("split")));
    assertEquals(scores.length, lines.size());
    for (int i = 0; i < scores.length; i++) {
      assertEquals(scores[i], Float.parseFloat(lines.get(i)), 2e-6f, "score " + i);
    }
  }

  private static float[] scores(Map<String, float[]> state) {
    try (Scope scope = new Scope()) {
      Network network = new Network(Chain.of(RunnableModel.of(GPT)), 0);
      Part part = network.part(0, network.size() - 1);
      for (Parameter parameter : part.parameters()) {
        float[] values = requireNonNull(state.get(parameter.name()));
        parameter.value().detached().copyInPlace(Tensor.of(values, parameter.value().shape()));
      }
      long[] tokens = new long[24];
      Arrays.setAll(tokens, i -> i * 7 % 31);
      return part.forward(List.of(), List.of(Tensor.ofWhole(tokens, 3, 8)), ForwardPass.answering())
          .get(0)
          .toFloats();
    }
  }

  /** Training from a merged file is training from the parameters that were merged. */
  @ParameterizedTest
  @EnumSource(
      value = Strategy.class,
      names = {"STAGES", "TENSOR", "ZERO_3", "EXPERT", "SPATIAL"})
  void trainingStartsFromAFile(Strategy strategy) throws IOException {
    Path file = merged(strategy.serial(), "first");
    ParameterSet started =
        new CheckpointFiles()
            .start(
                file.toString(),
                strategy.model,
                OptionalInt.empty(),
                folder.resolve("started").toString());
    assertEquals(0, started.step());
    Path same = folder.resolve("same.safetensors");
    new CheckpointFiles().merge(started.written(), same.toString());
    Runs.near(Safetensors.read(file), Safetensors.read(same), 0, 0);
    strategy.serial().resume(folder.resolve("started"), folder.resolve("alone"));
    strategy.runs().resume(folder.resolve("started"), folder.resolve("together"));
    Map<String, float[]> alone = Runs.state(folder.resolve("alone"));
    Runs.near(alone, Runs.state(folder.resolve("together")), 1e-5, 1e-7);
    Map<String, float[]> before = Runs.state(folder.resolve("first"));
    alone.forEach((name, values) ->
        assertFalse(Arrays.equals(values, before.get(name)), name + " has not been trained"));
    assertEquals(3, Runs.manifest(folder.resolve("alone")).step());
  }

  /** The first step of momentum without a past is that of plain gradient descent. */
  @Test
  void theOptimizerBeginsAtZero() {
    Path file = merged(Strategy.FILTER.serial(), "first");
    new CheckpointFiles()
        .start(
            file.toString(), Runs.MODEL, OptionalInt.empty(), folder.resolve("started").toString());
    for (Optimizer optimizer : List.of(Optimizer.MOMENTUM, Optimizer.SGD)) {
      new Runs(Runs.MODEL, Strategy.FILTER.serial().assignment(), optimizer, Workers.THREADS, 1, 1)
          .resume(folder.resolve("started"), folder.resolve(optimizer.name()));
    }
    Map<String, float[]> momentum = new TreeMap<>(Runs.state(folder.resolve("MOMENTUM")));
    momentum.keySet().removeIf(name -> name.contains("/moment-"));
    Runs.near(Runs.state(folder.resolve("SGD")), momentum, 0, 0);
  }
}
