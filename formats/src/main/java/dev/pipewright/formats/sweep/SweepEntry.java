package dev.pipewright.formats.sweep;

import java.util.List;

/**
 * One element of a list of a sweep.
 *
 * @param name what tables and charts call it
 * @param value the network, the cluster or the samples of a step; empty for flags alone
 * @param flags words of a command line
 * @param line where it stands in the file
 */
public record SweepEntry(String name, String value, List<String> flags, int line) {
  public SweepEntry {
    flags = List.copyOf(flags);
  }
}
