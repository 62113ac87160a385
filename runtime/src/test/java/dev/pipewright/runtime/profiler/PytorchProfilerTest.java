package dev.pipewright.runtime.profiler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.pipewright.formats.CollectiveTimings;
import dev.pipewright.formats.ModelFile;
import dev.pipewright.formats.ModelFiles;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Optimizer;
import dev.pipewright.profile.CollectiveTiming;
import dev.pipewright.profile.Profile.LayerTimes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs {@code tools/pipewright_profile.py} where a Python with PyTorch is. */
class PytorchProfilerTest {
  private static final Path TOOL =
      Path.of(System.getProperty("basedir", "."), "..", "tools", "pipewright_profile.py")
          .toAbsolutePath()
          .normalize();

  private static final String NETWORKS =
      """
      import torch, torch.nn as nn, torch.nn.functional as F

      class Residual(nn.Module):
          def __init__(self):
              super().__init__()
              self.stem, self.norm, self.relu = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(inplace=True)
              self.inner, self.pool, self.fc = nn.Conv2d(8, 8, 3, padding=1), nn.AdaptiveAvgPool2d(1), nn.Linear(8, 10)
          def forward(self, x):
              x = self.relu(self.norm(self.stem(x)))
              return self.fc(torch.flatten(self.pool(self.relu(self.inner(x) + x)), 1))

      def residual():
          return Residual(), torch.randn(2, 3, 16, 16), lambda y: F.cross_entropy(y, torch.zeros(y.shape[0], dtype=torch.long))

      class Block(nn.Module):
          def __init__(self, d):
              super().__init__()
              self.norm, self.mlp = nn.LayerNorm(d), nn.Sequential(nn.Linear(d, 2 * d), nn.GELU(), nn.Linear(2 * d, d))
          def forward(self, x, mask=None):
              return x + self.mlp(self.norm(x))

      class Encoder(nn.Module):
          def __init__(self, d):
              super().__init__()
              self.position, self.layer = nn.Parameter(torch.zeros(12, d)), nn.ModuleList([Block(d) for _ in range(3)])
          def forward(self, x):
              x = x + self.position
              for block in self.layer:
                  x = block(x, mask=None)
              return x

      class Language(nn.Module):
          def __init__(self):
              super().__init__()
              self.table, self.encoder, self.head = nn.Embedding(50, 16), Encoder(16), nn.Linear(16, 50)
          def forward(self, tokens):
              return self.head(self.encoder(self.table(tokens)))

      def broken():
          raise ValueError("no weights here")
      """;

  private static Optional<String> found = Optional.empty(); // asking once is enough

  @TempDir Path folder;

  private record Ended(int status, String out, String err) {}

  private Ended run(String python, List<String> arguments) throws IOException {
    List<String> command = new ArrayList<>(List.of(python));
    command.addAll(arguments);
    Path out = folder.resolve("out.txt");
    Path err = folder.resolve("err.txt");
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(folder.toFile())
            .redirectOutput(out.toFile())
            .redirectError(err.toFile());
    builder.environment().put("OPENBLAS_NUM_THREADS", "1");
    builder.environment().put("OMP_NUM_THREADS", "1");
    Process process = builder.start();
    try {
      assertTrue(process.waitFor(120, TimeUnit.SECONDS), "it does not end");
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    } finally {
      process.destroyForcibly();
    }
    return new Ended(process.exitValue(), Files.readString(out), Files.readString(err));
  }

  /** A Python that has PyTorch; the test is skipped where there is none. */
  private String python() {
    if (found.isEmpty()) {
      found = Stream.of("python3", "/usr/bin/python3", "python").filter(this::hasTorch).findFirst();
    }
    assumeTrue(found.isPresent(), "no Python with PyTorch");
    return found.orElseThrow();
  }

  private boolean hasTorch(String python) {
    String asked = "import importlib.util as u, sys; sys.exit(0 if u.find_spec('torch') else 1)";
    try {
      return run(python, List.of("-c", asked)).status() == 0;
    } catch (IOException e) {
      return false; // there is no such Python
    }
  }

  private ModelFile profile(String network, String... more) throws IOException {
    Files.writeString(folder.resolve("nets.py"), NETWORKS);
    Path file = folder.resolve(network + ".json");
    List<String> arguments =
        new ArrayList<>(
            List.of(
                TOOL.toString(),
                "nets.py:" + network,
                "--out",
                file.toString(),
                "--batch",
                "1,4",
                "--repeats",
                "3",
                "--warm-up",
                "1",
                "--threads",
                "1"));
    arguments.addAll(List.of(more));
    Ended ended = run(python(), arguments);
    assertEquals(0, ended.status(), ended.err());
    return ModelFiles.read(file, OptionalInt.empty(), Optional.empty());
  }

  private static String edges(LayerGraph graph) {
    return graph.edges().stream()
        .map(e -> graph.layer(e.from()).name() + "→" + graph.layer(e.to()).name())
        .collect(Collectors.joining(" "));
  }

  @Test
  void aBranchingNetworkBecomesAProfileThatWeRead() throws IOException {
    ModelFile file = profile("residual", "--optimizer", "momentum", "--name", "small");
    LayerGraph graph = file.graph();
    assertEquals("small", graph.name());
    assertEquals(
        "input→stem stem→norm norm→relu relu→inner relu→relu.2 inner→relu.2 relu.2→pool pool→fc"
            + " fc→loss",
        edges(graph));
    assertEquals(3 * 8 * 9 + 8 + 16 + 8 * 8 * 9 + 8 + 90, graph.parameters());
    assertEquals(
        new Operator.Convolution(
            3, 8, List.of(3, 3), List.of(1, 1), List.of(1, 1), List.of(1, 1), 1, true),
        graph.layer(1).operator());
    assertEquals(8 * 16 * 16, graph.layer(1).outputElements());
    assertEquals(2.0 * 27 * 8 * 256, graph.layer(1).work().forward());
    assertEquals(3 * 16 * 16 * 4, file.profile().sizes(0).kept(), "the stem keeps its input");
    assertEquals(8 * 16 * 16 * 4, file.profile().sizes(1).kept(), "the norm keeps the stem's");
    assertEquals(0, file.profile().sizes(2).kept(), "nobody keeps the norm's output");
    assertEquals(8 * 16 * 16 * 4, file.profile().sizes(3).kept(), "a relu keeps its own");
    assertEquals(4 * (3 * 8 * 9 + 8), file.profile().sizes(1).parameters());
    assertEquals(List.of(1, 4), file.profile().samples());
    assertTrue(file.profile().splitsBackward());
    assertTrue(file.profile().provenance().measured());
    assertEquals(Optimizer.MOMENTUM, file.training().orElseThrow().optimizer());
    List<LayerTimes> times = file.profile().times(1);
    for (int layer = 1; layer < graph.size(); layer++) {
      boolean learns = graph.layer(layer).parameters() > 0;
      assertTrue(times.get(layer).forward() > 0 && times.get(layer).backward() > 0);
      assertEquals(learns, times.get(layer).update() > 0, graph.layer(layer).name());
    }
    assertEquals(times.get(1).backward(), times.get(1).weightGradient(), "no input's gradient");
    assertEquals(0, times.get(3).weightGradient(), "a relu learns nothing");
  }

  @Test
  void aStackOfBlocksIsOpenedAndItsParametersAreCounted() throws IOException {
    ModelFile file = profile("Language", "--input", "tokens:12:50");
    LayerGraph graph = file.graph();
    assertEquals(
        "table→encoder.layer.0 encoder.layer.0→encoder.layer.1 encoder.layer.1→encoder.layer.2"
            + " encoder.layer.2→head",
        edges(graph));
    int block = 2 * 16 + 2 * 16 * 32 + 32 + 16;
    assertEquals(50 * 16 + 12 * 16 + 3 * block + 17 * 50, graph.parameters());
    assertEquals(new Operator.Block("Block"), graph.layer(1).operator());
    assertEquals(12 * 16, graph.layer(1).outputElements());
    assertEquals(new Operator.Linear(16, 50, true), graph.layer(4).operator());
  }

  /** One process for all: most of the time goes to importing PyTorch. */
  private static final String MISTAKES =
      """
      import contextlib, io, sys
      sys.path.insert(0, sys.argv[1])
      sys.dont_write_bytecode = True
      import pipewright_profile
      for arguments in [
          [], ["nets.py"], ["nets.py:none"], ["nets.py:broken"], ["nothing.py:x"], ["no_such_package:x"],
          ["nets.py:Language"], ["nets.py:Language", "--input", "tokens:x"], ["nets.py:residual", "--batch", "0"],
          ["nets.py:residual", "--open", "cellar"], ["nets.py:residual", "--input", "4x16x16"],
          ["nets.py:residual", "--out", "/no/such/folder/x.json"], ["nets.py:residual", "--device", "toaster"],
          ["nets.py:residual", "--optimizer", "luck"], ["--links", "l.csv", "--processes", "1"]]:
          said = io.StringIO()
          with contextlib.redirect_stderr(said):
              status = pipewright_profile.main(arguments)
          print(status, said.getvalue().count("\\n"), said.getvalue(), end="")
      """;

  @Test
  void mistakesAreOneSentence() throws IOException {
    Files.writeString(folder.resolve("nets.py"), NETWORKS);
    Ended ended = run(python(), List.of("-c", MISTAKES, TOOL.resolveSibling("").toString()));
    assertEquals(0, ended.status(), ended.err());
    assertEquals("", ended.err());
    List<String> sentences = ended.out().lines().toList();
    assertEquals(15, sentences.size(), ended.out());
    for (String sentence : sentences) {
      assertTrue(sentence.startsWith("2 1 pipewright_profile: "), sentence);
      assertTrue(sentence.contains("; "), "it says what would be right: " + sentence);
    }
  }

  @Test
  void linksBecomeATableThatWeFit() throws IOException {
    Path table = folder.resolve("links.csv");
    Ended ended =
        run(
            python(),
            List.of(
                TOOL.toString(),
                "--links",
                table.toString(),
                "--processes",
                "2",
                "--sizes",
                "1024,262144",
                "--repeats",
                "3",
                "--machine",
                "mine"));
    assertEquals(0, ended.status(), ended.err());
    List<CollectiveTiming> timings =
        CollectiveTimings.read(table, CollectiveTimings.Selection.ALL).timings();
    for (CollectiveTiming.Kind kind :
        List.of(CollectiveTiming.Kind.ALL_REDUCE, CollectiveTiming.Kind.POINT_TO_POINT)) {
      assertEquals(
          List.of(1024.0, 262144.0),
          timings.stream().filter(t -> t.kind() == kind).map(CollectiveTiming::bytes).toList());
    }
    assertTrue(timings.stream().allMatch(t -> t.devices() == 2 && t.seconds() > 0));
    assertFalse(Files.readString(table).contains("nan"));
  }
}
