package dev.pipewright.formats.transformer;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.Beginning;
import dev.pipewright.formats.file.ShownText;
import dev.pipewright.formats.json.Tree;
import dev.pipewright.formats.model.RotaryScaling;
import dev.pipewright.formats.model.TransformerConstants;
import dev.pipewright.formats.model.TransformerFile;
import dev.pipewright.model.transformer.TransformerShape;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.regex.Pattern;

/**
 * Reads the arguments of Megatron-LM, of a GPT: the YAML of its functional tests ({@code
 * MODEL_ARGS:}), a script that starts it, or the list in the log of a run. Words of a tokenizer
 * that the arguments do not count are known for a few tokenizers; the vocabulary is padded as
 * Megatron does.
 */
public final class MegatronFile {
  private static final Pattern YAML = Pattern.compile("(?m)^MODEL_ARGS:");
  private static final Pattern LOG = Pattern.compile("(?m)(^|[\\s\\]:])num_layers \\.{3,} \\d");
  private static final Pattern WORDS = Pattern.compile("--num[-_]layers[\\s=]");
  private static final String VOCABULARY = "vocab-size";
  private static final int GPT2_WORDS = 50_257;
  private static final int LLAMA2_WORDS = 32_000;
  private static final double ROPE_SCALING_FACTOR = 8;

  /** Words of tokenizers by a part of their model's name. */
  private static final Map<String, Integer> TOKENIZERS =
      Map.of(
          "nemotron_2_256k", 256_000,
          "nemotron_3_256k", 256_000,
          "Mixtral-8x7B", 32_000,
          "Llama-2-", 32_000,
          "Llama-3", 128_256);

  private MegatronFile() {}

  /** Whether a file that starts so holds such arguments. */
  public static boolean begins(String start) {
    return !start.startsWith("{")
        && (YAML.matcher(start).find() || LOG.matcher(start).find() || WORDS.matcher(start).find());
  }

  /** Throws {@link BadInputException} where a value is missing, wrong or not known yet. */
  public static TransformerFile read(Path file) {
    String start = Beginning.of(file);
    if (YAML.matcher(start).find()) {
      return read(file, "Megatron test", yaml(file), OptionalInt.empty());
    }
    if (LOG.matcher(start).find()) {
      MegatronLog log = MegatronLog.read(file);
      return read(file, "Megatron log", log.arguments(), log.vocabulary());
    }
    return read(file, "Megatron script", MegatronScript.read(file), OptionalInt.empty());
  }

  /** All arguments that a file gives, whatever they are of; throws as {@link #read} does. */
  public static MegatronArguments arguments(Path file) {
    String start = Beginning.of(file);
    return YAML.matcher(start).find()
        ? yaml(file)
        : LOG.matcher(start).find()
            ? MegatronLog.read(file).arguments()
            : MegatronScript.read(file);
  }

  /**
   * Arguments as they stand on a command line.
   *
   * @param place what sentences about mistakes call them
   */
  public static MegatronArguments arguments(Path place, String text) {
    return MegatronScript.of(place, text);
  }

  private static MegatronArguments yaml(Path file) {
    MegatronArguments arguments = new MegatronArguments(file, MegatronFile::plain);
    Tree.yamlOrJson(file)
        .object()
        .required("MODEL_ARGS")
        .object()
        .node()
        .members()
        .forEach((name, value) -> arguments.add(name, value.scalar(), value.line()));
    arguments.refuseMisspelled();
    return arguments;
  }

  private static String plain(String text) {
    if (text.contains("$")) {
      throw new IllegalArgumentException(
          "is %s, which the file does not assign; write the value".formatted(ShownText.of(text)));
    }
    return text;
  }

  /** Those that the arguments state. */
  private static TransformerConstants constants(MegatronArguments arguments) {
    return new TransformerConstants(
        arguments.decimal("rotary-base"),
        arguments.decimal("rotary-percent"),
        scaling(arguments),
        arguments.decimal("norm-epsilon"),
        arguments.decimal("attention-dropout"),
        arguments.decimal("hidden-dropout"),
        Optional.of(activation(arguments)));
  }

  private static String activation(MegatronArguments arguments) {
    return arguments.flag("swiglu")
        ? "silu"
        : arguments.flag("quick-geglu")
            ? "quick_gelu"
            : arguments.flag("squared-relu") ? "relu2" : "gelu";
  }

  private static Optional<RotaryScaling> scaling(MegatronArguments arguments) {
    return arguments.raw("use-rope-scaling").equalsIgnoreCase("true")
        ? Optional.of(
            RotaryScaling.llama3(
                arguments.decimal("rope-scaling-factor").orElse(ROPE_SCALING_FACTOR)))
        : Optional.empty();
  }

  private static TransformerFile read(
      Path file, String source, MegatronArguments arguments, OptionalInt padded) {
    List<String> notes = new ArrayList<>();
    int vocabulary = padded.orElseGet(() -> vocabulary(arguments, notes));
    TransformerShape shape = MegatronShape.of(arguments, vocabulary);
    if (shape.prediction().isPresent()) {
      notes.add("parameters do not include those of multi-token prediction");
    }
    String name =
        String.valueOf(file.getFileName()).replaceFirst("(\\.model_config)?\\.[a-z]+$", "");
    return new TransformerFile(name, source, shape, constants(arguments), notes);
  }

  /** Padded so that each tensor-parallel rank has equally many words. */
  private static int vocabulary(MegatronArguments arguments, List<String> notes) {
    OptionalInt said = arguments.optional("padded-vocab-size");
    if (said.isPresent() && said.getAsInt() > 0) {
      return said.getAsInt();
    }
    long words = words(arguments, notes);
    long multiple =
        (long) arguments.number("make-vocab-size-divisible-by", 128)
            * arguments.number("tensor-model-parallel-size", 1);
    if (multiple < 1) {
      throw arguments.wrong(
          "make-vocab-size-divisible-by",
          "--make-vocab-size-divisible-by is 0; expected a whole number >= 1");
    }
    long padded = (words + multiple - 1) / multiple * multiple;
    if (padded > 1 << 28) {
      throw arguments.wrong(
          VOCABULARY, "the padded vocabulary has %d words; expected fewer".formatted(padded));
    }
    if (padded != words) {
      notes.add("the vocabulary of %,d words is padded to %,d".formatted(words, padded));
    }
    return (int) padded;
  }

  private static long words(MegatronArguments arguments, List<String> notes) {
    OptionalInt said = arguments.optional(VOCABULARY);
    if (said.isPresent()) {
      return said.getAsInt();
    }
    String type = arguments.raw("tokenizer-type");
    String model = arguments.raw("tokenizer-model");
    for (Map.Entry<String, Integer> known : TOKENIZERS.entrySet()) {
      if (model.contains(known.getKey())) {
        notes.add(
            "%,d words are those of the tokenizer %s".formatted(known.getValue(), known.getKey()));
        return known.getValue();
      }
    }
    if (type.equals("Llama2Tokenizer")) {
      notes.add("%,d words are those of Llama 2's tokenizer".formatted(LLAMA2_WORDS));
      return LLAMA2_WORDS;
    }
    boolean byDefault = type.isEmpty() || type.equals("None");
    if (type.equals("GPT2BPETokenizer") || (byDefault && model.isEmpty())) {
      notes.add(
          "%,d words are those of GPT-2's tokenizer%s"
              .formatted(GPT2_WORDS, byDefault ? ", Megatron's default" : ""));
      return GPT2_WORDS;
    }
    throw arguments.wrong(
        "tokenizer-type",
        "the vocabulary is that of the tokenizer %s, whose words are not known here; add --vocab-size"
            .formatted(ShownText.of(model.isEmpty() ? type : model)));
  }
}
