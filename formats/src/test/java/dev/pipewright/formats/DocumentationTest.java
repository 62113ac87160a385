package dev.pipewright.formats;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.formats.cluster.ClusterYaml;
import dev.pipewright.formats.file.Refusal;
import dev.pipewright.formats.model.GraphText;
import dev.pipewright.formats.model.LayerTable;
import dev.pipewright.formats.model.ModelFile;
import dev.pipewright.formats.profile.ProfileJson;
import dev.pipewright.model.Layer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The examples of {@code docs/formats.md} are files that we read. */
class DocumentationTest {
  private static final Pattern BLOCK = Pattern.compile("(?s)```\\w*\n(.*?)```");

  @TempDir Path folder;

  /** The first block after the heading. */
  private Path example(String heading) throws IOException {
    Path docs =
        Stream.of("../docs/formats.md", "docs/formats.md")
            .map(Path::of)
            .filter(Files::exists)
            .findFirst()
            .orElseThrow();
    String text = Files.readString(docs);
    Matcher block = BLOCK.matcher(text.substring(text.indexOf("\n## " + heading + "\n")));
    if (!block.find()) {
      throw new AssertionError("no example of " + heading);
    }
    return Refusal.file(folder, "example", block.group(1));
  }

  @Test
  void theGraphTextIsRead() throws IOException {
    ModelFile model = GraphText.read(example("Graph text"), 4);
    assertEquals(
        List.of("Conv2d(3, 64)", "ReLU"),
        model.graph().layers().stream().map(Layer::name).toList());
    assertEquals(5120.0 / 4, model.profile().sizes(0).output());
  }

  @Test
  void theLayerTableIsRead() throws IOException {
    assertEquals(4, LayerTable.read(example("Layer table"), 4).graph().size());
  }

  @Test
  void theProfileIsRead() throws IOException {
    assertEquals("two-layers", ProfileJson.read(example("Profile")).graph().name());
  }

  @Test
  void theClusterIsRead() throws IOException {
    assertEquals(2, ClusterYaml.read(example("Cluster")).machines());
  }

  @Test
  void thePlanIsRead() throws IOException {
    assertEquals(64, PlanJson.read(example("Plan")).plan().globalBatch());
  }
}
