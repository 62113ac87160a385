package dev.pipewright.runtime.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.pipewright.execution.UpdateRule;
import dev.pipewright.model.Chain;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Optimizer;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.runtime.tensor.Torch;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.zoo.Models;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Workers that are threads of one process never meet oneDNN, which is not safe there: it prints
 * what it creates and executes, and prints nothing.
 */
class ThreadsWithoutOneDnnTest {
  private static final List<String> NETWORKS =
      List.of(
          "cnn-64-128-256:size=8,classes=4",
          "resnet-18:size=32,classes=4,width=8", // batch normalisation, strides, 1×1
          "vit:layers=2,hidden=16,heads=2,patch=8,size=16,classes=4", // GELU, layer normalisation
          "gpt:layers=2,hidden=16,heads=2,sequence=8,vocabulary=32",
          "gnmt:layers=4,hidden=16,steps=6,vocabulary=32", // LSTMs
          "cosmoflow:size=32,outputs=4"); // three spatial axes

  /** Trains each kind of network by three threads, or by one alone. */
  static final class Trains {
    public static void main(String[] arguments) {
      boolean alone = arguments[0].equals("alone");
      if (alone) {
        Torch.startAlone(1);
      } else {
        Torch.start(1);
      }
      for (String name : NETWORKS) {
        LayerGraph graph = Models.find(name).orElseThrow().graph();
        UpdateRule rule = UpdateRule.usual(Optimizer.MOMENTUM);
        Training training = Training.synthetic(graph, rule, 3, 20_000);
        List<StageLayers> whole = NetworksTest.cut(graph, 1);
        List<Integer> workers = List.of(alone ? 1 : 3);
        training.run(new Assignment(OneForwardOneBackward.of(1, 1), whole, workers, 3, false), 1);
        System.out.println("trained " + name + ", " + Chain.of(graph).size() + " layers");
      }
    }
  }

  private static List<String> output(String who) throws IOException, InterruptedException {
    ProcessBuilder builder =
        new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "--enable-native-access=ALL-UNNAMED",
            "-cp",
            System.getProperty("java.class.path"),
            Trains.class.getName(),
            who);
    builder.environment().put("ONEDNN_VERBOSE", "all");
    Process process = builder.redirectError(ProcessBuilder.Redirect.DISCARD).start();
    List<String> lines =
        new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
            .lines()
            .toList();
    assertEquals(0, process.waitFor());
    assertEquals(NETWORKS.size(), lines.stream().filter(l -> l.startsWith("trained")).count());
    return lines.stream().filter(line -> line.startsWith("onednn_verbose")).toList();
  }

  @Test
  void nothingThatThreadsTrainIsComputedByOneDnn() throws Exception {
    assertEquals(List.of(), output("threads"));
    assertFalse(output("alone").isEmpty());
  }
}
