package dev.pipewright.formats.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.Refusal;
import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph.Edge;
import dev.pipewright.model.Operator;
import dev.pipewright.profile.Profile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class GraphTextTest {
  private static final String NODE =
      "node%d -- %s -- forward_compute_time=%s, backward_compute_time=3, activation_size=%s,"
          + " parameter_size=80\n";

  @TempDir Path folder;

  private static String node(int id, String description) {
    return NODE.formatted(id, description, "1.5", "800");
  }

  private static String chain(int nodes) {
    StringBuilder text = new StringBuilder();
    for (int i = 1; i <= nodes; i++) {
      text.append(node(i, "layer_" + i));
    }
    for (int i = 1; i < nodes; i++) {
      text.append("\tnode%d -- node%d\n".formatted(i, i + 1));
    }
    return text.toString();
  }

  private ModelFile read(String text) {
    return GraphText.read(Refusal.file(folder, "net.graph.txt", text), 2);
  }

  private void refused(String expected, String text) {
    Path file = Refusal.file(folder, "net.graph.txt", text);
    Refusal.assertRefused("net.graph.txt:" + expected, file, f -> GraphText.read(f, 2));
  }

  @Test
  void timesBecomeSecondsAndSizesBytesPerSample() {
    ModelFile model = read(chain(3));
    assertEquals("net", model.graph().name());
    assertEquals(List.of(new Edge(0, 1), new Edge(1, 2)), model.graph().edges());
    Layer layer = model.graph().layer(1);
    assertEquals("layer_2", layer.name());
    assertEquals(new Operator.Recorded("layer_2"), layer.operator());
    assertEquals(20, layer.parameters());
    assertEquals(100, layer.outputElements());
    assertEquals(new Profile.LayerSizes(400, 400, 80), model.profile().sizes(1));
    assertEquals(
        new Profile.LayerTimes(0.0015, 0.003, Double.NaN, 0), model.profile().times(0).get(1));
    assertEquals(List.of(2), model.profile().samples());
    assertTrue(model.profile().provenance().measured());
    assertEquals(Optional.empty(), model.training());
  }

  @Test
  void listsAreAddedUp() {
    assertEquals(300, read(NODE.formatted(1, "a", "1", "[400; 200]")).profile().sizes(0).output());
  }

  @Test
  void linesMayBeUntidy() {
    String text =
        "\uFEFF"
            + node(1, "a").replace("\n", " -- stage_id=3\r\n")
            + "\n"
            + node(2, "b")
            + "  \tnode1 -- node2\t\r\n"
            + "\tnode1 -- node2\n"
            + node(7, "c -> d")
            + "\t node2 -- node7";
    assertEquals(List.of(new Edge(0, 1), new Edge(1, 2)), read(text).graph().edges());
  }

  @Test
  void inputsAndTakenElementsAreLeftOut() {
    String text =
        node(1, "Input0")
            + node(2, "Lstm")
            + node(3, "__getitem__(0)")
            + node(4, "__getitem__(1)")
            + node(5, "Input_Projection")
            + "\tnode1 -- node2\n\tnode2 -- node3\n\tnode2 -- node4\n\tnode3 -- node5\n";
    ModelFile model = read(text);
    assertEquals(
        List.of("Lstm", "__getitem__(0)", "Input_Projection"),
        model.graph().layers().stream().map(Layer::name).toList());
    assertEquals(List.of(new Edge(0, 1), new Edge(1, 2)), model.graph().edges());
  }

  @Test
  void sharedDescriptionsAreToldApartByTheirNode() {
    String text = node(4, "ReLU") + node(9, "Pool") + node(5, "ReLU");
    assertEquals(
        List.of("node4 ReLU", "Pool", "node5 ReLU"),
        read(text + "\tnode4 -- node9\n\tnode9 -- node5\n").graph().layers().stream()
            .map(Layer::name)
            .toList());
  }

  @Test
  void anEmptyFileIsRefused() {
    refused("1: the file is empty; a graph text file declares nodes and edges", "");
    refused("1: the file is empty; a graph text file declares nodes and edges", " \n\n");
  }

  @Test
  void whatOtherToolsAppendIsLeftOut() {
    String text =
        node(1, "a").replace("\n", " -- stage_id=3\n")
            + node(2, "b").replace("\n", " -- vlayer_id=7\n");
    assertEquals(2, read(text + "\tnode1 -- node2\n").graph().size());
  }

  @ParameterizedTest
  @ValueSource(strings = {"-2", "-1e-9", "-1e400"})
  void negativeTimesAreRefused(String time) {
    refused(
        "1: forward_compute_time=" + time + " is negative; times are milliseconds >= 0",
        NODE.formatted(1, "a", time, "1"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"NaN", "nan", "Infinity", "inf", "0x1p3", "1d", "", "1,5", "--1"})
  void whatIsNoNumberIsRefused(String size) {
    String text = NODE.formatted(1, "a", "1", "[1; " + size + "]");
    String message =
        Refusal.of(Refusal.file(folder, "x.txt", text), file -> GraphText.read(file, 2));
    assertTrue(message.startsWith("x.txt:1: "), message);
    assertTrue(message.contains("sizes are bytes >= 0"), message);
  }

  @Test
  void absurdNumbersAreRefused() {
    refused(
        "1: activation_size=1e300 is larger than any layer's; write 0 or what comes to 1e-9 to 1e15"
            + " bytes",
        NODE.formatted(1, "a", "1", "1e300"));
    refused(
        "1: forward_compute_time=1e-300 is smaller than any layer's; write 0 or what comes to 1e-18"
            + " to 1e9 seconds",
        NODE.formatted(1, "a", "1e-300", "1"));
    refused(
        "1: activation_size=[9e14; 9e14] is larger than any layer's; write 0 or what comes to 1e-9"
            + " to 1e15 bytes",
        NODE.formatted(1, "a", "1", "[9e14; 9e14]"));
  }

  @Test
  void aLineThatIsCutOffSaysWhatIsMissing() {
    String form =
        "; a node reads \"node1 -- description -- forward_compute_time=1,"
            + " backward_compute_time=2, activation_size=3, parameter_size=4\"";
    String last =
        "forward_compute_time, backward_compute_time, activation_size, parameter_size" + form;
    refused("1: node1 is cut off before its description, " + last, "node1");
    refused("1: node1 is cut off before its " + last, "node1 -- a");
    refused("1: node1 is cut off before its " + last, "node1 -- a -- forward_comp");
    refused(
        "1: node1 is cut off before its activation_size, parameter_size" + form,
        "node1 -- a -- forward_compute_time=1, backward_compute_time=1, act");
    refused(
        "1: node1 is cut off before its parameter_size" + form,
        "node1 -- a -- forward_compute_time=1, backward_compute_time=1, activation_size=5");
  }

  @Test
  void anEdgeThatIsCutOffIsRefused() {
    refused(
        "3: an edge is cut off or too long; an edge reads \"TAB node1 -- node2\"",
        node(1, "a") + node(2, "b") + "\tnode1 -");
  }

  @Test
  void anEdgeWithoutTabIsRefused() {
    refused(
        "3: the edge \"node1 -- node2\" begins without a TAB; put one before it",
        node(1, "a") + node(2, "b") + "node1 -- node2");
  }

  @Test
  void fieldsThatAreUnknownOrTwiceAreRefused() {
    refused(
        "1: node1 has an unknown field \"forwrad_compute_time\"; did you mean"
            + " \"forward_compute_time\"?",
        node(1, "a").replace("forward_", "forwrad_"));
    refused(
        "1: node1 gives parameter_size twice; give it once",
        node(1, "a").replace("\n", ", parameter_size=3"));
    refused(
        "1: node1 has the field \"stage=3\", which a node does not have; a node reads \"node1 -- description --"
            + " forward_compute_time=1, backward_compute_time=2, activation_size=3,"
            + " parameter_size=4\"",
        node(1, "a").replace("\n", " -- stage=3"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"\0\377", "\1", "node1\0", "\177ELF", "node1 -- \033[31m"})
  void bytesThatAreNotTextAreRefused(String start) throws IOException {
    Path file = folder.resolve("binary.txt");
    Files.write(file, start.repeat(100).getBytes(StandardCharsets.ISO_8859_1));
    Refusal.assertRefused(
        "binary.txt:1: is not a graph text file; the file holds bytes that are not text",
        file,
        f -> GraphText.read(f, 2));
  }

  @Test
  void textThatIsNoGraphIsRefused() {
    refused(
        "1: \"Call me Ishmael.\" is neither a node nor an edge; a node reads \"node1 --"
            + " description -- forward_compute_time=1, backward_compute_time=2,"
            + " activation_size=3, parameter_size=4\"",
        "Call me Ishmael.\n");
  }

  @Test
  void aNodeThatIsDeclaredTwiceIsRefused() {
    refused(
        "3: node1 is declared a second time, first in line 1; give each node a number of its own",
        node(1, "a") + node(2, "b") + node(1, "a"));
  }

  @Test
  void anEdgeOfAnUnknownNodeIsRefused() {
    refused(
        "6: the edge names node9999, which no line above declares; declare a node before its"
            + " edges",
        chain(3) + "\tnode9999 -- node2");
  }

  @Test
  void anEdgeToItselfIsRefused() {
    refused(
        "6: node3 has an edge to itself; a network has no cycles, remove the edge",
        chain(3) + "\tnode3 -- node3");
  }

  @Test
  void aCycleIsShownWithTheEdgeThatClosesIt() {
    refused(
        "10: the edges form a cycle node2 → node3 → node4 → node2; remove the edge that leads back",
        chain(5) + "\tnode4 -- node2");
  }

  @Test
  void aLongCycleIsShortened() {
    refused(
        "40: the edges form a cycle node1 → node2 → node3 → … → node18 → node19 → node20 → node1;"
            + " remove the edge that leads back",
        chain(20) + "\tnode20 -- node1");
  }

  @Test
  void aLayerThatIsNotConnectedIsRefused() {
    refused(
        "4: node4 is not connected to the rest of the network; add the missing edges, the file"
            + " may be cut off",
        node(1, "a")
            + node(2, "b")
            + node(3, "c")
            + node(4, "d")
            + "\tnode1 -- node2\n\tnode2 -- node3");
  }

  @Test
  void aFileThatIsCutOffIsRefusedWhereverTheCutFalls() {
    String whole = chain(12);
    for (int end = whole.indexOf('\n') + 2; end < whole.length() - 1; end++) {
      Path file = Refusal.file(folder, "cut.txt", whole.substring(0, end));
      assertThrows(BadInputException.class, () -> GraphText.read(file, 2), "cut at " + end);
    }
  }

  @Test
  void aFileOfInputsOnlyIsRefused() {
    refused(
        "1: no layer is left without Input sources and __getitem__ sinks; add layers",
        node(1, "Input"));
  }

  @Test
  void tooManyPlacesToCutAreRefused() {
    StringBuilder text = new StringBuilder(node(1, "a"));
    for (int branch = 2; branch < 18; branch++) {
      text.append(node(branch, "b" + branch)).append("\tnode1 -- node%d\n".formatted(branch));
    }
    Refusal.assertRefused(
        "wide.txt:1: the branches allow more than 20000 places to cut; merge layers into blocks:"
            + " model=wide",
        Refusal.file(folder, "wide.txt", text.toString()),
        file -> GraphText.read(file, 2));
  }

  @Test
  void oneLayerTooManyIsRefusedBeforeWhatFollowsIsRead() {
    StringBuilder text = new StringBuilder();
    for (int i = 1; i <= 100_001; i++) {
      text.append(node(i, "layer"));
    }
    Refusal.assertRefused(
        "huge.txt:100001: the model has more than 100,000 layers; merge layers into blocks",
        Refusal.file(folder, "huge.txt", text + "no layer\n"),
        file -> GraphText.read(file, 2));
  }

  @Test
  void aHundredThousandLayersAreRead() {
    assertEquals(100_000, read(chain(100_000)).graph().size());
  }

  @Test
  void aMissingBatchIsTheCallersMistake() {
    assertThrows(IllegalArgumentException.class, () -> GraphText.read(folder, 0));
  }
}
