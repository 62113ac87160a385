package dev.pipewright.formats.problem;

import dev.pipewright.formats.catalog.ModelFiles;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.FileNames;
import dev.pipewright.formats.file.Suggestion;
import dev.pipewright.formats.model.TransformerConstants;
import dev.pipewright.formats.model.TransformerFile;
import dev.pipewright.model.transformer.TransformerShape;
import dev.pipewright.zoo.Models;
import dev.pipewright.zoo.Transformers;
import dev.pipewright.zoo.ZooModel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.regex.Pattern;

/** Finds the network that a user means: of the zoo, or in a file. */
public final class NetworkNames {
  private static final Pattern PYTHON = Pattern.compile(".+\\.py:\\w+");

  private NetworkNames() {}

  /** A network of the zoo by its name, where there is one. */
  public static Optional<ZooModel> zooModel(String name) {
    try {
      return Models.find(name);
    } catch (IllegalArgumentException e) {
      throw new BadInputException(String.valueOf(e.getMessage()));
    }
  }

  /**
   * A network of the zoo by its name, where there is one.
   *
   * @param sequence tokens of a sample; the usual ones where empty
   */
  public static Optional<ZooModel> zooModel(String name, OptionalInt sequence) {
    Optional<ZooModel> usual = zooModel(name);
    return sequence.isEmpty() ? usual : usual.flatMap(zoo -> ofLength(name, sequence));
  }

  private static Optional<ZooModel> ofLength(String name, OptionalInt sequence) {
    try {
      return Models.find(name, sequence);
    } catch (IllegalArgumentException e) {
      throw new BadInputException("--sequence: " + e.getMessage());
    }
  }

  /**
   * A transformer's shape with the sequences that it is trained on, by its name or in a file that
   * states it; empty for other networks.
   *
   * @param sequence tokens of a sample; the usual ones where empty
   */
  public static Optional<TransformerShape> transformer(
      String name, Optional<String> format, OptionalInt sequence) {
    if (namedTransformer(name).isPresent() || zooModel(name).isPresent()) {
      return namedShape(name, sequence);
    }
    Path path = modelFile(name);
    return described(path, format).map(file -> ModelFiles.trained(path, file, sequence));
  }

  /** The constants of a transformer, by its name or in a file that states them. */
  public static TransformerConstants constants(String name, Optional<String> format) {
    boolean named = namedTransformer(name).isPresent() || zooModel(name).isPresent();
    return named
        ? NamedConstants.of(name)
        : described(modelFile(name), format)
            .map(TransformerFile::constants)
            .orElse(TransformerConstants.NONE);
  }

  private static Optional<TransformerFile> described(Path path, Optional<String> format) {
    return ModelFiles.described(path, OptionalInt.of(1), format) instanceof TransformerFile file
        ? Optional.of(file)
        : Optional.empty();
  }

  /** A transformer's shape by its name, on samples of a length. */
  static Optional<TransformerShape> namedShape(String name, OptionalInt sequence) {
    return namedTransformer(name)
        .map(named ->
            sequence.isPresent()
                ? named.shape().withSequence(sequence.getAsInt())
                : named.trained());
  }

  /** A transformer by its name, where it is one's. */
  public static Optional<Transformers.Named> namedTransformer(String name) {
    try {
      return Transformers.find(name);
    } catch (IllegalArgumentException e) {
      throw new BadInputException(String.valueOf(e.getMessage()));
    }
  }

  /** The file of a model that is none of the zoo. */
  public static Path modelFile(String model) {
    Path path = FileNames.file("the model", model);
    if (model.isEmpty() || !(Files.exists(path) || model.equals("-"))) {
      if (!PYTHON.matcher(model).matches()) {
        FileNames.requireNoPath("model", model);
      }
      throw new BadInputException("no model '" + model + "'; " + meant(model));
    }
    if (model.endsWith(".py")) {
      throw new BadInputException(
          "%s: is Python; write %s:NAME with the name of a module or of a function that makes one, and `pipewright plan` measures it"
              .formatted(model, model));
    }
    return path;
  }

  /** Throws {@link BadInputException} where there is neither a network nor a file of that name. */
  public static void check(String model) {
    if (!isZooModel(model)) {
      modelFile(model);
    }
  }

  /** Whether there is a network of that name, be it only a shape. */
  private static boolean isZooModel(String name) {
    try {
      return zooModel(name).isPresent();
    } catch (BadInputException e) {
      if (namedTransformer(name).isPresent()) {
        return true;
      }
      throw e;
    }
  }

  /** What an unknown name may mean. */
  public static String meant(String model) {
    if (PYTHON.matcher(model).matches()) {
      return "`pipewright plan %s` measures it and writes a profile; give that file"
          .formatted(model);
    }
    List<String> names = new ArrayList<>(Models.names());
    names.addAll(Transformers.names());
    Optional<String> near = Suggestion.near(model, names);
    if (near.isPresent()) {
      return near.get();
    }
    List<String> alike = Suggestion.alike(model, names);
    return alike.isEmpty()
        ? "give a file or a name that `pipewright models` lists"
        : "there are " + String.join(", ", alike) + " (`pipewright models` lists all)";
  }

  /** How a file elsewhere names the same model: as here, but a file by its whole path. */
  public static String anywhere(String model) {
    return zooModel(model).isPresent()
        ? model
        : FileNames.file("the model", model).toAbsolutePath().normalize().toString();
  }
}
