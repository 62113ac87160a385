package dev.pipewright.bench.reproduction;

import dev.pipewright.formats.model.GraphText;
import dev.pipewright.formats.model.ModelFile;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The folder of what other people measured and computed, where there is one. */
public record Reference(Path folder) {
  private static final Pattern BATCH = Pattern.compile("-pbs-(\\d+)");

  /** The system property {@code reference.dir}, or the usual place beside the project. */
  public static Reference usual() {
    return new Reference(Path.of(System.getProperty("reference.dir", "../shared/reference")));
  }

  public boolean present() {
    return Files.isDirectory(folder.resolve("dapple"));
  }

  /** Whether it has folders of these names. */
  public boolean has(List<String> folders) {
    return folders.stream().allMatch(name -> Files.isDirectory(folder.resolve(name)));
  }

  /** Whether DAPPLE's authors published a profile of this name. */
  public boolean has(String profile) {
    return Files.exists(file(profile));
  }

  private Path file(String profile) {
    return folder.resolve("dapple").resolve(profile + ".txt");
  }

  /** A profile by DAPPLE's authors; its name says for how many samples. */
  ModelFile profile(String name) {
    return GraphText.read(file(name), batch(name));
  }

  /** The samples that a profile's times are for. */
  public static int batch(String profile) {
    Matcher matcher = BATCH.matcher(profile);
    if (!matcher.find()) {
      throw new IllegalArgumentException("no batch in the name of the profile: " + profile);
    }
    return Integer.parseInt(matcher.group(1));
  }

  /** What the planner of DAPPLE's authors answered. */
  public List<RecordedRun> runs() throws UncheckedIOException {
    JsonNode list =
        JsonMapper.shared().readTree(folder.resolve("dapple/planner-results.json").toFile());
    List<RecordedRun> runs = new ArrayList<>();
    for (JsonNode run : list) {
      runs.add(RecordedRun.of(run));
    }
    return runs;
  }
}
