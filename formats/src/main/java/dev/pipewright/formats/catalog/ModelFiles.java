package dev.pipewright.formats.catalog;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.Beginning;
import dev.pipewright.formats.file.Nearest;
import dev.pipewright.formats.model.DescribedModel;
import dev.pipewright.formats.model.GraphText;
import dev.pipewright.formats.model.LayerTable;
import dev.pipewright.formats.model.ModelFile;
import dev.pipewright.formats.model.TransformerFile;
import dev.pipewright.formats.paradl.ParadlNet;
import dev.pipewright.formats.profile.ProfileJson;
import dev.pipewright.formats.transformer.CalculonModel;
import dev.pipewright.formats.transformer.HuggingFaceConfig;
import dev.pipewright.formats.transformer.MegatronFile;
import dev.pipewright.formats.transformer.TorchtitanToml;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Training;
import dev.pipewright.model.transformer.TransformerShape;
import dev.pipewright.zoo.Models;
import dev.pipewright.zoo.ZooModel;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Collectors;

/** Reads a model file of any format that is known here, recognised by its content. */
public final class ModelFiles {
  /** All formats. A file is of the first one that it begins like. */
  private static final List<ModelFormat> KNOWN =
      List.of(
          new ModelFormat(
              "graph-text",
              "a graph text (\"node1 -- …\")",
              start -> start.startsWith("node"),
              ModelFormat.unsaid("a graph text", GraphText::read)),
          new ModelFormat(
              "hugging-face",
              "a Hugging Face config.json",
              HuggingFaceConfig::begins,
              ModelFormat.saying(HuggingFaceConfig::read)),
          new ModelFormat(
              "calculon",
              "a Calculon model",
              CalculonModel::begins,
              ModelFormat.saying(CalculonModel::read)),
          new ModelFormat(
              "profile",
              "a profile in JSON",
              start -> start.startsWith("{"),
              ModelFormat.saying(ProfileJson::read)),
          new ModelFormat(
              "megatron",
              "Megatron arguments (\"--num-layers …\", MODEL_ARGS or a log)",
              MegatronFile::begins,
              ModelFormat.saying(MegatronFile::read)),
          new ModelFormat(
              "torchtitan",
              "a torchtitan TOML (\"[model]\")",
              TorchtitanToml::begins,
              ModelFormat.saying(TorchtitanToml::read)),
          new ModelFormat(
              "paradl",
              "a ParaDL network (\"Dataset|…\")",
              ModelFormat.firstLine("Dataset\\s*\\|.*"),
              ModelFormat.saying(ParadlNet::read)),
          new ModelFormat(
              "layer-table",
              "a table of layers (\"layer,forward_s,…\")",
              ModelFormat.firstLine("(.*,)?\\s*layer\\s*(,.*)?"),
              ModelFormat.unsaid("a table of layers", LayerTable::read)));

  /** The names of the formats, for {@code --model-format}. */
  public static final List<String> FORMATS = KNOWN.stream().map(ModelFormat::name).toList();

  private ModelFiles() {}

  /** What a file begins like, as {@code a Hugging Face config.json}; empty where like none. */
  public static Optional<String> words(Path file) {
    String start = Beginning.of(file);
    return KNOWN.stream()
        .filter(format -> format.begins().test(start))
        .findFirst()
        .map(format -> format.example().replaceFirst(" \\(.*", ""));
  }

  /**
   * What a file describes. Throws {@link BadInputException} when there is no such file, when it is
   * of no known format, or when what it says is wrong.
   *
   * @param profileBatch samples that times and activations are for, where the format does not say
   * @param format one of {@link #FORMATS}; empty to find out
   */
  public static DescribedModel described(
      Path file, OptionalInt profileBatch, Optional<String> format) {
    ModelFormat known = format.map(ModelFiles::named).orElseGet(() -> recognised(file));
    return known.reader().read(file, profileBatch);
  }

  /**
   * A network with times to plan by; throws as {@link #described} does, where the file describes a
   * transformer without times, and where no layer takes any time.
   */
  public static ModelFile read(Path file, OptionalInt profileBatch, Optional<String> format) {
    return timed(file, measured(file, described(file, profileBatch, format)));
  }

  /** The same network, where its layers take time. */
  public static ModelFile timed(Path file, ModelFile read) {
    List<Integer> batches = read.profile().samples();
    for (int batch : batches) {
      if (!read.profile().takesTime(batch)) {
        throw BadInputException.at(
            file,
            1,
            "no layer takes any time%s, so nothing can be planned; measure the layers first, with `pipewright profile`"
                .formatted(batches.size() == 1 ? "" : " for a batch of " + batch));
      }
    }
    return read;
  }

  private static ModelFile measured(Path file, DescribedModel described) {
    return switch (described) {
      case ModelFile read -> read;
      case TransformerFile transformer ->
          throw BadInputException.in(
              file,
              "is a %s, which holds no times of layers; give a profile of the network, which `pipewright profile` measures"
                  .formatted(transformer.source()));
    };
  }

  /**
   * A network to train, which may have no times; throws as {@link #described} does otherwise.
   *
   * @param sequence tokens of a sample; the usual ones where empty
   */
  public static LayerGraph graph(Path file, OptionalInt sequence) {
    return switch (described(file, OptionalInt.of(1), Optional.empty())) {
      case ModelFile read when sequence.isPresent() -> throw fixedLength(file);
      case ModelFile read -> read.graph();
      case TransformerFile transformer -> layers(file, transformer, sequence).graph();
    };
  }

  /** Why the length of a file's samples cannot be chosen. */
  public static BadInputException fixedLength(Path file) {
    return new BadInputException(
        "--sequence: %s states its layers for samples as they are; leave it out".formatted(file));
  }

  /** How a file says that its network is trained; throws as {@link #described} does. */
  public static Optional<Training> training(Path file) {
    return switch (described(file, OptionalInt.of(1), Optional.empty())) {
      case ModelFile read -> read.training();
      case TransformerFile transformer -> Optional.empty();
    };
  }

  /**
   * A transformer as a network of layers; throws {@link BadInputException} where today's layers
   * cannot express it.
   *
   * @param sequence tokens of a sample; the usual ones where empty
   */
  public static ZooModel layers(Path file, TransformerFile transformer, OptionalInt sequence) {
    TransformerShape shape = trained(file, transformer, sequence);
    try {
      return Models.shaped(transformer.name(), shape, transformer.source());
    } catch (IllegalArgumentException e) {
      throw BadInputException.in(file, "is a " + transformer.source() + "; " + e.getMessage());
    }
  }

  /** Its shape on samples of a length; the usual one where empty. */
  public static TransformerShape trained(
      Path file, TransformerFile transformer, OptionalInt sequence) {
    try {
      return transformer.trained(sequence);
    } catch (IllegalArgumentException e) {
      throw new BadInputException("--sequence: " + file + ": " + e.getMessage());
    }
  }

  private static ModelFormat named(String name) {
    return KNOWN.stream()
        .filter(format -> format.name().equals(name))
        .findFirst()
        .orElseThrow(() ->
            new BadInputException(
                "unknown model format \"" + name + "\"; " + Nearest.hint(name, FORMATS)));
  }

  private static ModelFormat recognised(Path file) {
    String start = Beginning.of(file);
    if (start.isEmpty()) {
      throw BadInputException.at(file, 1, "the file is empty" + expected());
    }
    return KNOWN.stream()
        .filter(format -> format.begins().test(start))
        .findFirst()
        .orElseThrow(() -> unknown(file, start));
  }

  private static BadInputException unknown(Path file, String start) {
    boolean text =
        start.chars().allMatch(c -> !Character.isISOControl(c) || Character.isWhitespace(c));
    String what = text ? "is of no known model format" : "is not a text file";
    return BadInputException.at(file, 1, what + expected());
  }

  private static String expected() {
    int last = KNOWN.size() - 1;
    String others =
        KNOWN.stream().limit(last).map(ModelFormat::example).collect(Collectors.joining(", "));
    return "; expected " + others + " or " + KNOWN.get(last).example();
  }
}
