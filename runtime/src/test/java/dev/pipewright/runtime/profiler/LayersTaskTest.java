package dev.pipewright.runtime.profiler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.execution.ProfilingOutcome.LayerFigures;
import dev.pipewright.execution.ProfilingOutcome.Spread;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Optimizer;
import dev.pipewright.runtime.tensor.Torch;
import dev.pipewright.runtime.training.RunnableModel;
import dev.pipewright.runtime.transport.LocalTransport;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class LayersTaskTest {
  private static final String PERCEPTRON = "mlp:layers=2,hidden=48,in=32,classes=10";

  @BeforeAll
  static void start() {
    Torch.start(1);
  }

  private static List<LayersReport> measured(String model, List<Integer> batches) {
    List<LayersReport> reports = new ArrayList<>();
    LayersJob job =
        new LayersJob(
            model, OptionalInt.empty(), "synthetic", batches, 3, Optimizer.MOMENTUM, true);
    LayersTask.measure(job, new CoRunningLoad(LocalTransport.of(1).get(0)), reports::add);
    return reports;
  }

  @Test
  void aPerceptronKeepsItsSamplesAndWhatEachReluHandsOn() {
    // A product keeps what it reads, a relu what it gives, which the next product reads: once each.
    LayersReport report = measured(PERCEPTRON, List.of(5)).get(0);
    assertEquals(
        List.of(5 * 32 * 4L, 5 * 48 * 4L, 5 * 48 * 4L, 0L),
        report.layers().stream().map(LayerFigures::keptBytes).toList());
    assertEquals(
        List.of(5 * 32 * 4L, 5 * 48 * 4L, 5 * 48 * 4L, 5 * 10 * 4L),
        report.layers().stream().map(LayerFigures::outputBytes).toList());
    assertEquals(
        List.of(0L, 4L * 48 * 33, 4L * 48 * 49, 4L * 10 * 49),
        report.layers().stream().map(LayerFigures::parameterBytes).toList());
  }

  @Test
  void aPoolingKeepsThePlacesOfItsMaximaToo() {
    LayerGraph graph = RunnableModel.of("cnn-64-128-256");
    LayersReport report = measured("cnn-64-128-256", List.of(1)).get(0);
    int pool = graph.index().getOrDefault("pool1", -1);
    long elements = 64 * 16 * 16;
    assertEquals(elements * (Float.BYTES + Long.BYTES), report.layers().get(pool).keptBytes());
    int convolution = graph.index().getOrDefault("conv1_1", -1);
    assertEquals(64 * 32 * 32 * 4L, report.layers().get(convolution).keptBytes());
  }

  @Test
  void keptBytesGrowWithTheSamplesWhereLayersKeepNothingElse() {
    List<LayersReport> reports = measured(PERCEPTRON, List.of(1, 2, 7));
    assertEquals(List.of(1, 2, 7), reports.stream().map(LayersReport::samples).toList());
    for (LayersReport report : reports) {
      long kept = report.layers().stream().mapToLong(LayerFigures::keptBytes).sum();
      assertEquals(4L * report.samples() * (32 + 48 + 48), kept);
    }
  }

  @Test
  void everyLayerWithParametersTakesTimeInEveryPass() {
    LayersReport report = measured(PERCEPTRON, List.of(64)).get(0);
    for (LayerFigures layer : report.layers()) {
      spreads(layer).forEach(LayersTaskTest::assertOrdered);
      if (layer.parameterBytes() > 0) {
        assertTrue(spreads(layer).allMatch(spread -> spread.most() > 0), layer.toString());
      } else {
        assertEquals(0, layer.update().most());
      }
    }
    assertTrue(report.overhead().forward() > 0 && report.overhead().backward() > 0);
    assertTrue(report.readSeconds() > 0 && report.lossSeconds() > 0);
    assertTrue(report.flops() > 0 && report.bytesPerSecond() > 0);
  }

  private static Stream<Spread> spreads(LayerFigures layer) {
    return Stream.of(
        layer.forward(),
        layer.backward(),
        layer.inputGradient(),
        layer.weightGradient(),
        layer.update());
  }

  private static void assertOrdered(Spread spread) {
    assertTrue(
        0 <= spread.least()
            && spread.least() <= spread.median()
            && spread.median() <= spread.most(),
        spread.toString());
  }

  @Test
  void networksWithBranchesAndSequencesAreMeasuredToo() {
    for (String model :
        List.of(
            "resnet-18:size=32,classes=10",
            "gpt:layers=1,hidden=32,heads=2,sequence=8,vocabulary=50",
            "gnmt:layers=4,hidden=16,steps=4,vocabulary=30")) {
      LayersReport report = measured(model, List.of(2)).get(0);
      LayerGraph graph = RunnableModel.of(model);
      assertEquals(graph.size(), report.layers().size(), model);
      assertTrue(
          report.layers().stream().filter(layer -> layer.backward().median() > 0).count() > 2,
          model);
    }
  }

  @Test
  void aReportIsReadBackAsItWasSent() {
    LayersReport report = measured(PERCEPTRON, List.of(2)).get(0);
    assertEquals(report, LayersReport.parse(report.text()));
  }
}
