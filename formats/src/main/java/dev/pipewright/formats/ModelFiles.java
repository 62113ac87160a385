package dev.pipewright.formats;

import dev.pipewright.model.LayerGraph;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** Reads a model file of any format that is known here, recognised by its content. */
public final class ModelFiles {
  /** The names of the formats, for {@code --model-format}. */
  public static final List<String> FORMATS = List.of("graph-text", "profile", "paradl");

  private static final int GLANCE = 8192;
  private static final String EXPECTED =
      "; expected a graph text (\"node1 -- …\"), a profile in JSON or a ParaDL network"
          + " (\"Dataset|…\")";

  private ModelFiles() {}

  /**
   * A network with times to plan by. Throws {@link BadInputException} when there is no such file,
   * when it is of no known format, when what it says is wrong, or when no layer takes any time.
   *
   * @param profileBatch samples that times and activations are for, where the format does not say
   * @param format one of {@link #FORMATS}; empty to find out
   */
  public static ModelFile read(Path file, OptionalInt profileBatch, Optional<String> format) {
    ModelFile read = parsed(file, profileBatch, format);
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

  /** A network to train, which may have no times; throws as {@link #read} does otherwise. */
  public static LayerGraph graph(Path file) {
    return parsed(file, OptionalInt.of(1), Optional.empty()).graph();
  }

  private static ModelFile parsed(Path file, OptionalInt profileBatch, Optional<String> format) {
    String known = format.orElseGet(() -> recognised(file));
    return switch (known) {
      case "graph-text" -> graphText(file, profileBatch);
      case "profile" -> ProfileJson.read(file);
      case "paradl" -> ParadlNet.read(file);
      default ->
          throw new BadInputException(
              "unknown model format \"" + known + "\"; " + Nearest.hint(known, FORMATS));
    };
  }

  private static ModelFile graphText(Path file, OptionalInt profileBatch) {
    if (profileBatch.isEmpty()) {
      InputFile.check(file);
      throw BadInputException.in(
          file,
          "a graph text does not say for how many samples its times are; give --profile-batch N");
    }
    if (profileBatch.getAsInt() < 1) {
      throw new BadInputException(
          "--profile-batch " + profileBatch.getAsInt() + " is no batch; give a whole number >= 1");
    }
    return GraphText.read(file, profileBatch.getAsInt());
  }

  private static String recognised(Path file) {
    String start = glance(file).strip();
    if (start.startsWith("\uFEFF")) {
      start = start.substring(1).strip();
    }
    if (start.isEmpty()) {
      throw BadInputException.at(file, 1, "the file is empty" + EXPECTED);
    }
    if (start.startsWith("{")) {
      HuggingFaceConfig.recognised(file)
          .ifPresent(config -> {
            throw config;
          });
      return "profile";
    }
    if (start.startsWith("node")) {
      return "graph-text";
    }
    if (isParadl(start)) {
      return "paradl";
    }
    boolean text =
        start.chars().allMatch(c -> !Character.isISOControl(c) || Character.isWhitespace(c));
    throw BadInputException.at(
        file, 1, (text ? "is of no known model format" : "is not a text file") + EXPECTED);
  }

  private static boolean isParadl(String start) {
    return start
        .lines()
        .map(String::strip)
        .filter(line -> !line.isEmpty() && !line.startsWith("#"))
        .findFirst()
        .filter(line -> line.matches("Dataset\\s*\\|.*"))
        .isPresent();
  }

  private static String glance(Path file) {
    try (InputStream in = InputFile.open(file)) {
      return new String(in.readNBytes(GLANCE), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw InputFile.unreadable(file, e);
    }
  }
}
