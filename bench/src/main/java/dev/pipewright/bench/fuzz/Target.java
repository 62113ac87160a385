package dev.pipewright.bench.fuzz;

import java.util.List;

/**
 * A kind of file, and what is done with it.
 *
 * @param name of the kind
 * @param file what the damaged file is called: some readers go by that
 * @param seed a file that is right
 * @param lines whether each mistake has a line
 * @param commands of which a case takes one; {@code @} stands for the file
 */
record Target(String name, String file, byte[] seed, boolean lines, List<String> commands) {
  Target {
    commands = List.copyOf(commands);
  }
}
