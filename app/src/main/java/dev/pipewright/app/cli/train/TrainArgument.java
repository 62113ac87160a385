package dev.pipewright.app.cli.train;

import dev.pipewright.app.cli.input.AtLeast;
import dev.pipewright.app.cli.input.ParallelismFlag;
import dev.pipewright.app.cli.schedule.ScheduleNames;
import dev.pipewright.app.cli.schedule.ScheduleRequest;
import dev.pipewright.execution.UpdateRule;
import dev.pipewright.formats.MadeFor;
import dev.pipewright.formats.PlanJson;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.FileNames;
import dev.pipewright.formats.problem.NetworkNames;
import dev.pipewright.formats.problem.SizeLimits;
import dev.pipewright.model.Chain;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Training;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.plan.AsyncPipeline;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.schedule.Schedule;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** What is to be trained, and by whom: a plan, or a network with flags that cut it. */
public final class TrainArgument {
  @Parameters(
      paramLabel = "PLAN.json|MODEL",
      description = "A plan, or a network: a file or a name that `models` lists.")
  String what = "";

  @Option(
      names = "--model",
      paramLabel = "MODEL",
      description = "The plan's network, where it does not say.")
  @Nullable String model;

  @Option(
      names = "--global-batch",
      paramLabel = "N",
      description = "Samples of a step. Default: those of the plan; required for a network.")
  @Nullable Integer batch;

  @Option(
      names = "--sequence",
      paramLabel = "N",
      description =
          "Tokens of a transformer's sample. Default: those of the plan, or the network's own.")
  @Nullable Integer sequence;

  @Option(
      names = "--stages",
      paramLabel = "P",
      description = "Ranks of the pipeline. Default: 1, or those of the plan.")
  @Nullable Integer stages;

  @Option(
      names = "--schedule",
      paramLabel = "NAME",
      description =
          "Any synchronous one of `schedule`, or one of pipedream, pipedream-2bw, cyclic-v1 and"
              + " cyclic-v2 (with the forms -single, -pyramid, -pipeline and -zero), whose steps"
              + " overlap. Default: 1f1b, or that of the plan.")
  @Nullable String schedule;

  @Option(
      names = "--chunks",
      paramLabel = "V",
      description = "Stages on each rank, where the schedule allows a choice.")
  @Nullable Integer chunks;

  @Option(
      names = "--micro-batches",
      paramLabel = "M",
      description =
          "Micro-batches of a step. Default: twice the number of ranks, 1 for one rank; the"
              + " number of ranks where steps overlap.")
  @Nullable Integer microBatches;

  @Option(
      names = "--replicas",
      paramLabel = "R",
      description =
          "Data-parallel workers of each rank, which share every micro-batch; with pipedream"
              + " they take micro-batches in turn. Default: 1.")
  @Nullable Integer replicas;

  @Option(
      names = "--vertical-sync",
      description =
          "With pipedream: all stages compute a micro-batch with the weight version that the"
              + " first stage used.")
  boolean vertical;

  @Option(
      names = "--tensor-parallel",
      paramLabel = "[KIND:]P",
      description =
          "Split each layer of a stage over P workers. A number alone divides transformer blocks by"
              + " attention heads and MLP features, as Megatron-LM does, and other networks by"
              + " filters. KIND is tensor, sequence (tensor, with normalizations split along the"
              + " sequence; sequence:CxP has C context-parallel ranks of P workers), context (the tokens"
              + " of sequences, for which attention gathers keys and values), expert (context, with"
              + " the experts of mixtures split; expert:Px1 splits samples instead of tokens, and"
              + " expert:SxP has S groups of P workers, which split all else as sequence:P does),"
              + " filter or channel. One for all stages, or one for each, separated by"
              + " commas, like 2,1. Default: 1.")
  @Nullable String tensorParallel;

  @Option(
      names = "--spatial-parallel",
      paramLabel = "P",
      description =
          "Split the feature maps of each layer of a stage over P workers, with halo exchange; 2x2"
              + " for parts along each axis. One for all stages, or one for each. Default: 1.")
  @Nullable String spatialParallel;

  /** The former name of both. */
  @Option(names = "--split", paramLabel = "KIND:P", hidden = true)
  @Nullable String split;

  @Option(
      names = "--reduce",
      paramLabel = "HOW",
      description =
          "All-reduce of gradients over tensor-parallel or spatial-parallel and data-parallel"
              + " workers: hierarchical, leaders or flat. Default: hierarchical.")
  @Nullable String reduce;

  @Mixin final ZeroFlag zero = new ZeroFlag();

  /**
   * A network and who computes what of it.
   *
   * @param sequence tokens of a sample, where they are chosen
   * @param plan where it comes from
   * @param zero that the user asks for; empty for the plan's own
   */
  record Chosen(
      String model,
      OptionalInt sequence,
      Assignment assignment,
      Optional<TrainingStages> plan,
      Optional<ZeroStage> zero) {
    Chosen(
        String model, OptionalInt sequence, Assignment assignment, Optional<TrainingStages> plan) {
      this(model, sequence, assignment, plan, Optional.empty());
    }

    /** The same whose replicas shard what the user asks for, if anything. */
    Chosen sharded(Optional<ZeroStage> asked) {
      Assignment sharded = asked.map(assignment::sharded).orElse(assignment);
      return new Chosen(model, sequence, sharded, plan, asked);
    }

    /** With which the plan was made, or the network's own. */
    Optimizer usualOptimizer() {
      return plan.flatMap(file -> file.madeFor().training())
          .map(Training::optimizer)
          .orElseGet(() -> TrainedNetwork.usualOptimizer(model));
    }

    /** By which it learns where nothing else is asked for. */
    UpdateRule usualRule(Optimizer optimizer) {
      return UpdateRule.usual(optimizer, TrainedNetwork.graph(model, sequence));
    }
  }

  Chosen chosen() {
    Chosen usual =
        isPlan() ? ofPlan(TrainingStages.of(FileNames.file("the plan", what))) : ofModel(what);
    Chosen chosen = usual.sharded(zero.asked());
    chosen
        .assignment()
        .shardingRefusal()
        .ifPresent(why -> {
          throw new BadInputException("--zero: " + why);
        });
    return chosen;
  }

  /** A file that begins like an object and holds stages is a plan; other files are networks. */
  private boolean isPlan() {
    return what.endsWith(".json") && PlanJson.isPlan(FileNames.file("the plan", what));
  }

  private Chosen ofPlan(TrainingStages file) {
    refuse("--stages", stages);
    refuse("--replicas", replicas);
    Arrays.stream(ParallelismFlag.values()).forEach(flag -> refuse(flag.option(), value(flag)));
    refuse("--reduce", reduce);
    refuse("--micro-batches", microBatches);
    refuse("--global-batch", batch);
    refuse("--chunks", chunks);
    refuse("--schedule", schedule);
    refuse("--vertical-sync", vertical ? true : null);
    String network =
        Optional.ofNullable(model)
            .or(file.madeFor()::model)
            .orElseThrow(
                () -> new BadInputException(what + ": does not say its model; add --model"));
    OptionalInt tokens = sequence == null ? lengthOf(file.madeFor(), network) : sequence();
    LayerGraph graph = TrainedNetwork.graph(network, tokens);
    int layers = Chain.of(graph).size();
    if (layers != file.layers()) {
      throw new BadInputException(
          "%s: covers %d layers, but %s has %d; give the plan of this network"
              .formatted(what, file.layers(), network, layers));
    }
    return new Chosen(network, tokens, file.assignment(graph), Optional.of(file));
  }

  /** That of the plan, but of networks whose layers have a length of their own. */
  private static OptionalInt lengthOf(MadeFor madeFor, String network) {
    return madeFor.sequence().isPresent()
            && NetworkNames.transformer(network, Optional.empty(), OptionalInt.empty()).isPresent()
        ? madeFor.sequence()
        : OptionalInt.empty();
  }

  private OptionalInt sequence() {
    if (sequence == null) {
      return OptionalInt.empty();
    }
    SizeLimits.tokens("--sequence", sequence);
    return OptionalInt.of(sequence);
  }

  private void refuse(String flag, @Nullable Object value) {
    if (value != null) {
      throw new BadInputException(
          flag + ": " + what + " is a plan and says that itself; leave it out");
    }
  }

  private Chosen ofModel(String network) {
    if (batch != null) {
      SizeLimits.samples("--global-batch", batch);
    }
    LayerGraph graph = TrainedNetwork.graph(network, sequence());
    int ranks = AtLeast.few("--stages", stages, 1);
    int each = AtLeast.few("--replicas", replicas, 1);
    String name = schedule == null ? "1f1b" : schedule;
    ScheduleNames.Named named = ScheduleNames.find(name);
    Optional<AsyncPipeline> asyncPipeline =
        new AsyncPipelineFlags(name, ranks, microBatches, each, vertical).asyncPipeline();
    if (asyncPipeline.isPresent()) {
      named.chunks(name, chunks == null ? OptionalInt.empty() : OptionalInt.of(chunks));
      return asynchronous(network, graph, asyncPipeline.get(), each);
    }
    int parts = named.chunks(name, chunks == null ? OptionalInt.empty() : OptionalInt.of(chunks));
    int count = AtLeast.few("--micro-batches", microBatches, ranks == 1 ? 1 : 2 * ranks);
    if ((double) ranks * parts * count > SizeLimits.PASSES) {
      throw new BadInputException(
          "--micro-batches: %d stages × %d chunks × %d micro-batches are more than can be scheduled; take at most %d in all"
              .formatted(ranks, parts, count, SizeLimits.PASSES));
    }
    if ((long) ranks * each > SizeLimits.DEVICES) {
      throw new BadInputException(
          "--replicas: %d stages × %d replicas are more workers than can be started; take at most %d"
              .formatted(ranks, each, SizeLimits.DEVICES));
    }
    Schedule made = named.schedule(name, new ScheduleRequest(ranks, count, parts, TIMES, NO_CAP));
    if (made.exchanging()) {
      throw new BadInputException(
          "--schedule: " + name + " is no pipeline that ends with each step; take another");
    }
    int samples = batch(made.microBatches() * made.placement().chains());
    List<StageLayers> cut = split(graph, EvenStages.of(graph, made.placement().depth()));
    List<Integer> workers = new ArrayList<>(Collections.nCopies(made.ranks(), each));
    for (int stage = 0; stage < made.placement().stages(); stage++) {
      int members = cut.get(stage % cut.size()).split().parts();
      long of = (long) each * members;
      if (of > Integer.MAX_VALUE) {
        throw new BadInputException(
            "--replicas: %d times %d parts are too many; take fewer".formatted(each, members));
      }
      workers.set(made.placement().rankOf(stage), (int) of);
    }
    boolean overlapped = each > 1 || workers.equals(List.of(1));
    Assignment assignment = assignment(made, cut, workers, samples, overlapped);
    return new Chosen(network, sequence(), assignment, Optional.empty());
  }

  /** Workers of a rank share micro-batches where these are several of a step. */
  private Chosen asynchronous(
      String network, LayerGraph graph, AsyncPipeline asyncPipeline, int each) {
    Optional<ParallelismFlag> given = parallelism();
    if (given.isPresent() || reduce != null) {
      throw new BadInputException(
          "%s: layers are not split under %s, which does not flush; leave it out"
              .formatted(
                  given.map(ParallelismFlag::option).orElse("--reduce"), asyncPipeline.name()));
    }
    int samples = batch(asyncPipeline.microBatches());
    List<StageLayers> cut = EvenStages.of(graph, asyncPipeline.stages());
    int ranks = asyncPipeline.schedule(asyncPipeline.round()).ranks();
    int ofRank = asyncPipeline instanceof AsyncPipeline.DoubleBuffered ? each : 1;
    return new Chosen(
        network,
        sequence(),
        Assignment.of(asyncPipeline, cut, Collections.nCopies(ranks, ofRank), samples),
        Optional.empty());
  }

  /** The samples of a step, one or more for each micro-batch. */
  private int batch(int microBatches) {
    if (batch == null) {
      throw new BadInputException("--global-batch is missing; give the samples of a step");
    }
    if (batch < microBatches) {
      throw new BadInputException(
          "--global-batch: %d samples are too few for %d micro-batches; give at least as many"
              .formatted(batch, microBatches));
    }
    return batch;
  }

  private Assignment assignment(
      Schedule made,
      List<StageLayers> cut,
      List<Integer> workers,
      int samples,
      boolean overlapped) {
    try {
      return new Assignment(made, cut, workers, samples, overlapped);
    } catch (IllegalArgumentException e) {
      String option = parallelism().map(ParallelismFlag::option).orElse("--replicas");
      throw new BadInputException(option + ": " + e.getMessage() + "; give one for all stages");
    }
  }

  private List<StageLayers> split(LayerGraph graph, List<StageLayers> cut) {
    Optional<ParallelismFlag> flag = parallelism();
    if (flag.isEmpty()) {
      if (reduce != null) {
        throw new BadInputException(
            "--reduce: no layers are split; leave it out, or add " + ParallelismFlag.names());
      }
      return cut;
    }
    String text = Objects.requireNonNull(value(flag.get()));
    List<Parallelism> each = flag.get().read(graph, text, reduce, cut.size());
    return IntStream.range(0, cut.size()).mapToObj(i -> cut.get(i).with(each.get(i))).toList();
  }

  /** The one option that splits layers; empty where none is given. */
  private Optional<ParallelismFlag> parallelism() {
    List<ParallelismFlag> given =
        Arrays.stream(ParallelismFlag.values()).filter(flag -> value(flag) != null).toList();
    if (given.size() > 1) {
      throw new BadInputException(
          "%s: %s splits the layers already; leave one of them out"
              .formatted(given.get(1).option(), given.get(0).option()));
    }
    return given.stream().findFirst();
  }

  private @Nullable String value(ParallelismFlag flag) {
    return switch (flag) {
      case TENSOR -> tensorParallel;
      case SPATIAL -> spatialParallel;
      case SPLIT -> split;
    };
  }

  private static final ScheduleRequest.Times TIMES = ScheduleRequest.Times.of("1,1,1,0", 1);
  private static final double NO_CAP = Double.POSITIVE_INFINITY;
}
