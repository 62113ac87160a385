package dev.pipewright.bench.paradl;

import dev.pipewright.bench.reproduction.Networks;
import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.Roofline;
import dev.pipewright.cost.Workload;
import dev.pipewright.model.Chain;
import dev.pipewright.predict.paradl.BatchScaling;
import dev.pipewright.predict.paradl.ParadlOracle;
import dev.pipewright.predict.paradl.Prediction;
import dev.pipewright.predict.paradl.Setting;
import dev.pipewright.predict.paradl.Strategy;
import dev.pipewright.predict.paradl.Studies;
import dev.pipewright.predict.paradl.Study;
import dev.pipewright.profile.Profile;
import dev.pipewright.zoo.Models;
import dev.pipewright.zoo.ZooModel;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** All strategies on powers of two of devices, for a network of the zoo on {@code abci}. */
public record PredictStudy(Setting setting, List<Integer> devices) {
  private static final List<Integer> SLICES =
      IntStream.rangeClosed(0, 10).mapToObj(power -> 1 << power).toList();
  private static final long IMAGENET = 1_280_000;
  private static final BatchScaling BATCH = BatchScaling.perDevice(32);

  public PredictStudy {
    devices = List.copyOf(devices);
  }

  /** On 1, 2, 4, … devices. */
  public static PredictStudy of(String network, int mostDevices) {
    Cluster abci = Networks.cluster("abci");
    ZooModel model = Models.find(network).orElseThrow();
    Profile profile = Roofline.profile(model.graph(), abci, model.training(), SLICES);
    Workload workload = new Workload(Chain.of(model.graph()), profile, model.training(), abci);
    List<Integer> devices = new ArrayList<>();
    for (int count = 1; count <= mostDevices; count *= 2) {
      devices.add(count);
    }
    return new PredictStudy(Setting.of(workload, IMAGENET), devices);
  }

  int layers() {
    return setting.workload().chain().graph().size();
  }

  /** With crossovers, and with the choice on machines that have more or less of something. */
  public Study whole() {
    return Studies.of(setting, strategies(), devices, BATCH);
  }

  private List<Strategy> strategies() {
    return Strategy.of(
        setting.workload().chain().graph(), setting.formulas() == Setting.Formulas.PUBLISHED);
  }

  /** The predictions alone. */
  public List<Prediction> predictions() {
    ParadlOracle oracle = new ParadlOracle(setting);
    List<Prediction> predictions = new ArrayList<>();
    for (Strategy strategy : strategies()) {
      for (int count : devices) {
        predictions.add(oracle.predict(strategy, count, BATCH.on(count)));
      }
    }
    return predictions;
  }
}
