package dev.pipewright.runtime.profiler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.pipewright.formats.catalog.ModelFiles;
import dev.pipewright.formats.cluster.CollectiveTimings;
import dev.pipewright.formats.cluster.TimingSelection;
import dev.pipewright.formats.json.Node;
import dev.pipewright.formats.json.Tree;
import dev.pipewright.formats.model.ModelFile;
import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Optimizer;
import dev.pipewright.profile.CollectiveTiming;
import dev.pipewright.profile.Profile.LayerTimes;
import dev.pipewright.runtime.Python;
import dev.pipewright.runtime.Python.Ended;
import dev.pipewright.runtime.net.Computable;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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
          return Residual(), torch.randn(2, 3, 16, 16), lambda y: F.cross_entropy(y, torch.zeros(y.shape[0], dtype=torch.long, device=y.device))

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

      class Perceptron(nn.Module):
          def __init__(self):
              super().__init__()
              self.first, self.second, self.third = nn.Linear(64, 32), nn.Linear(32, 32), nn.Linear(32, 10)
          def forward(self, x):
              x = torch.relu(self.first(torch.flatten(x, 1)))
              return self.third(self.second(x).relu_())

      def perceptron():
          return Perceptron(), torch.randn(2, 1, 8, 8)

      class Convolutional(nn.Module):
          def __init__(self):
              super().__init__()
              self.first, self.second = nn.Conv2d(1, 4, 3, padding=1), nn.Conv2d(4, 4, 3, padding=1)
              self.drop, self.head = nn.Dropout(0.1), nn.Linear(2 * 4 * 16, 10)
          def forward(self, x):
              x = F.relu(F.max_pool2d(self.first(x), 2))
              x = torch.cat([x, self.second(x) + x], 1)
              return self.head(self.drop(x.flatten(1)))

      def convolutional():
          return Convolutional(), torch.randn(2, 1, 8, 8)

      class Attention(nn.Module):
          def __init__(self):
              super().__init__()
              self.q, self.k, self.v, self.scale = (*(nn.Linear(16, 16) for _ in range(3)), nn.Parameter(torch.ones(16)))
          def forward(self, x):
              scores = (self.q(x) @ self.k(x).transpose(1, 2) * 0.25).softmax(-1)
              return {"states": (scores @ self.v(x)) * F.softplus(self.scale), "scores": scores}

      def attention():
          return Attention(), torch.randn(2, 6, 16)

      class Shared(nn.Module):
          def __init__(self):
              super().__init__()
              self.f, self.lstm, self.g = nn.Linear(16, 16), nn.LSTM(16, 8, batch_first=True), nn.Linear(8, 4)
              self.g.weight.requires_grad_(False)
          def forward(self, x):
              x = self.f(x)
              if x.shape[0] > 1000:
                  x = x * 2
              states, (last, _) = self.lstm(self.f(x))
              return self.g(states[:, -1]), last

      def shared():
          return Shared(), torch.randn(2, 6, 16)

      class Hidden(torch.autograd.Function):
          @staticmethod
          def forward(ctx, x):
              return x * 2
          @staticmethod
          def backward(ctx, g):
              return g * 2

      class Custom(nn.Module):
          def __init__(self):
              super().__init__()
              self.first, self.second = nn.Linear(16, 16), nn.Linear(16, 16)
          def forward(self, x):
              return self.second(Hidden.apply(self.first(x)))

      def custom():
          return Custom(), torch.randn(2, 16)
      """;

  private static Optional<String> found = Optional.empty(); // asking once is enough

  @TempDir Path folder;

  private Ended run(String python, List<String> arguments) throws IOException {
    List<String> command = new ArrayList<>(List.of(python));
    command.addAll(arguments);
    return Python.run(folder, command);
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

  /**
   * Any sum of times will do: what these networks take is too short to be sure of on a busy
   * machine.
   */
  private static final String WITH_TOLERANCE =
      """
      import sys
      sys.path[:0] = [sys.argv[1], ""]
      sys.dont_write_bytecode = True
      import pipewright_profile
      pipewright_profile.TOLERANCE = float(sys.argv[2])
      sys.exit(pipewright_profile.main(sys.argv[3:]))
      """;

  private ModelFile profile(String network, String... more) throws IOException {
    Ended ended = attempt("1e9", network, more);
    assertEquals(0, ended.status(), ended.err());
    return ModelFiles.read(
        folder.resolve(network + ".json"), OptionalInt.empty(), Optional.empty());
  }

  private Ended attempt(String tolerance, String network, String... more) throws IOException {
    Files.writeString(folder.resolve("nets.py"), NETWORKS);
    Path file = folder.resolve(network + ".json");
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "-c",
                WITH_TOLERANCE,
                TOOL.resolveSibling("").toString(),
                tolerance,
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
    return run(python(), arguments);
  }

  private static List<String> operators(LayerGraph graph) {
    return graph.layers().stream().map(layer -> layer.name() + ": " + layer.operator()).toList();
  }

  /**
   * Functions that a network calls itself are layers; a flattening is part of the product after it.
   */
  @Test
  void functionsOfAPerceptronAreOperatorsThatAreTrained() throws IOException {
    ModelFile file = profile("perceptron");
    assertEquals(
        "input→first first→relu relu→second second→relu.2 relu.2→third", edges(file.graph()));
    assertEquals(
        List.of(
            new Operator.Input(),
            new Operator.Linear(64, 32, true),
            new Operator.Elementwise("relu"),
            new Operator.Linear(32, 32, true),
            new Operator.Elementwise("relu"),
            new Operator.Linear(32, 10, true)),
        file.graph().layers().stream().map(Layer::operator).toList());
    assertEquals(Optional.empty(), Computable.refusal(file.graph()));
  }

  @Test
  void functionsOfAConvolutionalNetworkAreOperatorsThatAreTrained() throws IOException {
    LayerGraph graph = profile("convolutional").graph();
    assertEquals(
        "input→first first→max_pool2d max_pool2d→relu relu→second second→add relu→add relu→cat"
            + " add→cat cat→drop drop→head",
        edges(graph));
    assertEquals(
        new Operator.Pooling(
            Operator.Pooling.Kind.MAX, List.of(2, 2), List.of(2, 2), List.of(0, 0)),
        graph.layer(2).operator());
    assertEquals(new Operator.Elementwise("add"), graph.layer(5).operator());
    assertEquals(new Operator.Concatenation(), graph.layer(6).operator());
    assertEquals(Optional.empty(), Computable.refusal(graph));
  }

  /** What has no operator is a block by its name; of a softmax's scores two others read. */
  @Test
  void otherOperationsAreBlocksWithTheirNames() throws IOException {
    LayerGraph graph = profile("attention").graph();
    assertEquals(
        "input→q input→k k→transpose to mul q→transpose to mul transpose to mul→softmax input→v"
            + " softmax→matmul to mul v→matmul to mul",
        edges(graph));
    assertEquals(3 * 17 * 16 + 16, graph.parameters());
    assertEquals(16, graph.layer(6).parameters());
    assertTrue(
        Computable.refusal(graph).orElseThrow().startsWith("of its layer transpose to mul "),
        operators(graph).toString());
  }

  @Test
  void whatATrainedNetworkWouldDoOtherwiseIsABlock() throws IOException {
    List<String> operators = operators(profile("shared").graph());
    assertEquals(
        "f.2: Block[kind=Linear with the parameters of f]", operators.get(2), operators.toString());
    assertTrue(operators.get(3).startsWith("lstm: Block"), "its last state is read, too");
    assertEquals("g: Block[kind=Linear with parameters that do not learn]", operators.get(5));
  }

  @Test
  void anOperationThatPyTorchDoesNotReportIsRefused() throws IOException {
    Ended ended = attempt("1e9", "custom");
    assertEquals(2, ended.status());
    assertEquals(
        "pipewright_profile: second reads what an operation made that PyTorch does not report, such"
            + " as a custom autograd function; call that operation in a module of its own",
        ended.err().strip());
  }

  @Test
  void layersThatDoNotAddUpToTheStepAreRefused() throws IOException {
    Ended ended = attempt("-1", "perceptron");
    assertEquals(2, ended.status());
    assertTrue(
        ended
            .err()
            .matches(
                "(?s)pipewright_profile: the layers' times on 1 sample add up to .* ms, \\d+ % of a"
                    + " step's .*; measure on a quiet machine, or more samples with --batch\\s*"),
        ended.err());
    assertFalse(Files.exists(folder.resolve("perceptron.json")));
  }

  /** Of each batch, whose step the details state; written times are rounded to six digits. */
  @Test
  void timesOfLayersAreStretchedToTheStep() throws IOException {
    Path details = folder.resolve("details.json");
    ModelFile file = profile("perceptron", "--details", details.toString());
    List<Node> batches = Tree.json(details).object().required("batches").list();
    assertEquals(2, batches.size());
    for (int batch = 0; batch < 2; batch++) {
      double step = batches.get(batch).object().required("step_s").finite();
      double sum =
          file.profile().times(batch).stream()
              .mapToDouble(layer -> layer.forward() + layer.backward() + layer.update())
              .sum();
      assertEquals(step, sum, step * 1e-4);
    }
    assertTrue(
        Files.readString(folder.resolve("python.err"))
            .contains(" ms, to which their times are stretched"));
  }

  private static final String SLOW =
      """

      def slow():
          open("started", "w").close()
          return perceptron()
      """;

  private static final String LOADED_SLOWLY =
      """
      import time
      open("started", "w").close()
      time.sleep(100)
      """;

  /** While PyTorch is loaded, for which another module stands in, and while layers are measured. */
  @ParameterizedTest
  @CsvSource({"torch.py, true", "nets.py, false"})
  void anInterruptEndsWithOneSentenceAndWithoutFiles(String slow, boolean loading)
      throws IOException, InterruptedException {
    Files.writeString(folder.resolve(slow), loading ? LOADED_SLOWLY : NETWORKS + SLOW);
    ProcessBuilder builder =
        new ProcessBuilder(
                python(),
                TOOL.toString(),
                "nets.py:slow",
                "--out",
                "o.json",
                "--repeats",
                "1000000")
            .directory(folder.toFile());
    builder.environment().put("PYTHONPATH", folder.toString());
    builder.environment().put("PYTHONDONTWRITEBYTECODE", "1");
    Process tool = builder.start();
    try {
      while (tool.isAlive() && !Files.exists(folder.resolve("started"))) {
        Thread.sleep(10);
      }
      new ProcessBuilder("kill", "-INT", String.valueOf(tool.pid())).start().waitFor();
      assertTrue(tool.waitFor(120, TimeUnit.SECONDS), "it does not end");
      assertEquals(
          "pipewright_profile: interrupted; no file is half-written, so start it again\n",
          new String(tool.getErrorStream().readAllBytes(), StandardCharsets.UTF_8));
    } finally {
      tool.destroyForcibly();
    }
    assertEquals(130, tool.exitValue());
    try (Stream<Path> files = Files.list(folder)) {
      assertEquals(
          Set.of(slow, "started"),
          files.map(file -> file.getFileName().toString()).collect(Collectors.toSet()));
    }
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
        "input→stem stem→norm norm→relu relu→inner inner→add relu→add add→relu.2 relu.2→pool"
            + " pool→fc fc→loss",
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
      assertTrue(times.get(layer).forward() >= 0 && times.get(layer).backward() >= 0);
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
        "table→encoder.add encoder.add→encoder.layer.0 encoder.layer.0→encoder.layer.1 encoder.layer.1→encoder.layer.2"
            + " encoder.layer.2→head",
        edges(graph));
    int block = 2 * 16 + 2 * 16 * 32 + 32 + 16;
    assertEquals(50 * 16 + 12 * 16 + 3 * block + 17 * 50, graph.parameters());
    assertEquals(new Operator.Positions(12, 16), graph.layer(1).operator());
    assertEquals(new Operator.Block("Block"), graph.layer(2).operator());
    assertEquals(12 * 16, graph.layer(2).outputElements());
    assertEquals(new Operator.Linear(16, 50, true), graph.layer(5).operator());
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
    List<CollectiveTiming> timings = CollectiveTimings.read(table, TimingSelection.ALL).timings();
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
