package dev.pipewright.app.cli.reproduce;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** A result for tests: a text of the reference data. */
public final class CopiedText implements PublishedResult {
  @Override
  public String name() {
    return "copied-text";
  }

  @Override
  public String summary() {
    return "A text of the data.";
  }

  @Override
  public List<String> needs() {
    return List.of("texts");
  }

  @Override
  public Found find(Path data) {
    try {
      return new Found(Files.readString(data.resolve("texts/one.txt")), Optional.of("<svg/>"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
