package dev.pipewright.bench.paradl;

import dev.pipewright.bench.plot.Axis;
import dev.pipewright.bench.plot.Figure;
import dev.pipewright.bench.plot.Lines;
import dev.pipewright.bench.reproduction.Markdown;
import dev.pipewright.bench.reproduction.Numbers;
import dev.pipewright.bench.reproduction.Reference;
import dev.pipewright.bench.reproduction.Report;
import dev.pipewright.bench.reproduction.Reproduction;
import dev.pipewright.bench.reproduction.Timing;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;

/** Seconds that a study of all strategies takes, by layers and by devices. */
public final class PredictScaling implements Reproduction {
  private static final List<String> NETWORKS =
      List.of("resnet-18", "resnet-50", "resnet-101", "resnet-152");
  private static final double[] DEVICES = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096};
  private static final int MOST = 512;

  @Override
  public String name() {
    return "predict-scaling";
  }

  @Override
  public String summary() {
    return "Time that predictions take by network and number of devices.";
  }

  @Override
  public Report run(Reference reference) {
    Markdown table =
        new Markdown(
            "network",
            "layers",
            "devices",
            "predictions",
            "study, ms",
            "processor, ms",
            "predictions alone, processor, ms",
            "one prediction, µs");
    double[] layers = new double[NETWORKS.size()];
    double[] studies = new double[NETWORKS.size()];
    double[] alone = new double[NETWORKS.size()];
    for (int i = 0; i < NETWORKS.size(); i++) {
      PredictStudy study = PredictStudy.of(NETWORKS.get(i), MOST);
      layers[i] = study.layers();
      Timing whole = Timing.of(study::whole);
      Timing predictions = Timing.of(study::predictions);
      row(table, NETWORKS.get(i), study, whole, predictions);
      studies[i] = whole.cpu();
      alone[i] = predictions.cpu();
    }
    double[] byDevices = new double[DEVICES.length];
    double[] aloneByDevices = new double[DEVICES.length];
    for (int i = 0; i < DEVICES.length; i++) {
      PredictStudy all = PredictStudy.of("resnet-152", (int) DEVICES[i]);
      PredictStudy one = new PredictStudy(all.setting(), List.of((int) DEVICES[i]));
      Timing whole = Timing.of(one::whole);
      Timing predictions = Timing.of(one::predictions);
      row(table, "resnet-152", one, whole, predictions);
      byDevices[i] = whole.cpu();
      aloneByDevices[i] = predictions.cpu();
    }
    return new Report("Seconds of a study by layers and devices")
        .paragraph(
            ("`Reproduce predict-scaling`, computed %s. Studies of the 13 strategies on `abci`, 32 samples per"
                    + " device: on 1, 2, 4, … %d devices by layers, on one number of devices otherwise. The"
                    + " oracle is made anew each time; the network, its roofline and the cluster are there. A"
                    + " study asks eight other machines besides (sensitivities). Median of %d repetitions on one"
                    + " warm thread; processor time in the picture.")
                .formatted(LocalDate.now(ZoneOffset.UTC), MOST, Timing.REPETITIONS))
        .table(table)
        .figure(
            new Figure("A study of 13 strategies", 1060, 2)
                .add(
                    panel("By layers (1, 2, 4, … 512 devices)", "layers", layers)
                        .add("study", layers, studies)
                        .add("predictions alone", layers, alone))
                .add(
                    panel("By devices (ResNet-152)", "devices", DEVICES)
                        .add("study", DEVICES, byDevices)
                        .add("predictions alone", DEVICES, aloneByDevices)));
  }

  private static Lines panel(String title, String label, double[] marks) {
    return new Lines(
        title,
        Axis.logarithmic(label).marked(marks),
        Axis.logarithmic("seconds of processor time"),
        320);
  }

  private static void row(
      Markdown table, String network, PredictStudy study, Timing whole, Timing predictions) {
    int count = study.predictions().size();
    List<Integer> devices = study.devices();
    String range =
        devices.size() == 1 ? "" + devices.get(0) : "1 … " + devices.get(devices.size() - 1);
    table.row(
        network,
        study.layers(),
        range,
        count,
        Numbers.milliseconds(whole.wall()),
        Numbers.milliseconds(whole.cpu()),
        Numbers.milliseconds(predictions.cpu()),
        Numbers.significant(1e6 * predictions.cpu() / count));
  }
}
