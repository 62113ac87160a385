package dev.pipewright.bench.reproduction;

import dev.pipewright.app.cli.reproduce.PublishedResult;
import java.nio.file.Path;

/** A published table or figure, computed again. */
public interface Reproduction extends PublishedResult {
  Report run(Reference reference);

  @Override
  default Found find(Path data) {
    Report report = run(new Reference(data));
    return new Found(report.markdown(), report.svg());
  }
}
