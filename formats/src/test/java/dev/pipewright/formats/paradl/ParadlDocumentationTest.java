package dev.pipewright.formats.paradl;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.formats.file.Refusal;
import dev.pipewright.formats.model.ModelFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The examples of ParaDL's files in {@code docs/formats.md} are files that we read. */
class ParadlDocumentationTest {
  @TempDir Path folder;

  private Path example(String heading) throws IOException {
    Path docs =
        Stream.of("../docs/formats.md", "docs/formats.md")
            .map(Path::of)
            .filter(Files::exists)
            .findFirst()
            .orElseThrow();
    String text = Files.readString(docs);
    String[] blocks = text.substring(text.indexOf("\n## " + heading + "\n")).split("```\n", 3);
    return Refusal.file(folder, "example", blocks[1]);
  }

  @Test
  void theFilesFitTogether() throws IOException {
    ModelFile model = ParadlNet.read(example("ParaDL network"));
    assertEquals(1_280_000, model.dataset().orElseThrow().samples());
    boolean[] expected = {false, true, false, false, true};
    assertArrayEquals(expected, ParadlSwitches.read(example("ParaDL switches"), model.graph()));
    assertEquals(1024, ParadlPlatform.read(example("ParaDL platform")).machines());
  }
}
