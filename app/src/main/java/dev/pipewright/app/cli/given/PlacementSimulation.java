package dev.pipewright.app.cli.given;

import dev.pipewright.app.cli.terminal.Terminal;
import dev.pipewright.app.report.plan.PlanSheet;
import dev.pipewright.app.report.plan.RoundsSheet;
import dev.pipewright.app.report.text.Figure;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.json.JsonText;
import dev.pipewright.formats.problem.SizeLimits;
import dev.pipewright.formats.schedule.FileProblem;
import dev.pipewright.planner.placement.OperatorGraph;
import dev.pipewright.planner.placement.OperatorGraph.Operator;
import dev.pipewright.planner.placement.OperatorPlacement;
import dev.pipewright.sim.repeated.OperatorTasks;
import dev.pipewright.sim.repeated.RepeatedRun;
import dev.pipewright.sim.repeated.Task;
import dev.pipewright.units.Units;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A placement that works on sample after sample, in the time unit of its workload.
 *
 * @param load of the busiest device, as simulated: time between two samples
 * @param samples that are under way at once
 * @param rounds over which the load is the mean
 * @param loads of each device
 */
public record PlacementSimulation(
    GivenPlacement given,
    OperatorPlacement placement,
    double load,
    int samples,
    int rounds,
    double[] loads)
    implements SimulationResult {
  private static final int MEASURED = 24;

  static PlacementSimulation of(GivenPlacement given, double[] slowness) {
    OperatorGraph graph = given.graph();
    int[] deviceOf = given.stageOf();
    boolean[] processors = given.processors();
    boolean[] pays = new boolean[processors.length];
    double[] seconds = new double[graph.size()];
    double[] transfers = new double[graph.size()];
    for (int i = 0; i < seconds.length; i++) {
      Operator operator = graph.operator(i);
      int device = deviceOf[i];
      double time = processors[device] ? operator.processorTime() : operator.acceleratorTime();
      seconds[i] = time * slowness[device];
      transfers[i] = operator.transferTime();
    }
    for (int device = 0; device < pays.length; device++) {
      pays[device] = !processors[device];
    }
    int[][] edges =
        graph.edges().stream()
            .map(edge -> new int[] {edge.from(), edge.to()})
            .toArray(int[][]::new);
    List<Task> tasks = OperatorTasks.of(deviceOf, edges, seconds, transfers, pays);
    int samples = RepeatedRun.rounds(tasks, 1);
    int rounds = 2 * samples + MEASURED;
    if ((long) rounds * tasks.size() > SizeLimits.PASSES) {
      throw new BadInputException(
          "%s: %d parts of samples over %d rounds are more than can be simulated; take fewer devices"
              .formatted(given.path(), tasks.size(), rounds));
    }
    RepeatedRun run = RepeatedRun.of(tasks, processors.length, 1, 0, rounds);
    double[] loads = new double[processors.length];
    tasks.forEach(task -> loads[task.rank()] += task.seconds());
    return new PlacementSimulation(
        given,
        OperatorPlacement.of(graph, deviceOf, processors),
        run.period(MEASURED),
        samples,
        MEASURED,
        loads);
  }

  @Override
  public Optional<String> doesNotFit() {
    return given.problems().stream()
        .filter(problem -> problem.what().equals("memory"))
        .map(FileProblem::message)
        .findFirst();
  }

  @Override
  public String text() {
    List<Figure> lines = new ArrayList<>();
    lines.add(
        PlanSheet.fact(
            "max load",
            "%s simulated, mean of %d samples in the steady state"
                .formatted(Units.significant(load), rounds)));
    lines.add(
        PlanSheet.fact(
            "the model", Units.significant(placement.maxLoad()) + ", the load of the busiest"));
    lines.add(
        PlanSheet.fact(
            "under way",
            samples + " samples at once, whose activations the workload's sizes do not count"));
    return RoundsSheet.of(
            given.model(),
            "a pipeline of %d devices, each working on sample after sample; an accelerator computes, sends and receives one after the other; times in the workload's unit"
                .formatted(given.file().plan().devices().size()),
            lines,
            "load",
            rows())
        .text(Terminal.columns(), Terminal.colours());
  }

  private List<RoundsSheet.Row> rows() {
    List<RoundsSheet.Row> rows = new ArrayList<>();
    double[] bytes = bytes();
    for (int device = 0; device < loads.length; device++) {
      boolean processor = given.file().plan().devices().get(device).processor();
      int nodes = given.file().plan().devices().get(device).nodes().size();
      rows.add(
          new RoundsSheet.Row(
              device,
              "%s, %d node%s".formatted(processor ? "cpu" : "fpga", nodes, nodes == 1 ? "" : "s"),
              Units.significant(loads[device]),
              load == 0 ? 0 : loads[device] / load,
              processor
                  ? Units.binary(bytes[device], "B")
                  : "%s of %s"
                      .formatted(
                          Units.binary(bytes[device], "B"),
                          Units.binary(given.graph().devices().acceleratorBytes(), "B"))));
    }
    return rows;
  }

  private double[] bytes() {
    double[] bytes = new double[loads.length];
    int[] stageOf = given.stageOf();
    for (int i = 0; i < stageOf.length; i++) {
      bytes[stageOf[i]] += given.graph().operator(i).bytes();
    }
    return bytes;
  }

  @Override
  public String json() {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("planner", "given");
    object.put("model", given.model());
    Map<String, Object> objective = new LinkedHashMap<>();
    objective.put("name", "max_load");
    objective.put("value", load);
    object.put("objective", objective);
    object.put("expected", placement.maxLoad());
    Map<String, Object> simulated = new LinkedHashMap<>();
    simulated.put("max_load", load);
    simulated.put("samples_under_way", samples);
    simulated.put("rounds", rounds);
    simulated.put("loads", Arrays.stream(loads).boxed().toList());
    simulated.put("peak_bytes", Arrays.stream(bytes()).boxed().toList());
    object.put("simulated", simulated);
    return JsonText.of(object);
  }
}
