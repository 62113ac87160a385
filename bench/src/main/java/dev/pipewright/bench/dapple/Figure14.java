package dev.pipewright.bench.dapple;

import dev.pipewright.bench.plot.Axis;
import dev.pipewright.bench.plot.Figure;
import dev.pipewright.bench.plot.Lines;
import dev.pipewright.bench.reproduction.Markdown;
import dev.pipewright.bench.reproduction.Networks;
import dev.pipewright.bench.reproduction.Numbers;
import dev.pipewright.bench.reproduction.Reference;
import dev.pipewright.bench.reproduction.Report;
import dev.pipewright.bench.reproduction.Reproduction;
import dev.pipewright.cluster.Cluster;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/** DAPPLE's figure 14: speed-up at a fixed batch with 2 to 16 devices of config A. */
public final class Figure14 implements Reproduction {
  private static final int[] DEVICES = {2, 4, 6, 8, 10, 12, 14, 16};
  private static final int MACHINE = 8;

  private record Line(String model, int globalBatch) {}

  private static final List<Line> LINES =
      List.of(
          new Line("gnmt-16", 2048),
          new Line("bert-48", 128),
          new Line("xlnet-36", 128),
          new Line("amoebanet-36", 256));

  @Override
  public String name() {
    return "figure14";
  }

  @Override
  public String summary() {
    return "DAPPLE, figure 14: strong scaling.";
  }

  @Override
  public Report run(Reference reference) {
    Markdown table =
        new Markdown(
            "network (batch)",
            "devices",
            "hybrid",
            "DP overlapped",
            "DP not overlapped",
            "hybrid plan");
    Figure figure = new Figure("DAPPLE, figure 14: speed-up over one device, config A", 1000, 2);
    for (Line line : LINES) {
      double[] hybrid = new double[DEVICES.length];
      double[] plain = new double[DEVICES.length];
      double[] overlapped = new double[DEVICES.length];
      for (int i = 0; i < DEVICES.length; i++) {
        Cluster cluster = part(DEVICES[i]);
        SpeedUps one =
            SpeedUps.of(
                Networks.zoo(line.model(), cluster, line.globalBatch()), line.globalBatch());
        hybrid[i] = one.hybrid();
        plain[i] = one.plain();
        overlapped[i] = one.overlapped();
        table.row(
            line.model() + " (" + line.globalBatch() + ")",
            DEVICES[i],
            Numbers.fixed(one.hybrid(), 2),
            Numbers.fixed(one.overlapped(), 2),
            Numbers.fixed(one.plain(), 2),
            one.words());
      }
      double[] xs = Arrays.stream(DEVICES).asDoubleStream().toArray();
      figure.add(
          new Lines(
                  line.model() + ", batch " + line.globalBatch(),
                  Axis.fromZero("devices").marked(2, 4, 6, 8, 10, 12, 14, 16),
                  Axis.fromZero("speed-up"),
                  300)
              .add("hybrid", xs, hybrid)
              .add("DP overlapped", xs, overlapped)
              .add("DP not overlapped", xs, plain));
    }
    return new Report("DAPPLE, figure 14: strong scaling")
        .paragraph(
            "Networks of the zoo. Up to 8 devices of one machine, then more of a second one. Speed-up"
                + " over one device that does everything at its best batch sizes, whether it has the"
                + " memory or not. –: does not fit.")
        .table(table)
        .figure(figure);
  }

  /** The first devices of config A. */
  private static Cluster part(int devices) {
    if (devices <= MACHINE) {
      return Networks.cluster("dapple-a:1x" + devices);
    }
    Cluster all = Networks.cluster("dapple-a");
    return new Cluster(
        "dapple-a, " + devices + " devices",
        Collections.nCopies(devices, all.device(0)),
        all.levels(),
        List.of(List.of(MACHINE, devices - MACHINE), List.of(devices)));
  }
}
