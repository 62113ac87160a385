package dev.pipewright.app.cli.reproduce;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** A published table or figure that can be computed again: a service, found by its name. */
public interface PublishedResult {
  /** The word on the command line and the name of its files. */
  String name();

  /** What is computed, in a line. */
  String summary();

  /** Folders of the reference data without which there is nothing to compute. */
  default List<String> needs() {
    return List.of();
  }

  /** Computes it; {@code data} is the folder of the reference data. */
  Found find(Path data);

  /** Text and tables in Markdown, and a figure as SVG. */
  record Found(String markdown, Optional<String> svg) {}
}
