package dev.pipewright.formats;

import java.nio.file.Path;

/**
 * A file that its user has to correct. The message is one sentence for that user: {@code FILE:LINE:
 * what is wrong; what would be right}.
 */
public final class BadInputException extends RuntimeException {
  private static final long serialVersionUID = 1;

  public BadInputException(String message) {
    super(message);
  }

  /** A mistake in one line of a file; lines count from 1. */
  static BadInputException at(Path file, int line, String mistake) {
    return new BadInputException(file + ":" + line + ": " + mistake);
  }

  /** A mistake of a file as a whole. */
  static BadInputException in(Path file, String mistake) {
    return new BadInputException(file + ": " + mistake);
  }
}
