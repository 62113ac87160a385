package dev.pipewright.formats.catalog;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.InputFile;
import dev.pipewright.formats.model.DescribedModel;
import dev.pipewright.formats.model.ModelFile;
import java.nio.file.Path;
import java.util.OptionalInt;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * A format of model files, as {@link ModelFiles} lists it.
 *
 * @param name as users write it in {@code --model-format}
 * @param example what such a file is, with its first characters where they are typical
 * @param begins whether a file whose text starts so is of this format
 * @param reader reads one
 */
record ModelFormat(String name, String example, Predicate<String> begins, Reader reader) {

  /** Reads a model; throws {@link BadInputException} where the file is not sound. */
  @FunctionalInterface
  interface Reader {
    /**
     * Reads one.
     *
     * @param profileBatch samples that times and activations are for, where the user says so
     */
    DescribedModel read(Path file, OptionalInt profileBatch);
  }

  /** Reads a model whose times are for a number of samples that only the user knows. */
  @FunctionalInterface
  interface BatchReader {
    ModelFile read(Path file, int profileBatch);
  }

  /** A reader of files that say for how many samples their times are, or that hold no times. */
  static Reader saying(Function<Path, ? extends DescribedModel> reader) {
    return (file, batch) -> reader.apply(file);
  }

  /** A reader of files that do not; {@code what} is one of them: {@code a graph text}. */
  static Reader unsaid(String what, BatchReader reader) {
    return (file, batch) -> {
      if (batch.isEmpty()) {
        InputFile.check(file);
        throw BadInputException.in(
            file,
            what + " does not say for how many samples its times are; give --profile-batch N");
      }
      if (batch.getAsInt() < 1) {
        throw new BadInputException(
            "--profile-batch " + batch.getAsInt() + " is no batch; give a whole number >= 1");
      }
      return reader.read(file, batch.getAsInt());
    };
  }

  /** Whether the first line that is neither empty nor a comment matches a pattern. */
  static Predicate<String> firstLine(String pattern) {
    return start ->
        start
            .lines()
            .map(String::strip)
            .filter(line -> !line.isEmpty() && !line.startsWith("#"))
            .findFirst()
            .filter(line -> line.matches(pattern))
            .isPresent();
  }
}
