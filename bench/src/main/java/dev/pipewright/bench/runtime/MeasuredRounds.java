package dev.pipewright.bench.runtime;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * What rounds over networks and strategies have measured, kept in a file line by line, so that
 * hours of measuring can be interrupted and go on. Who removes the file measures anew.
 */
final class MeasuredRounds {
  private static final JsonMapper JSON = new JsonMapper();

  private final Path file;
  private final List<JsonNode> lines = new ArrayList<>();

  /** With what is in the file. */
  MeasuredRounds(Path file) {
    this.file = file;
    try {
      if (Files.exists(file)) {
        Files.readAllLines(file).forEach(line -> lines.add(JSON.readTree(line)));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  void profiled(String network, JsonNode profile) {
    ObjectNode line = JSON.createObjectNode().put("network", network);
    keep(line.set("profile", profile));
  }

  void compared(String network, String strategy, JsonNode answer) {
    ObjectNode line = JSON.createObjectNode().put("network", network).put("strategy", strategy);
    keep(line.set("answer", answer));
  }

  private void keep(JsonNode line) {
    lines.add(line);
    try {
      Files.createDirectories(file.toAbsolutePath().getParent());
      Files.writeString(file, line + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Of a strategy, in the order of rounds. */
  List<JsonNode> answers(String network, String strategy) {
    return lines.stream()
        .filter(line -> line.get("network").asString().equals(network))
        .filter(line -> line.has("strategy") && line.get("strategy").asString().equals(strategy))
        .map(line -> line.get("answer"))
        .toList();
  }

  /** Of a network, the last one. */
  JsonNode profile(String network) {
    return lines.stream()
        .filter(line -> line.get("network").asString().equals(network) && line.has("profile"))
        .reduce((before, last) -> last)
        .orElseThrow()
        .get("profile");
  }
}
