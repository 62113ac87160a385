package dev.pipewright.formats.oracle;

import dev.pipewright.predict.transformer.Framework;
import dev.pipewright.predict.transformer.NumberFormats;
import dev.pipewright.predict.transformer.NumberFormats.Products;
import dev.pipewright.predict.transformer.NumberFormats.StateBytes;
import dev.pipewright.predict.transformer.RecomputePolicy;
import dev.pipewright.predict.transformer.RecomputePolicy.Module;
import dev.pipewright.predict.transformer.RecomputePolicy.Operators;
import dev.pipewright.predict.transformer.SoftwareStack;
import dev.pipewright.predict.transformer.TransformerRun.Kept;
import dev.pipewright.predict.transformer.TransformerRun.Offload;
import dev.pipewright.predict.transformer.TransformerRun.Routing;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Software, precision, recomputation and routing of a row. */
final class RowSettings {
  private static final List<String> PRECISIONS =
      List.of("bf16", "mixed-bf16", "fp16", "mixed-fp16", "fp8", "mxfp8", "nvfp4");
  private static final List<String> GRADIENTS = List.of("fp32", "bf16", "fp16");
  private static final Set<String> SINGLE_COPY = Set.of("deepep", "hybridep", "flex");
  private static final Pattern LAYERS = Pattern.compile("(\\d{1,6}) layers");

  private final TrainingRow row;
  private final boolean megatronFlags;
  private final int zero;
  private final boolean fused;
  private final Framework framework;
  private final String precision;

  RowSettings(TrainingRow row, boolean megatronFlags, int zero) {
    this.row = row;
    this.megatronFlags = megatronFlags;
    this.zero = zero;
    this.fused = megatronFlags ? fusedBackend() : fusedColumn();
    this.framework = framework();
    this.precision = row.choice("precision", "bf16", PRECISIONS);
  }

  boolean fusedAttention() {
    return fused;
  }

  private boolean fusedColumn() {
    return row.choice("attention", "flash", List.of("flash", "fused", "standard", "unfused"))
        .matches("flash|fused");
  }

  /** Megatron-LM's {@code auto} chooses a fused kernel. */
  private boolean fusedBackend() {
    String backend = row.text("attention_backend");
    return backend.isEmpty()
        || backend.equals("auto")
        || backend.equals("flash")
        || backend.equals("fused");
  }

  private Framework framework() {
    String word = row.text("framework");
    if (word.isEmpty() && !megatronFlags) {
      return zero >= 2 ? Framework.MPT : Framework.MEGATRON_DEEPSPEED;
    }
    Framework likely =
        !fused
            ? Framework.MEGATRON_DEEPSPEED
            : zero == 3 ? Framework.NEMO_AUTOMODEL : Framework.MEGATRON_BRIDGE;
    return Framework.find(word).orElse(likely);
  }

  /** Whether ZeRO 2 and 3 shard again after every pass of a pipeline. */
  boolean reshard() {
    boolean again = megatronFlags || framework.reshards(); // Megatron-FSDP's flags
    String usual = again ? "always" : "never";
    return row.choice("reshard", usual, List.of("always", "never")).equals("always");
  }

  SoftwareStack software() {
    return new SoftwareStack(
        framework,
        row.text("release"),
        row.flag("eager", false),
        row.flag("async_tensor_parallel", false),
        row.text("cuda_graph").startsWith("full_iteration"));
  }

  private boolean narrowProducts() {
    return precision.equals("fp8") || row.isFilled("fp8_format");
  }

  NumberFormats formats() {
    Products products =
        switch (precision) {
          case "mxfp8" -> Products.MXFP8;
          case "nvfp4" -> Products.NVFP4;
          default -> narrowProducts() ? Products.FP8 : Products.HALF;
        };
    boolean delayed = row.text("fp8_recipe").contains("delayed") || framework.delaysScales();
    boolean stated = row.isFilled("grads");
    boolean pure = precision.equals("bf16") && !stated && !megatronFlags;
    boolean half = precision.equals("fp16") || precision.equals("mixed-fp16");
    boolean fp32 = row.choice("grads", "fp32", GRADIENTS).equals("fp32");
    boolean exchanged32 =
        stated ? fp32 : !(pure || half || precision.equals("fp8") || framework.exchangesHalf());
    boolean held32 = stated ? fp32 : !half;
    return new NumberFormats(
        products,
        products.castBytes(delayed),
        row.text("fp8_recipe").contains("row"),
        pure,
        exchanged32 ? 4 : 2,
        state(pure, half && !held32, held32));
  }

  private StateBytes state(boolean pure, boolean halfGradients, boolean held32) {
    if (pure) {
      return new StateBytes(2, 2, 4);
    }
    // Megatron-LM copies fp16 gradients to fp32
    return new StateBytes(2, held32 ? 4 : 2, halfGradients && megatronFlags ? 16 : 12);
  }

  RecomputePolicy recompute() {
    String detail = (row.text("recompute_modules") + " " + row.text("recompute_detail")).strip();
    String words = detail.toLowerCase(Locale.ROOT);
    return switch (row.choice("recompute", "none", List.of("none", "full", "selective"))) {
      case "full" -> full(words);
      case "selective" -> selective(words);
      default -> new RecomputePolicy.None();
    };
  }

  private RecomputePolicy full(String detail) {
    Matcher layers = LAYERS.matcher(detail);
    int count = layers.find() ? Integer.parseInt(layers.group(1)) : 0;
    return new RecomputePolicy.Full(count, detail.contains("chunk"));
  }

  private static RecomputePolicy selective(String detail) {
    if (detail.contains("save_dot") || detail.contains("dot_only")) {
      return new RecomputePolicy.PerOperator(Operators.ALL_BUT_PRODUCTS);
    }
    if (detail.contains("every second")) {
      return new RecomputePolicy.PerOperator(Operators.EVERY_SECOND_PRODUCT);
    }
    if (detail.contains("whole blocks")) {
      return new RecomputePolicy.HalfOfBlocks();
    }
    if (detail.isEmpty()) {
      return new RecomputePolicy.Selective(Set.of(Module.CORE_ATTN));
    }
    Set<String> words = Set.copyOf(Arrays.asList(detail.split("[^a-z0-9_]+", -1)));
    return new RecomputePolicy.Selective(
        EnumSet.allOf(Module.class).stream()
            .filter(module -> words.contains(module.name().toLowerCase(Locale.ROOT)))
            .collect(Collectors.toSet()));
  }

  Routing routing() {
    String dispatcher = row.text("moe_dispatcher").split(":", 2)[0];
    return new Routing(
        SINGLE_COPY.contains(dispatcher),
        row.flag("moe_a2a_overlap", false),
        row.flag("token_drop", false));
  }

  Offload offload() {
    String words = row.text("offload");
    return new Offload(
        row.count("offload_layers", 0),
        EnumSet.allOf(Offload.Part.class).stream()
            .filter(part -> words.contains(part.name().toLowerCase(Locale.ROOT)))
            .collect(Collectors.toSet()),
        row.number("offload_optimizer", 0));
  }

  Kept kept() {
    double usual = fused || megatronFlags ? 0 : 0.1; // networks of 2021 and 2022 had dropout
    boolean fusedLoss =
        megatronFlags ? row.text("cross_entropy_fusion").equals("te") : framework.fusesLoss();
    return new Kept(
        row.number("hidden_dropout", usual) > 0,
        row.number("attention_dropout", usual) > 0,
        fusedLoss ? 4 : 6,
        megatronFlags ? 4 : 2,
        !row.text("optimizer").equalsIgnoreCase("muon"));
  }
}
