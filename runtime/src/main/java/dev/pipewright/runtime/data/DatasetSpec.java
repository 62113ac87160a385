package dev.pipewright.runtime.data;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.Nearest;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** Which data a user asks for, such as {@code cifar10:DIR} or {@code synthetic:images,seed=7}. */
public sealed interface DatasetSpec {
  /** The ways to write it. */
  String GRAMMAR =
      "synthetic[:images|tokens|volumes|pairs][,samples=N,classes=N,seed=N], cifar10:DIR,"
          + " mnist:DIR, images:DIR or text:FILE";

  /** What the user wrote. */
  String text();

  /**
   * Data that we make.
   *
   * @param kind what the network wants where the user does not say
   * @param classes that images have; the alphabet of tokens
   */
  record Synthetic(
      String text, Optional<SyntheticKind> kind, long samples, OptionalInt classes, long seed)
      implements DatasetSpec {}

  /** CIFAR-10's binary version: a folder, or one of its files. */
  record Cifar10(String text, Path path) implements DatasetSpec {}

  /** MNIST, or what has its format. */
  record Mnist(String text, Path folder) implements DatasetSpec {}

  /** A folder with a folder of images for each class. */
  record Images(String text, Path folder) implements DatasetSpec {}

  /** A file whose bytes are tokens. */
  record Text(String text, Path file) implements DatasetSpec {}

  /** Reads what a user wrote; throws {@link BadInputException}. */
  static DatasetSpec parse(String text) {
    int colon = text.indexOf(':');
    String kind = colon < 0 ? text : text.substring(0, colon);
    String rest = colon < 0 ? "" : text.substring(colon + 1);
    if (kind.equals("synthetic") || kind.startsWith("synthetic,")) {
      return SyntheticOptions.parse(text, colon < 0 ? kind.substring("synthetic".length()) : rest);
    }
    List<String> known = List.of("synthetic", "cifar10", "mnist", "images", "text");
    if (!known.contains(kind)) {
      throw new BadInputException(
          "--data " + text + ": unknown '" + kind + "'; " + suggestion(kind, known));
    }
    if (rest.isEmpty()) {
      throw new BadInputException(
          "--data " + text + ": where the data lie is missing; write " + kind + ":PATH");
    }
    Path path = path(text, rest);
    return switch (kind) {
      case "cifar10" -> new Cifar10(text, path);
      case "mnist" -> new Mnist(text, path);
      case "images" -> new Images(text, path);
      default -> new Text(text, path);
    };
  }

  private static String suggestion(String kind, List<String> known) {
    String hint = kind.isEmpty() ? "" : Nearest.hint(kind, known);
    return hint.startsWith("did you mean") ? hint : "write " + GRAMMAR;
  }

  private static Path path(String text, String path) {
    try {
      return Path.of(path);
    } catch (InvalidPathException e) {
      throw new BadInputException(
          "--data " + text + ": this is no path; give the path of an existing file");
    }
  }

  /**
   * The samples, ready to be read by number.
   *
   * @throws BadInputException where files are missing or damaged, or do not suit the network
   */
  default TrainingData open(DatasetRequirements wanted) {
    Fit fit = new Fit(text(), wanted);
    return switch (this) {
      case Synthetic synthetic -> SyntheticData.open(synthetic, fit);
      case Cifar10 cifar -> Cifar10Files.open(cifar.path(), fit);
      case Mnist mnist -> MnistFiles.open(mnist.folder(), fit);
      case Images images -> ImageFolder.open(images.folder(), fit);
      case Text file -> TextWindows.open(file.file(), fit);
    };
  }
}
