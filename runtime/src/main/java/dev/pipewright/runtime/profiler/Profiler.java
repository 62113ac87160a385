package dev.pipewright.runtime.profiler;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.MessageOverhead;
import dev.pipewright.execution.ProfilingOutcome;
import dev.pipewright.execution.ProfilingOutcome.BatchFigures;
import dev.pipewright.execution.ProfilingOutcome.LinkFigures;
import dev.pipewright.execution.ProfilingOutcome.PeakRun;
import dev.pipewright.execution.ProfilingOutcome.SumsInTraining;
import dev.pipewright.execution.ProfilingRequest;
import dev.pipewright.execution.ProfilingService;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.model.Chain;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.planner.memory.ProfilingPartitions;
import dev.pipewright.profile.LayerMemory;
import dev.pipewright.runtime.data.DatasetRequirements;
import dev.pipewright.runtime.data.DatasetSpec;
import dev.pipewright.runtime.launch.StealTimeClock;
import dev.pipewright.runtime.net.LossFunction;
import dev.pipewright.runtime.training.RunnableModel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import tools.jackson.databind.json.JsonMapper;

/** The profiling service on libtorch: worker processes measure, this one puts together. */
public final class Profiler implements ProfilingService {
  private static final JsonMapper JSON = new JsonMapper();

  private static final int WARM_UP = 3;
  private static final int STEPS_PER_REPEAT = 3; // which all other times are held against
  private static final int SWEEPS = 2; // over all sizes of batches
  private static final int PAIRS_PER_REPEAT = 8; // of work with and without messages
  private static final int PEAK_STEPS = 4;
  private static final int LINK_TRIES = 3;

  @Override
  public ProfilingOutcome profile(ProfilingRequest request, Consumer<String> progress) {
    LayerGraph graph = RunnableModel.toCompute(request.model(), request.sequence());
    RequestCheck.of(request, graph);
    DatasetSpec.parse(request.data()).open(DatasetRequirements.of(graph, LossFunction.of(graph)));
    List<int[]> partitions = partitions(request, graph);
    StealTimeClock clock = new StealTimeClock();
    WorkerGroups workerGroups = new WorkerGroups(request.threads());
    List<LayersReport> reports = new ArrayList<>();
    progress.accept("layers at batch " + request.batches().get(0));
    workerGroups.run(
        request.workers(),
        LayersTask.class,
        LayersJob.of(request).text(),
        (worker, text) -> {
          reports.add(LayersReport.parse(text));
          if (reports.size() < request.batches().size()) {
            progress.accept("layers at batch " + request.batches().get(reports.size()));
          }
        });
    progress.accept("memory of layers");
    List<List<LayerMemory>> memory = new ArrayList<>();
    workerGroups.runFrugal(
        1,
        NeedsTask.class,
        LayersJob.of(request).text(),
        (worker, text) -> memory.add(NeedsTask.parse(text)));
    List<WholeStep> steps = steps(request, workerGroups, graph, progress);
    MeasuredProfile measured = new MeasuredProfile(request, graph, reports, steps, memory);
    List<LinkFigures> links = new ArrayList<>();
    for (int group : request.groups()) {
      links.addAll(links(request, workerGroups, group, progress));
    }
    Optional<SumsInTraining> sums = Optional.empty();
    Optional<Cluster> cluster = Optional.empty();
    if (!request.groups().isEmpty()) {
      progress.accept("messages that overlap with computing");
      MessageOverhead overhead = overhead(request, workerGroups);
      progress.accept("sums of gradients in training");
      SumsInTraining seen = sums(request, workerGroups, graph);
      sums = Optional.of(seen);
      cluster =
          Optional.of(MeasuredCluster.of(request, measured, reports.get(0), links, overhead, seen));
    }
    return new ProfilingOutcome(
        graph,
        measured.profile(),
        request.optimizer(),
        reports.get(0).overhead(),
        IntStream.range(0, reports.size())
            .mapToObj(i -> batch(measured, reports.get(i), steps.get(i)))
            .toList(),
        links,
        sums,
        cluster,
        peaks(request, workerGroups, partitions, progress),
        clock.stolen());
  }

  private static WholeJob whole(
      ProfilingRequest request, LayerGraph graph, int microBatches, int samples, int steps) {
    List<Integer> all = List.of(Chain.of(graph).size());
    return WholeJob.of(request, all, microBatches, samples, steps);
  }

  /**
   * Whole steps of each size of batch, in turns, so that a disturbance of some seconds does not
   * meet one size alone.
   */
  private static List<WholeStep> steps(
      ProfilingRequest request,
      WorkerGroups workerGroups,
      LayerGraph graph,
      Consumer<String> progress) {
    int sweeps = Math.min(SWEEPS, request.repeats());
    int steps = WARM_UP + Math.ceilDiv(STEPS_PER_REPEAT * request.repeats(), sweeps);
    List<StepAnswers> answers = new ArrayList<>();
    for (int sweep = 0; sweep < sweeps; sweep++) {
      for (int i = 0; i < request.batches().size(); i++) {
        int samples = request.batches().get(i);
        progress.accept("a whole step at batch " + samples);
        if (sweep == 0) {
          answers.add(new StepAnswers(new ArrayList<>(), new ArrayList<>()));
        }
        WholeJob job = whole(request, graph, MeasuredProfile.MICRO_BATCHES, samples, steps);
        measure(request, workerGroups, job, answers.get(i).whole());
        measure(request, workerGroups, job.split(), answers.get(i).inTwoParts());
      }
    }
    return answers.stream().map(StepAnswers::step).toList();
  }

  /** What steps of a size of batch took, from each sweep over all sizes. */
  private record StepAnswers(List<String> whole, List<String> inTwoParts) {
    private WholeStep step() {
      return WholeStep.parse(whole, inTwoParts, WARM_UP, MeasuredProfile.MICRO_BATCHES);
    }
  }

  private static void measure(
      ProfilingRequest request, WorkerGroups workerGroups, WholeJob job, List<String> answers) {
    workerGroups.run(
        request.workers(), WholeTask.class, job.text(), (worker, text) -> answers.add(text));
  }

  /** The overhead of messages between two workers. */
  private static MessageOverhead overhead(ProfilingRequest request, WorkerGroups workerGroups) {
    List<String> events = new ArrayList<>();
    workerGroups.run(
        2,
        OverheadTask.class,
        Integer.toString(PAIRS_PER_REPEAT * request.repeats()),
        (worker, text) -> events.add(text));
    return OverheadTask.parse(events);
  }

  /** Sums of the largest group of workers, with the largest batch. */
  private static SumsInTraining sums(
      ProfilingRequest request, WorkerGroups workerGroups, LayerGraph graph) {
    int workers = request.groups().stream().mapToInt(Integer::intValue).max().orElseThrow();
    int samples = request.batches().get(request.batches().size() - 1);
    SumsInTraining[] answer = new SumsInTraining[1];
    workerGroups.run(
        workers,
        ReplicasTask.class,
        whole(request, graph, 1, samples, request.repeats()).text(),
        (worker, text) -> answer[0] = ReplicasTask.parse(text, workers, samples));
    return answer[0];
  }

  private static BatchFigures batch(MeasuredProfile measured, LayersReport report, WholeStep step) {
    return new BatchFigures(
        report.samples(),
        report.layers(),
        report.readSeconds(),
        report.lossSeconds(),
        report.workers(),
        MeasuredProfile.MICRO_BATCHES,
        step.seconds(),
        step.ops(),
        measured.summedSeconds(report),
        step.peakBytes());
  }

  /** Other programs may disturb a measurement so much that no line fits it: it is repeated. */
  private static List<LinkFigures> links(
      ProfilingRequest request, WorkerGroups workerGroups, int group, Consumer<String> progress) {
    LinkClock clock = new LinkClock(group);
    String job = request.largestMessage() + " " + request.repeats();
    String said = "links between " + group + " workers";
    for (int left = LINK_TRIES - 1; ; left--) {
      progress.accept(said);
      workerGroups.run(group, LinksTask.class, job, clock::add);
      try {
        return clock.figures();
      } catch (BadInputException e) {
        if (left == 0) {
          throw e;
        }
        said = "links once more: " + e.getMessage();
      }
    }
  }

  private static List<PeakRun> peaks(
      ProfilingRequest request,
      WorkerGroups workerGroups,
      List<int[]> partitions,
      Consumer<String> progress) {
    int largest = request.batches().get(request.batches().size() - 1);
    List<PeakRun> runs = new ArrayList<>();
    for (int[] sizes : partitions) {
      progress.accept(
          "peaks of memory, run %d of %d".formatted(runs.size() + 1, partitions.size()));
      List<Integer> layers = Arrays.stream(sizes).boxed().toList();
      WholeJob job = WholeJob.of(request, layers, 2 * sizes.length, largest, PEAK_STEPS);
      Long[] peaks = new Long[sizes.length];
      workerGroups.runFrugal(
          sizes.length,
          WholeTask.class,
          job.text(),
          (worker, text) -> peaks[worker] = JSON.readTree(text).get("peak").asLong());
      runs.add(new PeakRun(layers, List.of(peaks)));
    }
    return runs;
  }

  /** The runs that show peaks; none where they are not requested. */
  private static List<int[]> partitions(ProfilingRequest request, LayerGraph graph) {
    if (request.memoryDevices().isEmpty()) {
      return List.of();
    }
    try {
      return ProfilingPartitions.partitions(
          request.memoryDevices().getAsInt(), Chain.of(graph).size());
    } catch (IllegalArgumentException e) {
      throw new BadInputException("--memory-metrics: " + e.getMessage());
    }
  }
}
