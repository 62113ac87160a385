package dev.pipewright.formats.export;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.Refusal;
import dev.pipewright.formats.imported.PlanImports;
import dev.pipewright.formats.model.RotaryScaling;
import dev.pipewright.formats.model.TransformerConstants;
import dev.pipewright.formats.problem.NetworkNames;
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
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
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
    int samples = first.parallelism().sampleParts();
    boolean tokens = first.parallelism().tokenParts() > 1;
    boolean both = name.equals("experts and tensor");
    int features =
        name.equals("context and tensor") ? 4 : both ? 2 : tokens || samples > 1 ? 1 : parts;
    assertEquals(features, read.number("tensor-model-parallel-size"));
    assertEquals(tokens ? parts / features : 1, read.number("context-parallel-size"));
    String text = MEGATRON.write(SamplePlans.exported(plan)).get(0).text();
    assertEquals(tokens, text.contains("--cp-comm-type all_gather"), text);
    assertEquals(kind.equals("expert") ? parts : 1, read.number("expert-model-parallel-size"));
    assertEquals(plan.devicesByRank().size(), read.number("pipeline-model-parallel-size"));
    assertEquals(both ? 1 : 0, read.number("expert-tensor-parallel-size", 0));
    int data = first.devices().size() / parts * samples;
    long step = (long) read.number("micro-batch-size") * data * plan.microBatches();
    assertEquals(step, read.number("global-batch-size"));
    assertEquals(plan.globalBatch(), step);
    assertEquals(plan.sharding().level() >= 1, read.flag("use-distributed-optimizer"));
    assertEquals(plan.overlapGradients(), read.flag("overlap-grad-reduce"));
    assertEquals(both || kind.equals("sequence"), read.flag("sequence-parallel"));
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
            TransformerConstants.NONE,
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

  /** The network of a model file, as one stage. */
  private String argumentsOf(Path file) {
    PipelinePlan plan = SamplePlans.of("1f1b", 2, 1).stage(SamplePlans.HEAD, 0).plan();
    ExportSubject exported =
        new ExportSubject(
            plan,
            file.toString(),
            NetworkNames.transformer(file.toString(), Optional.empty(), OptionalInt.empty()),
            NetworkNames.constants(file.toString(), Optional.empty()),
            SamplePlans.LAYERS,
            8,
            new Training(Optimizer.ADAM, Precision.BF16));
    return MEGATRON.write(exported).get(0).text();
  }

  @Test
  void constantsAreThoseOfTheModelFileAndAreReadBack() {
    Path config =
        Refusal.file(
            folder,
            "config.json",
            """
            {"model_type": "llama", "rope_theta": 500000.0, "rms_norm_eps": 1e-05,
             "attention_dropout": 0.0, "rope_scaling": {"rope_type": "llama3",
             "factor": 32.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
             "original_max_position_embeddings": 8192}}
            """);
    String text = argumentsOf(config);
    assertTrue(text.contains("\n  --rotary-base 500000\n"), text);
    assertTrue(text.contains("\n  --norm-epsilon 0.00001\n"), text);
    assertTrue(text.contains("\n  --attention-dropout 0\n"), text);
    assertTrue(text.contains("\n  --hidden-dropout 0\n"), text);
    assertTrue(text.contains("\n  --use-rope-scaling\n  --rope-scaling-factor 32\n"), text);
    assertFalse(text.contains("does not state") || text.contains("is not written"), text);
    TransformerConstants read =
        MegatronFile.read(Refusal.file(folder, "megatron-args.sh", text)).constants();
    assertEquals(OptionalDouble.of(500_000), read.rotaryBase());
    assertEquals(OptionalDouble.of(1e-5), read.normEpsilon());
    assertEquals(OptionalDouble.of(0), read.attentionDropout());
    assertEquals(OptionalDouble.of(0), read.hiddenDropout());
    assertEquals(OptionalDouble.empty(), read.rotaryShare());
    assertEquals(Optional.of(RotaryScaling.llama3(32)), read.rotaryScaling());
  }

  /** Megatron has Llama's way of it, with fixed frequencies. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "\"rope_scaling\": {\"type\": \"yarn\", \"factor\": 40}",
        "\"rope_scaling\": {\"rope_type\": \"llama3\", \"factor\": 8}"
      })
  void scaledPositionsThatMegatronHasNotAreNamed(String scaling) {
    String text =
        argumentsOf(
            Refusal.file(
                folder, "config.json", "{\"model_type\": \"llama\", %s}".formatted(scaling)));
    assertTrue(
        text.matches("(?s).*\n# The network scales rotary positions \\((yarn|llama3)\\), .*"),
        text);
    assertFalse(text.contains("--use-rope-scaling"), text);
  }

  /** Gated networks but for the last two; the argument, and a word of the sentence on the rest. */
  @ParameterizedTest
  @CsvSource({
    "'\"llama\", \"hidden_act\": \"silu\"', --swiglu, silu, ''",
    "'\"gemma\", \"hidden_act\": \"gelu\"', --swiglu, silu, 'gate is gelu_pytorch_tanh, for which'",
    "'\"llama\", \"hidden_act\": \"gelu\"', --swiglu, silu, 'gate is gelu, for which'",
    "'\"gpt_oss\", \"hidden_act\": \"silu\"', --quick-geglu, quick_gelu, --glu-linear-offset",
    "'\"gpt2\", \"activation_function\": \"gelu_new\"', '', gelu, ''",
    "'\"gpt2\", \"activation_function\": \"relu2\"', --squared-relu, relu2, ''",
    "'\"gpt2\", \"activation_function\": \"relu\"', '', gelu, 'activation is relu, for which'"
  })
  void theActivationIsWrittenOrNamed(String family, String flag, String read, String sentence) {
    String layers = "{\"n_layer\": 32, \"num_hidden_layers\": 32, \"model_type\": ";
    String text = argumentsOf(Refusal.file(folder, "config.json", layers + family + "}"));
    List<String> written =
        text.lines()
            .map(String::strip)
            .filter(List.of("--swiglu", "--quick-geglu", "--squared-relu")::contains)
            .toList();
    assertEquals(flag.isEmpty() ? List.of() : List.of(flag), written);
    assertTrue(text.contains(sentence), text);
    assertEquals(sentence.isEmpty(), !text.contains("activation"), text);
    assertEquals(
        Optional.of(read),
        MegatronFile.read(Refusal.file(folder, "megatron-args.sh", text)).constants().activation());
  }

  @Test
  void whatTheModelFileDoesNotStateIsNamedAndNotWritten() {
    String text = argumentsOf(Refusal.file(folder, "config.json", "{\"model_type\": \"llama\"}"));
    assertTrue(
        text.contains(
            "\n# The network's source does not state --rotary-base (by default 10000), --norm-epsilon (1e-5), --attention-dropout (0.1): add"),
        text);
    assertFalse(text.contains("\n  --rotary-base"), text);
    assertFalse(text.contains("\n  --norm-epsilon"), text);
  }

  @Test
  void theArgumentsAreThese() {
    PipelinePlan plan = SamplePlans.named(SamplePlans.ofMegatron(), "interleaved, uneven");
    assertEquals(
        """
        # Megatron-LM arguments of a plan for llama3-8b on 8 devices: pipeline 2, data 4, tensor 1, 4 stages on each rank
        # Add what only you know: --data-path; --tokenizer-type and --tokenizer-model; --lr and --train-iters; --save and --load.
        # The network's source does not state --rotary-base (by default 10000), --norm-epsilon (1e-5), --attention-dropout (0.1), --hidden-dropout (0.1): add those whose defaults do not fit.
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
    return new ExportSubject(
        plan.plan(),
        "deepseek-v3",
        Optional.of(shape),
        TransformerConstants.NONE,
        layers,
        8,
        training);
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
