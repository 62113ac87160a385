package dev.pipewright.app.cli.predict;

import dev.pipewright.app.cli.input.AtLeast;
import dev.pipewright.app.cli.input.ModelArgument;
import dev.pipewright.cluster.Cluster;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.machine.MachineSheets;
import dev.pipewright.formats.oracle.PredictedRunsJson.Row;
import dev.pipewright.formats.oracle.StatedSplit;
import dev.pipewright.formats.problem.NamedWorkload;
import dev.pipewright.formats.problem.NetworkNames;
import dev.pipewright.model.transformer.FeedForwardShape.Mixture;
import dev.pipewright.model.transformer.TokenPrediction;
import dev.pipewright.model.transformer.TransformerShape;
import dev.pipewright.predict.pipeline.ScheduledTransformer;
import dev.pipewright.predict.transformer.CalibratedConstants;
import dev.pipewright.predict.transformer.Framework;
import dev.pipewright.predict.transformer.GpuMachine;
import dev.pipewright.predict.transformer.PredictedRun;
import dev.pipewright.predict.transformer.RunChoices;
import dev.pipewright.predict.transformer.StageSplit;
import dev.pipewright.predict.transformer.TrainingLayout;
import dev.pipewright.predict.transformer.TrainingPrecision;
import dev.pipewright.schedule.catalog.ScheduleEntry;
import dev.pipewright.units.NearCounts;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A transformer with a stated layout on machines whose constants are calibrated.
 *
 * @param shape of the network, with the sequences it is trained on
 * @param machine whose data sheet and constants apply
 * @param cluster that the devices are of
 * @param framework the training software
 */
record LayoutRequest(
    ModelArgument arguments,
    DegreeFlags degrees,
    LayoutFlags layout,
    TransformerShape shape,
    GpuMachine machine,
    Cluster cluster,
    Framework framework) {

  /**
   * The request; empty where the network states no transformer's shape or the machine has no sheet.
   */
  static Optional<LayoutRequest> of(
      String model, ModelArgument arguments, DegreeFlags degrees, LayoutFlags layout) {
    Cluster cluster = arguments.cluster(Optional.empty());
    OptionalInt tokens = AtLeast.optional("--sequence", arguments.sequence);
    MachineSheets sheets = MachineSheets.read();
    Optional<GpuMachine> machine = sheets.of(cluster);
    return NetworkNames.transformer(model, Optional.ofNullable(arguments.modelFormat), tokens)
        .filter(shape -> machine.isPresent())
        .map(shape ->
            new LayoutRequest(
                arguments,
                degrees,
                layout,
                shape,
                reserved(machine.orElseThrow(), cluster, arguments),
                cluster,
                layout.framework().orElse(sheets.usualFramework(cluster))));
  }

  /** With what the user says that plans leave free. */
  private static GpuMachine reserved(GpuMachine machine, Cluster cluster, ModelArgument arguments) {
    if (arguments.memoryReserve == null) {
      return machine;
    }
    double free = machine.memoryBytes() - cluster.device(0).memory().value();
    return machine.withOutsideTensors(free);
  }

  /** Why a flag of layouts cannot be obeyed for this network or this machine. */
  static BadInputException unknown(String flag, String model, ModelArgument arguments) {
    Cluster cluster = arguments.cluster(Optional.empty());
    MachineSheets sheets = MachineSheets.read();
    return sheets.of(cluster).isEmpty()
        ? new BadInputException(
            "--cluster: %s has no calibrated constants, which %s needs; take devices of one kind, like %s"
                .formatted(
                    cluster.device(0).name(),
                    flag,
                    String.join(", ", sheets.names().subList(1, 4))))
        : new BadInputException(
            "%s: is no transformer described by its shape, which %s needs; leave %s out"
                .formatted(model, flag, flag));
  }

  /**
   * A prediction for each number of devices.
   *
   * @throws BadInputException where the layout does not go with the network or the devices
   */
  List<Row> rows(ScaleFlags scale, CalibratedConstants constants) {
    checkOptimizer();
    List<Row> rows = new ArrayList<>();
    Optional<ScheduleEntry> schedule = degrees.layoutSchedule();
    for (int devices : scale.counts(cluster, devicesOfLayout())) {
      RunChoices choices = checked(() -> choices(devices, scale.globalBatch(devices), schedule));
      PredictedRun predicted =
          checked(() ->
              schedule.isEmpty()
                  ? PredictedRun.of(choices.run(), constants)
                  : ScheduledTransformer.predict(choices.run(), schedule.get(), constants));
      rows.add(new Row(choices, predicted, layout.cost()));
    }
    return rows;
  }

  /** Devices of all replicas, where their number is given. */
  private OptionalInt devicesOfLayout() {
    OptionalInt data = degrees.data();
    return data.isEmpty()
        ? OptionalInt.empty()
        : OptionalInt.of(Math.multiplyExact(data.getAsInt(), devicesOfReplica()));
  }

  private int devicesOfReplica() {
    return Math.multiplyExact(
        Math.multiplyExact(degrees.tensor(), degrees.pipelineStages()), layout.context());
  }

  void checkOptimizer() {
    @Nullable String word = arguments.optimizer;
    if (word != null && !word.equals("adam")) {
      throw new BadInputException(
          "--optimizer: layouts are predicted with adam, not %s; leave it out".formatted(word));
    }
  }

  private RunChoices choices(int devices, int globalBatch, Optional<ScheduleEntry> schedule) {
    int tensor = degrees.tensor();
    int pipeline = degrees.pipelineStages();
    int replica = devicesOfReplica();
    if (devices % replica != 0) {
      throw new BadInputException(
          "--devices: %d is no multiple of tensor=%d × pipeline=%d × context=%d; write %s"
              .formatted(
                  devices,
                  tensor,
                  pipeline,
                  layout.context(),
                  NearCounts.multiples(replica, devices)));
    }
    int data = devices / replica;
    Optional<StageSplit> split =
        layout.pipelineLayout().map(text -> StatedSplit.of(text, pipeline));
    int usual = schedule.map(degrees::chunks).orElseGet(degrees::interleave);
    int interleave = split.map(s -> s.chunks().size() / pipeline).orElse(usual);
    int zero = layout.zero(framework);
    TrainingLayout over =
        new TrainingLayout(
            tensor,
            pipeline,
            data,
            layout.context(),
            interleave,
            layout.expert(),
            expertTensor(data),
            zero,
            data * layout.context(),
            layout.reshard(framework, pipeline),
            layout.sequenceParallel(),
            globalBatch,
            degrees.microBatch());
    if (split.isEmpty()) {
      RunChoices.unequal(over, shape).ifPresent(why -> refuse(why, over));
    }
    return new RunChoices(
        shape,
        machine,
        framework,
        over,
        split,
        precision(),
        layout.fusedAttention(framework),
        degrees.recomputePolicy(),
        schedule.map(ScheduleEntry::name),
        layout.offloadLayers(),
        layout.offloadOptimizer(),
        gradientBytes());
  }

  /** With the layers of each stage that the user could state. */
  private void refuse(String unequal, TrainingLayout over) {
    int predictions = shape.prediction().map(TokenPrediction::depth).orElse(0);
    boolean enough = (long) over.pipeline() * over.interleave() <= shape.layers();
    String example =
        enough
            ? ", like --pipeline-layout '%s'"
                .formatted(
                    StatedSplit.text(
                        StageSplit.even(
                            over.pipeline(),
                            over.interleave(),
                            shape.layers(),
                            predictions,
                            false,
                            false)))
            : "";
    throw new IllegalArgumentException(unequal + example);
  }

  /** As many as divide other matrices, where experts leave so many. */
  private int expertTensor(int data) {
    OptionalInt given = layout.expertTensor();
    boolean experts =
        shape.stack().blocks().stream().anyMatch(b -> b.feedForward() instanceof Mixture);
    int ranks = degrees.tensor() * layout.context() * data;
    int usual =
        experts ? TrainingLayout.usualExpertTensor(degrees.tensor(), layout.expert(), ranks) : 1;
    return given.orElse(usual);
  }

  /** Of an element of gradients, where the user says. */
  OptionalInt gradientBytes() {
    @Nullable String word = arguments.gradients;
    return word == null ? OptionalInt.empty() : OptionalInt.of(NamedWorkload.gradientBytes(word));
  }

  TrainingPrecision precision() {
    @Nullable String word = arguments.precision;
    boolean bfloat = cluster.device(0).computes(dev.pipewright.units.Precision.BF16);
    if (word == null || word.equals("mixed")) {
      return bfloat ? TrainingPrecision.BF16 : TrainingPrecision.FP16;
    }
    return TrainingPrecision.find(word)
        .orElseThrow(() ->
            new BadInputException(
                "--precision: %s has no calibrated constants; take one of %s"
                    .formatted(word, String.join(", ", TrainingPrecision.words()))));
  }

  /** What is made; its complaints become the user's mistakes, under the flag they begin with. */
  static <T> T checked(Supplier<T> made) {
    try {
      return made.get();
    } catch (BadInputException e) {
      throw e;
    } catch (IllegalArgumentException e) {
      throw new BadInputException(flagged(String.valueOf(e.getMessage())));
    }
  }

  /** {@code --global-batch=…} of {@code global_batch=…}. */
  private static String flagged(String message) {
    int equals = message.indexOf('=');
    boolean names = equals > 0 && message.substring(0, equals).matches("[a-z_]+");
    return names
        ? "--" + message.substring(0, equals).replace('_', '-') + message.substring(equals)
        : message;
  }
}
