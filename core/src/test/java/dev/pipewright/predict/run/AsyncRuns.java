package dev.pipewright.predict.run;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.Link;
import dev.pipewright.cluster.Software;
import dev.pipewright.cost.Samples;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.Workload;
import dev.pipewright.model.Chain;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Training;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.plan.AsyncPipeline;
import dev.pipewright.profile.LayerMemory;
import dev.pipewright.profile.Profile;
import dev.pipewright.profile.Profile.LayerSizes;
import dev.pipewright.profile.Profile.LayerTimes;
import dev.pipewright.profile.Provenance;
import dev.pipewright.units.Precision;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;

/** Runs under asynchronous schedules, a layer for each stage. */
final class AsyncRuns {
  static final LayerTimes SLOT = new LayerTimes(1, 1, 0, 0);

  private AsyncRuns() {}

  /** Layers of one second forward and two backward that nothing is sent between. */
  static StageCosts costs(
      int layers, double parameters, LayerTimes each, double kept, double working) {
    return costs(
        Collections.nCopies(layers, each),
        new LayerSizes(0, kept, parameters),
        new LayerMemory(working, 0, 0));
  }

  static StageCosts costs(List<LayerTimes> times, LayerSizes sizes, LayerMemory memory) {
    int layers = times.size();
    Profile profile =
        new Profile(
            new Provenance("by hand", "k", "", true),
            Precision.FP32,
            Collections.nCopies(layers, sizes),
            List.of(1),
            List.of(times),
            List.of(Collections.nCopies(layers, memory)));
    Cluster cluster = Samples.plain(List.of(Link.of(0, 1000)), 16);
    var training = new Training(Optimizer.MOMENTUM, Precision.FP32);
    Chain chain = Chain.of(Samples.chain(layers));
    return new StageCosts(new Workload(chain, profile, training, cluster));
  }

  static RunPrediction runPrediction(StageCosts costs, AsyncPipeline asyncPipeline) {
    List<StageLayers> stages =
        IntStream.range(0, asyncPipeline.stages())
            .mapToObj(i -> StageLayers.keeping(i, i))
            .toList();
    int ranks = asyncPipeline.schedule(asyncPipeline.round()).ranks();
    List<Integer> workers = Collections.nCopies(ranks, 1);
    return new RunPrediction(
        costs, Assignment.of(asyncPipeline, stages, workers, asyncPipeline.microBatches()));
  }

  /** The same where messages take three quarters of the processor that computes. */
  static StageCosts busy(StageCosts costs) {
    Workload idle = costs.workload();
    Cluster cluster = idle.cluster().withSoftware(Software.IDEAL.withOverlap(0.25));
    return new StageCosts(new Workload(idle.chain(), idle.profile(), idle.training(), cluster));
  }
}
