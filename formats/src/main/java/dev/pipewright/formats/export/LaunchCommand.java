package dev.pipewright.formats.export;

import java.util.List;

/**
 * How a training run starts under {@code torchrun}.
 *
 * @param setup lines of a shell before it, such as arrays of arguments
 * @param program a script with its arguments, as the shell reads them
 */
public record LaunchCommand(List<String> setup, String program) {
  public LaunchCommand {
    setup = List.copyOf(setup);
  }

  /** A program that needs nothing before it. */
  LaunchCommand(String program) {
    this(List.of(), program);
  }
}
