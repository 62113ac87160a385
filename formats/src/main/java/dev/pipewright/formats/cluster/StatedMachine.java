package dev.pipewright.formats.cluster;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.machine.MachineClusters;
import java.nio.file.Path;
import java.util.Optional;

/** Machines that files name, by their data sheets. */
final class StatedMachine {
  private StatedMachine() {}

  /**
   * The cluster of a machine's name that a file states.
   *
   * @param line of the file; what is wrong with the size is said of it
   * @param wanted what to say of a machine without a data sheet: its name
   */
  static Cluster of(Path file, int line, String name, String wanted) {
    Optional<Cluster> found;
    try {
      found = MachineClusters.find(name);
    } catch (IllegalArgumentException e) {
      throw BadInputException.at(file, line, String.valueOf(e.getMessage()));
    }
    return found.orElseThrow(() ->
        BadInputException.at(
            file,
            line,
            "no data sheet of %s; there are %s"
                .formatted(wanted, String.join(", ", MachineClusters.names()))));
  }
}
