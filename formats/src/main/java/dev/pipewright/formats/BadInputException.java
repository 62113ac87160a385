package dev.pipewright.formats;

import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A file that its user has to correct. The message is one sentence for that user: {@code FILE:LINE:
 * what is wrong; what would be right}.
 */
public final class BadInputException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final transient @Nullable FileProblem problem;

  public BadInputException(String message) {
    super(message);
    this.problem = null;
  }

  private BadInputException(FileProblem problem) {
    super(problem.toString());
    this.problem = problem;
  }

  /** A mistake in one line of a file; lines count from 1. */
  static BadInputException at(Path file, int line, String mistake) {
    return new BadInputException(file + ":" + line + ": " + mistake);
  }

  /** A file that reads well, but describes what cannot be. */
  static BadInputException unsound(Path file, int line, String mistake) {
    return new BadInputException(FileProblem.ofLine(file, line, "unsound", mistake));
  }

  /** What is wrong with what a well-formed file describes; empty where the file is malformed. */
  public Optional<FileProblem> unsound() {
    return Optional.ofNullable(problem);
  }

  /** A mistake of a file as a whole. */
  static BadInputException in(Path file, String mistake) {
    return new BadInputException(file + ": " + mistake);
  }
}
