package dev.pipewright.api;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.CostModel;
import dev.pipewright.formats.model.ModelFile;
import dev.pipewright.formats.problem.Costed;
import dev.pipewright.formats.problem.NamedWorkload;
import dev.pipewright.formats.problem.NamedWorkload.Devices;
import dev.pipewright.formats.problem.NamedWorkload.Network;
import dev.pipewright.formats.problem.StepOptions;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Training;
import dev.pipewright.profile.Profile;
import dev.pipewright.units.Precision;
import dev.pipewright.zoo.ZooModel;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * A training step to plan: a network, a cluster, samples per step, and what the plan must respect.
 * What is not stated has the default of the command line's {@code plan}.
 *
 * <p>Every method that makes a problem throws {@link IllegalArgumentException} where a name is
 * unknown, a file does not exist, or a number is out of range. Planning throws it where values
 * contradict each other, the planner, or the contents of a file.
 *
 * @param workload what is trained on what
 * @param step how a step is planned
 */
public record Problem(NamedWorkload workload, StepOptions step) {
  public Problem {
    workload.check();
    step.check();
  }

  /**
   * A problem of a named network on a named cluster.
   *
   * @param network a name that {@code pipewright models} lists, or a model file
   * @param cluster a name that {@code pipewright clusters} lists, with its size as in {@code
   *     dgx-h100:1x8}, or a YAML file
   * @param globalBatch samples per step
   */
  public static Problem of(String network, String cluster, int globalBatch) {
    return of(Network.named(network), Devices.named(cluster), globalBatch);
  }

  /** A problem of a named network on a cluster of your own. */
  public static Problem of(String network, Cluster cluster, int globalBatch) {
    return of(Network.named(network), Devices.of(cluster), globalBatch);
  }

  /**
   * A problem of a network of your own, whose layers take what the profile says. The optimizer is
   * Adam.
   */
  public static Problem of(LayerGraph network, Profile profile, Cluster cluster, int globalBatch) {
    ModelFile profiled = new ModelFile(network, profile, Optional.empty());
    return of(Network.profiled(profiled), Devices.of(cluster), globalBatch);
  }

  /**
   * A problem of a network of your own, whose layers take what a roofline of the devices gives for
   * their shapes. The optimizer is Adam; transformers train in 16 bits on tensor cores, other
   * networks in fp32.
   */
  public static Problem of(LayerGraph network, Cluster cluster, int globalBatch) {
    Training training = new Training(Optimizer.ADAM, Precision.FP32);
    ZooModel described = new ZooModel(network.name(), network, training, 1, "given by its shapes");
    return of(Network.described(described), Devices.of(cluster), globalBatch);
  }

  private static Problem of(Network network, Devices devices, int globalBatch) {
    return new Problem(NamedWorkload.of(network, devices), StepOptions.of(globalBatch));
  }

  /** The same problem with micro-batches of {@code samples} samples. Default: every divisor. */
  public Problem withMicroBatch(int samples) {
    return with(step.globalBatch(), OptionalInt.of(samples), step.costModel(), step.recompute());
  }

  /** The same problem for pipelines of exactly {@code count} stages. Default: any number. */
  public Problem withStages(int count) {
    return new Problem(workload, step.withStages(count));
  }

  /** The same problem with another number of samples per step. */
  public Problem withGlobalBatch(int samples) {
    return with(samples, step.microBatch(), step.costModel(), step.recompute());
  }

  /** The same problem, ranked by a cost model of {@link Oracles#names}. */
  public Problem withCostModel(String name) {
    return with(step.globalBatch(), step.microBatch(), name, step.recompute());
  }

  /**
   * The same problem with a mode of recomputation.
   *
   * @param mode {@code auto} (the default) and {@code selective}: what memory demands; {@code
   *     none}; {@code stage-input} and {@code full}: all layers; {@code except-last}: all layers,
   *     but not of a step's last micro-batch
   */
  public Problem withRecompute(String mode) {
    return with(step.globalBatch(), step.microBatch(), step.costModel(), mode);
  }

  private Problem with(
      int globalBatch, OptionalInt microBatch, String costModel, String recompute) {
    return new Problem(
        workload,
        new StepOptions(
            globalBatch,
            microBatch,
            costModel,
            step.schedule(),
            step.given(),
            step.chunks(),
            recompute,
            step.stages(),
            step.flags()));
  }

  /**
   * The same problem, planned for one schedule.
   *
   * @param name a pipeline with flushes, of {@link Schedules#names}. Default: the better of {@code
   *     1f1b} and {@code 1f1b-b}
   */
  public Problem withSchedule(String name) {
    return new Problem(
        workload,
        new StepOptions(
            step.globalBatch(),
            step.microBatch(),
            step.costModel(),
            Optional.of(name),
            Optional.empty(),
            step.chunks(),
            step.recompute(),
            step.stages(),
            step.flags()));
  }

  /**
   * The same problem in another precision.
   *
   * @param name {@code bf16}, {@code fp16}, {@code tf32}, {@code fp32}, or {@code mixed}: bf16, and
   *     fp16 on devices without it. Default: mixed for transformers on tensor cores, otherwise fp32
   */
  public Problem withPrecision(String name) {
    return new Problem(
        new NamedWorkload(
            workload.network(), workload.devices(), workload.optimizer(), Optional.of(name)),
        step);
  }

  /**
   * The same problem with another optimizer: {@code sgd}, {@code momentum}, {@code rmsprop} or
   * {@code adam}. Default: the network's own.
   */
  public Problem withOptimizer(String name) {
    return new Problem(
        new NamedWorkload(
            workload.network(), workload.devices(), Optional.of(name), workload.precision()),
        step);
  }

  /**
   * The same problem on devices with other memory, like {@code 16e9} or {@code 32GiB}; plans leave
   * none of it free unless {@link #withMemoryReserve} says so.
   */
  public Problem withMemory(String bytes) {
    Devices devices = workload.devices();
    return on(
        new Devices(devices.name(), devices.built(), Optional.of(bytes), devices.memoryReserve()));
  }

  /**
   * The same problem, where plans leave a share of each device's memory free.
   *
   * @param share from 0 to below 1. Default: 0.06; 0 with {@link #withMemory}, on clusters of
   *     papers and on measured ones
   */
  public Problem withMemoryReserve(double share) {
    Devices devices = workload.devices();
    return on(
        new Devices(
            devices.name(),
            devices.built(),
            devices.memory(),
            Optional.of(Double.toString(share))));
  }

  /** The same problem on another cluster, with the memory that plans may use. */
  public Problem on(Cluster cluster) {
    return on(Devices.of(cluster));
  }

  /**
   * The same problem on the first devices of its cluster, machine by machine.
   *
   * @param count devices
   */
  public Problem onFirst(int count) {
    Devices devices = workload.devices();
    return on(
        new Devices(
            devices.name(),
            Optional.of(devices.asNamed().first(count)),
            devices.memory(),
            devices.memoryReserve()));
  }

  private Problem of(Network network) {
    return new Problem(
        new NamedWorkload(
            network,
            workload.devices(),
            workload.optimizer(),
            workload.precision(),
            workload.gradients()),
        step);
  }

  private Problem on(Devices devices) {
    return new Problem(
        new NamedWorkload(
            workload.network(),
            devices,
            workload.optimizer(),
            workload.precision(),
            workload.gradients()),
        step);
  }

  /**
   * The same problem, whose model file has times for batches of {@code samples} samples. Graph
   * texts and tables of layers need it.
   */
  public Problem withProfileBatch(int samples) {
    Network network = workload.network();
    return of(
        new Network(
            network.name(),
            OptionalInt.of(samples),
            network.format(),
            network.sequence(),
            network.profiled(),
            network.described()));
  }

  /** The same problem on samples of so many tokens. Default: the transformer's usual ones. */
  public Problem withSequence(int tokens) {
    Network network = workload.network();
    return of(
        new Network(
            network.name(),
            network.profileBatch(),
            network.format(),
            OptionalInt.of(tokens),
            network.profiled(),
            network.described()));
  }

  /** The cluster, with the memory that plans may use. */
  public Cluster cluster() {
    return workload.devices().cluster();
  }

  /** Reads the network and prices its layers. */
  Costed costed() {
    return workload.costed(step.globalBatch());
  }

  CostModel costModel() {
    return StepOptions.costModel(step.costModel());
  }
}
