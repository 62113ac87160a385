package dev.pipewright.formats.file;

import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What a user has to correct: a file, or a word or number that was given. The message is one
 * sentence for that user: {@code FILE:LINE: what is wrong; what would be right}. An {@link
 * IllegalArgumentException}, so that programs that use the library need not know it.
 */
public final class BadInputException extends IllegalArgumentException {
  private static final long serialVersionUID = 1;

  private final transient @Nullable Unsound unsound;

  /**
   * A file that reads well, but describes what cannot be.
   *
   * @param line from 1; 0 for the file as a whole
   */
  public record Unsound(Path file, int line, String mistake) {
    private String sentence() {
      return file + (line > 0 ? ":" + line : "") + ": " + inOneLine(mistake);
    }
  }

  public BadInputException(String message) {
    super(message);
    this.unsound = null;
  }

  private BadInputException(Unsound unsound) {
    super(unsound.sentence());
    this.unsound = unsound;
  }

  /** A mistake in one line of a file; lines count from 1. */
  public static BadInputException at(Path file, int line, String mistake) {
    return new BadInputException(file + ":" + line + ": " + inOneLine(mistake));
  }

  /** A mistake in a column of a line; both count from 1. */
  public static BadInputException at(Path file, int line, int column, String mistake) {
    return new BadInputException(file + ":" + line + ":" + column + ": " + inOneLine(mistake));
  }

  /** With blanks for the control characters of what it quotes. */
  private static String inOneLine(String mistake) {
    return mistake.replaceAll("\\p{Cntrl}", " ");
  }

  /** A file that reads well, but describes what cannot be. */
  public static BadInputException unsound(Path file, int line, String mistake) {
    return new BadInputException(new Unsound(file, line, mistake));
  }

  /** What is wrong with what a well-formed file describes; empty where the file is malformed. */
  public Optional<Unsound> unsound() {
    return Optional.ofNullable(unsound);
  }

  /** A mistake of a file as a whole. */
  public static BadInputException in(Path file, String mistake) {
    return new BadInputException(file + ": " + mistake);
  }
}
