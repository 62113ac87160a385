package dev.pipewright.bench.reproduction;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.PathFormula;
import dev.pipewright.cost.PipelineOracle;
import dev.pipewright.cost.Roofline;
import dev.pipewright.cost.SimulatedOracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.Workload;
import dev.pipewright.formats.model.ModelFile;
import dev.pipewright.model.Chain;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Training;
import dev.pipewright.planner.DapplePlanner;
import dev.pipewright.planner.Planning;
import dev.pipewright.planner.Request;
import dev.pipewright.profile.Profile;
import dev.pipewright.units.Precision;
import dev.pipewright.zoo.Clusters;
import dev.pipewright.zoo.Models;
import dev.pipewright.zoo.ZooModel;
import java.util.ArrayList;
import java.util.List;

/** Networks of the zoo and of the reference, priced on clusters. */
public final class Networks {
  private static final int LARGEST_SLICE = 1024;

  private Networks() {}

  public static Cluster cluster(String name) {
    return Clusters.find(name).orElseThrow();
  }

  /** A network of the zoo, its times derived from shapes. */
  public static StageCosts zoo(String name, Cluster cluster, int globalBatch) {
    ZooModel model = Models.find(name).orElseThrow();
    List<Integer> slices = new ArrayList<>();
    for (int samples = 1; samples <= Math.min(globalBatch, LARGEST_SLICE); samples *= 2) {
      slices.add(samples);
    }
    Profile profile = Roofline.profile(model.graph(), cluster, model.training(), slices);
    return new StageCosts(
        new Workload(Chain.of(model.graph()), profile, model.training(), cluster));
  }

  /** A network whose times DAPPLE's authors measured. */
  public static StageCosts measured(Reference reference, String profile, Cluster cluster) {
    ModelFile file = reference.profile(profile);
    Training training = new Training(optimizer(profile), Precision.FP32);
    return new StageCosts(new Workload(Chain.of(file.graph()), file.profile(), training, cluster));
  }

  /** As DAPPLE §VI-A trains the network; its SGD for VGG keeps a momentum. */
  private static Optimizer optimizer(String profile) {
    return profile.startsWith("vgg")
        ? Optimizer.MOMENTUM
        : profile.startsWith("amoeba") ? Optimizer.RMSPROP : Optimizer.ADAM;
  }

  /** The simulator on the stage times that plans really have. */
  public static SimulatedOracle simulator(StageCosts costs) {
    return new SimulatedOracle(new PipelineOracle(costs, new PathFormula()));
  }

  public static Planning plan(StageCosts costs, Request request) {
    return DapplePlanner.plan(costs, request, simulator(costs));
  }
}
