package dev.pipewright.bench.paradl;

import dev.pipewright.bench.reproduction.Networks;
import dev.pipewright.bench.reproduction.Reference;
import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.Roofline;
import dev.pipewright.cost.Workload;
import dev.pipewright.formats.model.ModelFile;
import dev.pipewright.model.Chain;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Training;
import dev.pipewright.predict.paradl.ParadlOracle;
import dev.pipewright.predict.paradl.Prediction.Predicted;
import dev.pipewright.predict.paradl.Setting;
import dev.pipewright.predict.paradl.Strategy;
import dev.pipewright.profile.Profile;
import dev.pipewright.units.Precision;
import dev.pipewright.zoo.Models;
import dev.pipewright.zoo.ZooModel;
import java.util.List;

/** ResNet-50 on the machine of ParaDL's runs: our predictions beside measured iterations. */
final class AbciAccuracy {
  private static final List<Integer> SLICES = List.of(1, 2, 4, 8, 16, 32, 64, 128);
  private static final long IMAGENET = 1_280_000;

  /** Where the network and its times come from. */
  enum Source {
    MEASURED("authors' times"),
    ZOO("zoo");

    private final String label;

    Source(String label) {
      this.label = label;
    }

    String label() {
      return label;
    }
  }

  private final List<MeasuredIteration> rows;
  private final Workload measured;
  private final Workload zoo;

  AbciAccuracy(Reference reference) {
    ParadlFiles files = ParadlFiles.of(reference);
    Cluster abci = Networks.cluster("abci");
    rows = files.measured();
    ModelFile file = files.network("RESNET50_ImageNet_profall.net_sc");
    Training training = new Training(Optimizer.MOMENTUM, Precision.FP32);
    measured = new Workload(Chain.of(file.graph()), file.profile(), training, abci);
    ZooModel model = Models.find("resnet-50").orElseThrow();
    Profile profile = Roofline.profile(model.graph(), abci, model.training(), SLICES);
    zoo = new Workload(Chain.of(model.graph()), profile, model.training(), abci);
  }

  List<MeasuredIteration> rows() {
    return rows;
  }

  List<Strategy> strategies() {
    return rows.stream().map(MeasuredIteration::strategy).distinct().toList();
  }

  Cluster cluster() {
    return measured.cluster();
  }

  /** One prediction for each row, on a machine with these constants. */
  List<Predicted> predict(Source source, Cluster cluster) {
    Workload workload = source == Source.MEASURED ? measured : zoo;
    ParadlOracle oracle =
        new ParadlOracle(
            Setting.of(
                new Workload(workload.chain(), workload.profile(), workload.training(), cluster),
                IMAGENET));
    return rows.stream()
        .map(row -> (Predicted) oracle.predict(row.strategy(), row.devices(), row.samples()))
        .toList();
  }
}
