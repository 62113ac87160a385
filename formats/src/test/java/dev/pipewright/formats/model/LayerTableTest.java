package dev.pipewright.formats.model;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.formats.catalog.ModelFiles;
import dev.pipewright.formats.file.Refusal;
import dev.pipewright.model.Layer;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LayerTableTest {
  private static final String HEADINGS =
      "layer,forward_s,backward_s,output_bytes,parameter_bytes\n";

  @TempDir Path folder;

  private static ModelFile read(Path file) {
    return ModelFiles.read(file, OptionalInt.of(4), Optional.empty());
  }

  private ModelFile read(String text) {
    return read(Refusal.file(folder, "small.csv", text));
  }

  @Test
  void aTableIsAChainOfItsLayers() {
    ModelFile model =
        read("# measured by hand\n" + HEADINGS + "in, 0.5, 0, 4096, 0\nhead,0.25,1e-1,64,1024\n");
    assertEquals("small", model.graph().name());
    assertEquals(List.of("in", "head"), model.graph().layers().stream().map(Layer::name).toList());
    assertEquals(256, model.graph().parameters());
    assertEquals(1, model.graph().edges().size());
    assertEquals(1024, model.profile().sizes(0).output());
    assertEquals(1024, model.profile().sizes(0).kept());
    assertEquals(0.1, model.profile().times(0).get(1).backward());
  }

  @Test
  void whatTheBackwardPassReadsMayBeSaid() {
    ModelFile model =
        read("kept_bytes,layer,forward_s,backward_s,output_bytes,parameter_bytes\n800,a,1,2,4,0\n");
    assertEquals(200, model.profile().sizes(0).kept());
    assertEquals(50, model.graph().layer(0).keptElements());
  }

  @Test
  void theBatchIsAskedFor() {
    Refusal.assertRefused(
        "small.csv: a table of layers does not say for how many samples its times are; give"
            + " --profile-batch N",
        Refusal.file(folder, "small.csv", HEADINGS + "a,1,2,4,0\n"),
        file -> ModelFiles.read(file, OptionalInt.empty(), Optional.empty()));
  }

  @Test
  void whatIsWrongIsNamedWithItsLine() {
    refuses(HEADINGS + "a,1,2,4\n", "2: 4 values stand under 5 headings; expected one for each");
    refuses(
        HEADINGS + "a,-1,2,4,0\n",
        "2: forward_s=-1 is neither 0 nor 1e-18 to 1e9 seconds; correct it");
    refuses(
        HEADINGS + "a,1,2,x,0\n",
        "2: output_bytes=x is neither 0 nor 1e-9 to 1e15 bytes; correct it");
    refuses(HEADINGS + ",1,2,4,0\n", "2: layer \"\" has no name of its own; give it one");
    refuses(
        HEADINGS + "a,1,2,4,0\na,1,2,4,0\n", "3: layer \"a\" has no name of its own; give it one");
    refuses(
        HEADINGS.strip() + ",forwards\n",
        "1: unknown column \"forwards\"; did you mean \"forward_s\"?");
    refuses(
        "layer,forward_s,backward_s,output_bytes\n",
        "1: has no column parameter_bytes; add it among the headings");
    refuses(HEADINGS.strip() + ",layer\n", "1: names a column twice; keep one of them");
    refuses(HEADINGS, "1: holds no layers; write a line for each under the headings");
  }

  private void refuses(String text, String message) {
    Refusal.assertRefused(
        "small.csv:" + message, Refusal.file(folder, "small.csv", text), LayerTableTest::read);
  }
}
