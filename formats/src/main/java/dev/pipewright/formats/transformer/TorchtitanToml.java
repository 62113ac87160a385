package dev.pipewright.formats.transformer;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.ShownText;
import dev.pipewright.formats.model.TransformerConstants;
import dev.pipewright.formats.model.TransformerFile;
import dev.pipewright.model.transformer.TransformerShape;
import dev.pipewright.zoo.Transformers;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * Reads the network of a torchtitan configuration in TOML, the form of its releases up to 0.2.2.
 * The file names a model and a flavor, whose sizes are in torchtitan's sources ({@code
 * torchtitan/models/…/__init__.py}); the sequence is that of the training.
 */
public final class TorchtitanToml {
  private static final Pattern MODEL = Pattern.compile("(?m)^\\s*\\[model\\]");
  private static final Pattern FLAVOR = Pattern.compile("(?m)^\\s*flavor\\s*=");

  /** Networks of {@link Transformers} by model and flavor. */
  private static final Map<String, Map<String, String>> KNOWN =
      Map.of(
          "llama3",
          Map.of(
              "debugmodel",
              "llama:layers=6,hidden=256,heads=16,kv-heads=16,ffn=768,sequence=2048,vocabulary=2048",
              "8B",
              "llama3-8b",
              "70B",
              "llama3-70b",
              "405B",
              "llama3-405b"),
          "qwen3",
          Map.of(
              "0.6B", "qwen3-0.6b",
              "1.7B", "qwen3-1.7b",
              "4B", "qwen3-4b",
              "8B", "qwen3-8b",
              "14B", "qwen3-14b",
              "32B", "qwen3-32b",
              "30B-A3B", "qwen3-30b-a3b",
              "235B-A22B", "qwen3-235b-a22b"),
          "deepseek_v3",
          Map.of("16B", "deepseek-v2-lite", "236B", "deepseek-v2", "671B", "deepseek-v3"),
          "gpt_oss",
          Map.of("20b", "gpt-oss-20b", "120b", "gpt-oss-120b"));

  /**
   * A network of torchtitan.
   *
   * @param model family of networks
   * @param name of its sizes
   */
  public record Flavor(String model, String name) {}

  private TorchtitanToml() {}

  /**
   * torchtitan's network of a shape, whatever its sequences and multi-token prediction; empty where
   * there is none.
   */
  public static Optional<Flavor> flavor(TransformerShape shape) {
    for (Map.Entry<String, Map<String, String>> model : KNOWN.entrySet()) {
      for (Map.Entry<String, String> flavor : model.getValue().entrySet()) {
        TransformerShape known = Transformers.find(flavor.getValue()).orElseThrow().shape();
        if (known.stack().equals(shape.stack())
            && known.input().equals(shape.input())
            && known.head().equals(shape.head())
            && known.hidden() == shape.hidden()) {
          return Optional.of(new Flavor(model.getKey(), flavor.getKey()));
        }
      }
    }
    return Optional.empty();
  }

  /** Whether a configuration names a network whose sizes are known. */
  public static boolean isKnown(TomlTables tables) {
    Map<String, String> flavors =
        KNOWN.getOrDefault(
            tables.value("model.name").map(TomlTables.Entry::text).orElse(""), Map.of());
    return tables
        .value("model.flavor")
        .filter(flavor -> flavors.containsKey(flavor.text()))
        .isPresent();
  }

  /** Whether a file that starts so is such a configuration. */
  public static boolean begins(String start) {
    return MODEL.matcher(start).find() && FLAVOR.matcher(start).find();
  }

  /** Throws {@link BadInputException} where the model or its flavor is missing or not known. */
  public static TransformerFile read(Path file) {
    TomlTables tables = TomlTables.read(file);
    TomlTables.Entry model = tables.required("model.name");
    TomlTables.Entry flavor = tables.required("model.flavor");
    Map<String, String> flavors = known(file, model, "torchtitan's model", KNOWN);
    String name = known(file, flavor, "the flavor", flavors);
    TransformerShape zoo = Transformers.find(name).orElseThrow().shape();
    Optional<TomlTables.Entry> sequence = tables.value("training.seq_len");
    int tokens = sequence.isPresent() ? tokens(file, sequence.get()) : zoo.sequence();
    TransformerShape shape =
        new TransformerShape(
            zoo.hidden(),
            zoo.input(),
            zoo.encoder(),
            zoo.stack(),
            zoo.head(),
            Optional.empty(), // torchtitan has no multi-token prediction
            tokens);
    return new TransformerFile(
        model.text() + "-" + flavor.text(),
        "torchtitan configuration",
        shape,
        TransformerConstants.NONE,
        List.of());
  }

  private static <T> T known(Path file, TomlTables.Entry entry, String what, Map<String, T> all) {
    T found = all.get(entry.text());
    if (found == null) {
      throw BadInputException.at(
          file,
          entry.line(),
          "%s \"%s\" is not supported yet; known are %s"
              .formatted(
                  what,
                  ShownText.of(entry.text()),
                  String.join(", ", new TreeSet<>(all.keySet()))));
    }
    return found;
  }

  private static int tokens(Path file, TomlTables.Entry entry) {
    String digits = entry.text().replace("_", "");
    if (!digits.matches("[1-9]\\d{0,7}")) {
      throw BadInputException.at(
          file,
          entry.line(),
          "training.seq_len is %s; expected a whole number of tokens, 1 to 99999999"
              .formatted(ShownText.of(entry.text())));
    }
    return Integer.parseInt(digits);
  }
}
