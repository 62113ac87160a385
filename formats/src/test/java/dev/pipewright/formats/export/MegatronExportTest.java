package dev.pipewright.formats.export;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.Refusal;
import dev.pipewright.formats.imported.PlanImports;
import dev.pipewright.formats.transformer.MegatronArguments;
import dev.pipewright.formats.transformer.MegatronFile;
import dev.pipewright.formats.transformer.MegatronLayout;
import dev.pipewright.formats.transformer.MegatronLayout.Kind;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Training;
import dev.pipewright.model.transformer.TransformerShape;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.units.Precision;
import dev.pipewright.zoo.Transformers;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class MegatronExportTest {
  private static final PlanExport MEGATRON = new MegatronExport();

  @TempDir Path folder;

  static Stream<String> plans() {
    return SamplePlans.ofMegatron().keySet().stream();
  }

  private MegatronArguments written(PipelinePlan plan) {
    List<ExportedFile> files = MEGATRON.write(SamplePlans.exported(plan));
    assertEquals(1, files.size());
    return MegatronFile.arguments(Refusal.file(folder, files.get(0).name(), files.get(0).text()));
  }

  @ParameterizedTest
  @MethodSource("plans")
  void argumentsReadBackAreTheDegrees(String name) {
    PipelinePlan plan = SamplePlans.named(SamplePlans.ofMegatron(), name);
    MegatronArguments read = written(plan);
    StagePlan first = plan.stages().get(0);
    int parts = first.parallelism().parts();
    String kind = first.parallelism().kind().word();
    boolean tokens = kind.equals("context") || kind.equals("expert");
    assertEquals(tokens ? 1 : parts, read.number("tensor-model-parallel-size"));
    assertEquals(tokens ? parts : 1, read.number("context-parallel-size"));
    assertEquals(kind.equals("expert") ? parts : 1, read.number("expert-model-parallel-size"));
    assertEquals(plan.devicesByRank().size(), read.number("pipeline-model-parallel-size"));
    int data = first.devices().size() / parts;
    long step = (long) read.number("micro-batch-size") * data * plan.microBatches();
    assertEquals(step, read.number("global-batch-size"));
    assertEquals(plan.globalBatch(), step);
    assertEquals(plan.sharding().level() >= 1, read.flag("use-distributed-optimizer"));
    assertEquals(plan.overlapGradients(), read.flag("overlap-grad-reduce"));
    assertEquals(kind.equals("sequence"), read.flag("sequence-parallel"));
  }

  @ParameterizedTest
  @MethodSource("plans")
  void aLayoutExpandsToTheStages(String name) {
    PipelinePlan plan = SamplePlans.named(SamplePlans.ofMegatron(), name);
    MegatronArguments read = written(plan);
    Optional<String> text = read.word("pipeline-model-parallel-layout");
    int ranks = plan.devicesByRank().size();
    List<List<Kind>> planned = new ArrayList<>();
    for (StagePlan stage : plan.stages()) {
      List<Kind> layers = new ArrayList<>();
      for (int layer = stage.firstLayer(); layer <= stage.lastLayer(); layer++) {
        layers.add(
            layer == 0 ? Kind.EMBEDDING : layer == SamplePlans.HEAD ? Kind.LOSS : Kind.DECODER);
      }
      planned.add(layers);
    }
    if (text.isPresent()) {
      MegatronLayout layout = MegatronLayout.parse(text.get(), ranks);
      assertEquals(planned, layout.stages());
      assertEquals(List.of(), layout.problems(OptionalInt.of(32), OptionalInt.empty()));
    } else {
      assertEquals(ranks, planned.size());
      planned.forEach(
          stage -> assertEquals(32 / ranks, stage.stream().filter(k -> k == Kind.DECODER).count()));
    }
    assertEquals(
        name.contains("uneven")
            || name.contains("interleaved")
            || name.contains("alone")
            || name.contains("some")
            || name.contains("four"),
        text.isPresent());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "llama3-8b",
        "llama3-405b",
        "llama2-13b",
        "qwen3-32b",
        "qwen3-30b-a3b",
        "mixtral-8x7b",
        "deepseek-v3",
        "gpt3-175b",
        "gpt-2",
        "megatron-1t"
      })
  void theNetworkReadBackIsTheSame(String name) {
    TransformerShape shape = Transformers.find(name).orElseThrow().shape();
    int last = shape.stack().size() + 1;
    PipelinePlan plan = SamplePlans.of("1f1b", 2, 1).stage(last, 0).plan();
    ExportSubject exported =
        new ExportSubject(
            plan,
            name,
            Optional.of(shape),
            List.of(),
            8,
            new Training(Optimizer.ADAM, Precision.BF16));
    ExportedFile file = MEGATRON.write(exported).get(0);
    TransformerShape read =
        MegatronFile.read(Refusal.file(folder, file.name(), file.text())).shape();
    assertEquals(shape.stack(), read.stack());
    assertEquals(shape.head(), read.head());
    assertEquals(shape.input().positions(), read.input().positions());
    assertEquals(shape.sequence(), read.sequence());
    assertTrue(read.inputParameters() >= shape.inputParameters(), "padded, never cut");
  }

  @Test
  void theArgumentsAreThese() {
    PipelinePlan plan = SamplePlans.named(SamplePlans.ofMegatron(), "interleaved, uneven");
    assertEquals(
        """
        # Megatron-LM arguments of a plan for llama3-8b on 8 devices: pipeline 2, data 4, tensor 1, 4 stages on each rank
        MODEL_ARGS=(
          --num-layers 32
          --hidden-size 4096
          --ffn-hidden-size 14336
          --num-attention-heads 32
          --group-query-attention
          --num-query-groups 8
          --seq-length 8192
          --max-position-embeddings 8192
          --position-embedding-type rope
          --vocab-size 128256
          --normalization RMSNorm
          --swiglu
          --disable-bias-linear
          --untie-embeddings-and-output-weights
        )
        PLAN_ARGS=(
          --tensor-model-parallel-size 1
          --pipeline-model-parallel-size 2
          --pipeline-model-parallel-layout 'Et*3|t*5|t*4|t*5|t*4|t*5|t*4|ttL'
          --context-parallel-size 1
          --expert-model-parallel-size 1
          --micro-batch-size 1
          --global-batch-size 32
          --use-distributed-optimizer
          --overlap-grad-reduce
          --overlap-param-gather
          --bf16
          --optimizer adam
        )
        """,
        MEGATRON.write(SamplePlans.exported(plan)).get(0).text());
  }

  /** 61 blocks, a layer of multi-token prediction and the head, on four ranks. */
  private static ExportSubject predicting(int... ends) {
    TransformerShape shape = Transformers.find("deepseek-v3").orElseThrow().shape();
    SamplePlans plan = SamplePlans.of("1f1b", 16, 1);
    for (int rank = 0; rank < ends.length; rank++) {
      plan.stage(ends[rank], rank);
    }
    List<String> layers = Collections.nCopies(64, "layer");
    Training training = new Training(Optimizer.ADAM, Precision.BF16);
    return new ExportSubject(plan.plan(), "deepseek-v3", Optional.of(shape), layers, 8, training);
  }

  @Test
  void layersOfMultiTokenPredictionAreWritten() {
    ExportSubject subject = predicting(16, 32, 48, 63);
    ExportedFile written = MEGATRON.write(subject).get(0);
    MegatronArguments read =
        MegatronFile.arguments(Refusal.file(folder, written.name(), written.text()));
    assertEquals(1, read.number("mtp-num-layers"));
    assertEquals(
        "Et*16|t*16|t*16|t*13,mL", read.word("pipeline-model-parallel-layout").orElseThrow());
    Path file = Refusal.file(folder, written.name(), written.text());
    assertEquals(
        subject.plan(), PlanImports.read(file, OptionalInt.of(4)).plan(), "as it was exported");
    assertEquals(0, predicting(16, 32, 48, 63).predictions(2));
    assertEquals(1, predicting(16, 32, 61, 63).predictions(3));
    String refused =
        assertThrows(
                BadInputException.class,
                () ->
                    ExportCatalog.named("--to", "deepspeed", SamplePlans.options("deepspeed"))
                        .write(subject))
            .getMessage();
    assertTrue(String.valueOf(refused).contains("layers of multi-token prediction"), refused);
  }
}
