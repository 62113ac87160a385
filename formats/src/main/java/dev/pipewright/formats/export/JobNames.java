package dev.pipewright.formats.export;

import java.util.List;
import java.util.Locale;

/** Names that Kubernetes and Slurm take. */
public final class JobNames {
  private static final int MOST_OF_NAME = 40; // a service's name has 63

  private JobNames() {}

  /**
   * A name of a network's job.
   *
   * @param what the first word
   * @param model the network's name or file
   */
  public static String of(String what, String model) {
    List<String> parts = List.of(model.split("[/\\\\]"));
    String plain =
        parts
            .get(parts.size() - 1)
            .toLowerCase(Locale.ROOT)
            .replaceAll("[^a-z0-9]+", "-")
            .replaceAll("^-+", "");
    String cut = plain.substring(0, Math.min(MOST_OF_NAME, plain.length()));
    return (what + "-" + cut).replaceAll("-+$", "");
  }
}
