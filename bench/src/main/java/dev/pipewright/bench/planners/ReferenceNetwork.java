package dev.pipewright.bench.planners;

import dev.pipewright.bench.reproduction.Reference;
import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.Workload;
import dev.pipewright.formats.model.GraphText;
import dev.pipewright.formats.model.ModelFile;
import dev.pipewright.model.Chain;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Training;
import dev.pipewright.units.Precision;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * A network that was measured layer by layer on a V100.
 *
 * @param file in the folder of reference files
 * @param miniBatch samples that it was measured for; the files of PipeDream's authors do not say
 * @param globalBatch samples of a step: DAPPLE's (table V), or as many on each of 16 devices as
 *     were measured
 */
public record ReferenceNetwork(
    String name, String file, int miniBatch, int globalBatch, Optimizer optimizer) {
  static final List<ReferenceNetwork> ALL =
      List.of(
          dapple("vgg-19", "vgg-19-pbs-32", 2048, Optimizer.MOMENTUM),
          dapple("gnmt-16", "gnmt-16-pbs-64", 1024, Optimizer.ADAM),
          dapple("gnmt-32", "gnmt-32-pbs-64-simplified", 1024, Optimizer.ADAM),
          dapple("bert-48", "bert-48-pbs-2", 64, Optimizer.ADAM),
          dapple("xlnet-36", "xlnet-36-pbs-1", 128, Optimizer.ADAM),
          dapple("amoeba-36", "amoeba-36-pbs-1", 128, Optimizer.RMSPROP),
          pipeDream("vgg16", 128, Optimizer.MOMENTUM),
          pipeDream("resnet50", 128, Optimizer.MOMENTUM),
          pipeDream("resnet18", 256, Optimizer.MOMENTUM),
          pipeDream("alexnet", 256, Optimizer.MOMENTUM),
          pipeDream("squeezenet1_0", 256, Optimizer.MOMENTUM),
          pipeDream("gnmt", 64, Optimizer.ADAM));

  private static ReferenceNetwork dapple(
      String name, String profile, int globalBatch, Optimizer optimizer) {
    return new ReferenceNetwork(
        name, "dapple/" + profile + ".txt", Reference.batch(profile), globalBatch, optimizer);
  }

  private static ReferenceNetwork pipeDream(String name, int miniBatch, Optimizer optimizer) {
    return new ReferenceNetwork(
        name, "pipedream/" + name + ".graph.txt", miniBatch, 16 * miniBatch, optimizer);
  }

  /** The network called {@code name}. */
  public static ReferenceNetwork of(String name) {
    return ALL.stream().filter(one -> one.name.equals(name)).findFirst().orElseThrow();
  }

  public boolean in(Reference reference) {
    return Files.exists(path(reference));
  }

  private Path path(Reference reference) {
    return reference.folder().resolve(file);
  }

  public Workload on(Reference reference, Cluster cluster) {
    ModelFile model = GraphText.read(path(reference), miniBatch);
    Training training = new Training(optimizer, Precision.FP32);
    return new Workload(Chain.of(model.graph()), model.profile(), training, cluster);
  }

  StageCosts costs(Reference reference, Cluster cluster) {
    return new StageCosts(on(reference, cluster));
  }
}
