package dev.pipewright.formats.catalog;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.pipewright.formats.cluster.ClusterYaml;
import dev.pipewright.formats.file.Refusal;
import dev.pipewright.formats.model.ModelFile;
import dev.pipewright.formats.profile.ProfileJson;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ModelFilesTest {
  private static final String NODE =
      "node1 -- a -- forward_compute_time=1, backward_compute_time=2, activation_size=3,"
          + " parameter_size=4\n";

  @TempDir Path folder;

  private static ModelFile read(Path file) {
    return ModelFiles.read(file, OptionalInt.of(2), Optional.empty());
  }

  @Test
  void bothFormatsAreRecognisedByTheirContent() {
    Path text = Refusal.file(folder, "model.bin", "\n" + NODE);
    ModelFile model = read(text);
    Path json = Refusal.file(folder, "model.txt", "\n" + ProfileJson.text(model));
    assertEquals(model, read(json));
  }

  @Test
  void aParadlNetworkIsRecognisedBehindItsComments() {
    String net = "Dataset | D\nInput|9x3x8x8\nModel|M\nFC|3x8x8|3x5x8x8|5x1x1|1\n";
    for (String before :
        new String[] {"", "\uFEFF", "\n# one\r\n \n  # two | 2\n", "#\n".repeat(4000)}) {
      Path file = Refusal.file(folder, "model", before + net);
      assertEquals("M", read(file).graph().name());
      assertEquals(read(file), ModelFiles.read(file, OptionalInt.empty(), Optional.of("paradl")));
    }
  }

  @Test
  void aFormatMayBeForced() {
    Path json = Refusal.file(folder, "m.json", "{}");
    Refusal.assertRefused(
        "m.json:1: \"{}\" is neither a node nor an edge; a node reads \"node1 -- description --"
            + " forward_compute_time=1, backward_compute_time=2, activation_size=3,"
            + " parameter_size=4\"",
        json,
        file -> ModelFiles.read(file, OptionalInt.of(2), Optional.of("graph-text")));
    Refusal.assertRefused(
        "unknown model format \"graphtext\"; did you mean \"graph-text\"?",
        json,
        file -> ModelFiles.read(file, OptionalInt.of(2), Optional.of("graphtext")));
  }

  @Test
  void graphTextNeedsItsBatch() {
    Path text = Refusal.file(folder, "m.txt", NODE);
    Refusal.assertRefused(
        "m.txt: a graph text does not say for how many samples its times are; give"
            + " --profile-batch N",
        text,
        file -> ModelFiles.read(file, OptionalInt.empty(), Optional.empty()));
    Refusal.assertRefused(
        "--profile-batch 0 is no batch; give a whole number >= 1",
        text,
        file -> ModelFiles.read(file, OptionalInt.of(0), Optional.empty()));
  }

  @Test
  void aNetworkWithoutAnyTimeIsRefusedUnlessItIsToBeTrained() {
    String none = NODE.replaceAll("compute_time=[^,]*", "compute_time=0");
    Path text = Refusal.file(folder, "m.txt", none);
    Refusal.assertRefused(
        "m.txt:1: no layer takes any time, so nothing can be planned; measure the layers first,"
            + " with `pipewright profile`",
        text,
        ModelFilesTest::read);
    assertEquals(1, ModelFiles.graph(text, OptionalInt.empty()).size());
    assertEquals(
        1,
        read(Refusal.file(
                folder,
                "m.txt",
                none.replace("backward_compute_time=0", "backward_compute_time=1")))
            .graph()
            .size());
  }

  @Test
  void filesThatAreNotThereAreRefused() {
    Refusal.assertRefused(
        "nowhere.txt: no such file; give the path of an existing file",
        folder.resolve("nowhere.txt"),
        ModelFilesTest::read);
    Refusal.assertRefused(
        "c.yaml: no such file; give the path of an existing file",
        folder.resolve("c.yaml"),
        ClusterYaml::read);
    Refusal.assertRefused(
        folder.getFileName() + ": is a directory; give the path of a file in it",
        folder,
        ModelFilesTest::read);
  }

  @Test
  void filesThatMayNotBeReadAreRefused() {
    Path file = Refusal.file(folder, "secret.txt", NODE);
    assumeTrue(file.toFile().setReadable(false), "permissions cannot be taken away here");
    assumeFalse(Files.isReadable(file), "this user may read everything");
    Refusal.assertRefused(
        "secret.txt: cannot be read; check its permissions", file, ModelFilesTest::read);
  }

  @Test
  void unknownFormatsAreRefused() {
    String expected =
        "; expected a graph text (\"node1 -- …\"), a Hugging Face config.json, a"
            + " Calculon model, a profile in JSON,"
            + " Megatron arguments (\"--num-layers …\", MODEL_ARGS or a log), a torchtitan"
            + " TOML (\"[model]\"), a ParaDL network"
            + " (\"Dataset|…\") or a table of layers (\"layer,forward_s,…\")";
    Refusal.assertRefused(
        "a.txt:1: is of no known model format" + expected,
        Refusal.file(folder, "a.txt", "Dataset: ImageNet\n"),
        ModelFilesTest::read);
    Refusal.assertRefused(
        "b.txt:1: is not a text file" + expected,
        Refusal.file(folder, "b.txt", "\0\377".repeat(100)),
        ModelFilesTest::read);
    Refusal.assertRefused(
        "c.txt:1: the file is empty" + expected,
        Refusal.file(folder, "c.txt", " \n"),
        ModelFilesTest::read);
  }

  @Test
  void writingToNowhereFails() {
    ModelFile model = read(Refusal.file(folder, "m.txt", NODE));
    assertThrows(
        java.io.UncheckedIOException.class,
        () -> ProfileJson.write(folder.resolve("no/such/folder.json"), model));
  }
}
