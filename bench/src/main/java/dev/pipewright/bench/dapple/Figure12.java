package dev.pipewright.bench.dapple;

import dev.pipewright.bench.plot.Axis;
import dev.pipewright.bench.plot.Dots;
import dev.pipewright.bench.plot.Figure;
import dev.pipewright.bench.reproduction.Markdown;
import dev.pipewright.bench.reproduction.Networks;
import dev.pipewright.bench.reproduction.Numbers;
import dev.pipewright.bench.reproduction.Reference;
import dev.pipewright.bench.reproduction.Report;
import dev.pipewright.bench.reproduction.Reproduction;
import java.util.List;

/** DAPPLE's figure 12: speed-ups of five networks on three clusters of 16 devices. */
public final class Figure12 implements Reproduction {
  private static final int GLOBAL_BATCH = 128;
  private static final List<String> MODELS =
      List.of("vgg-19", "gnmt-16", "bert-48", "xlnet-36", "amoebanet-36");
  private static final List<String> CLUSTERS = List.of("dapple-a", "dapple-b", "dapple-c");
  private static final double[] PAPER = {1.71, 1.37, 1.79};

  @Override
  public String name() {
    return "figure12";
  }

  @Override
  public String summary() {
    return "DAPPLE, figure 12: speed-ups on three clusters of 16 devices.";
  }

  @Override
  public Report run(Reference reference) {
    Markdown table =
        new Markdown(
            "network", "on", "hybrid", "DP overlapped", "DP not overlapped", "hybrid plan");
    Markdown averages = new Markdown("on", "hybrid / DP overlapped, paper", "ours");
    Figure figure = new Figure("DAPPLE, figure 12: speed-up over one device, batch 128", 1060, 3);
    for (int c = 0; c < CLUSTERS.size(); c++) {
      String cluster = CLUSTERS.get(c);
      double[] hybrid = new double[MODELS.size()];
      double[] plain = new double[MODELS.size()];
      double[] overlapped = new double[MODELS.size()];
      double sum = 0;
      int fitting = 0;
      for (int i = 0; i < hybrid.length; i++) {
        SpeedUps one =
            SpeedUps.of(
                Networks.zoo(MODELS.get(i), Networks.cluster(cluster), GLOBAL_BATCH), GLOBAL_BATCH);
        hybrid[i] = one.hybrid();
        plain[i] = one.plain();
        overlapped[i] = one.overlapped();
        if (Double.isFinite(one.overlapped())) {
          sum += one.hybrid() / one.overlapped();
          fitting++;
        }
        table.row(
            MODELS.get(i),
            cluster,
            Numbers.fixed(one.hybrid(), 2),
            Numbers.fixed(one.overlapped(), 2),
            Numbers.fixed(one.plain(), 2),
            one.words());
      }
      averages.row(cluster, PAPER[c], Numbers.fixed(sum / fitting, 2));
      figure.add(
          new Dots(cluster, Axis.fromZero("speed-up"), MODELS)
              .add("hybrid", hybrid)
              .add("DP overlapped", overlapped)
              .add("DP not overlapped", plain));
    }
    return new Report("DAPPLE, figure 12: speed-ups on three clusters of 16 devices")
        .paragraph(
            "Networks of the zoo at a global batch of 128, for which the paper states its averages."
                + " Data parallelism is on all devices, in the micro-batches that suit it. –: does not fit, and is left out of the average.")
        .table(averages)
        .table(table)
        .figure(figure);
  }
}
