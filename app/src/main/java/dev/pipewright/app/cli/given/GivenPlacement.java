package dev.pipewright.app.cli.given;

import dev.pipewright.app.cli.input.ModelArgument;
import dev.pipewright.app.cli.input.SimulationOptions;
import dev.pipewright.app.cli.plan.PlanProblems;
import dev.pipewright.formats.PlacementJson;
import dev.pipewright.formats.PlanFigures;
import dev.pipewright.formats.PlanFile;
import dev.pipewright.formats.file.Amounts;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.FileNames;
import dev.pipewright.formats.schedule.FileProblem;
import dev.pipewright.plan.OperatorPlan;
import dev.pipewright.plan.OperatorPlan.Device;
import dev.pipewright.planner.placement.OperatorGraph;
import dev.pipewright.planner.placement.OperatorGraph.Devices;
import dev.pipewright.planner.placement.OperatorPlacement;
import dev.pipewright.planner.placement.PlacementCheck;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A placement of operators with its workload.
 *
 * @param model the workload's file, as the plan or the user names it
 * @param elsewhere whether it is looked at for another workload than its file says
 */
public record GivenPlacement(
    Path path, PlanFile<OperatorPlan> file, String model, OperatorGraph graph, boolean elsewhere)
    implements GivenFile {
  static GivenPlacement of(PlanArgument argument, PlanFile<OperatorPlan> file) {
    argument.refuseCostModel("has the times of its workload");
    String model = argument.model(file.madeFor());
    Path workload = FileNames.file("the workload", model);
    if (!Files.exists(workload)) {
      throw new BadInputException(
          "%s: no workload '%s'; give it with --model".formatted(argument.path, model));
    }
    ModelArgument arguments = argument.arguments;
    if (arguments.cluster != null
        || arguments.profileBatch != null
        || arguments.optimizer != null
        || arguments.precision != null
        || arguments.modelFormat != null) {
      throw new BadInputException(
          "%s: places operators, whose workload says all but its memory; give --model or --memory alone"
              .formatted(argument.path));
    }
    OperatorGraph graph = PlacementJson.read(workload);
    if (arguments.memory != null) {
      Devices devices = graph.devices();
      double bytes = (double) Amounts.bytes(arguments.memory).value();
      graph = graph.on(new Devices(devices.accelerators(), devices.processors(), bytes));
    }
    return new GivenPlacement(argument.path, file, model, graph, argument.model != null);
  }

  /** The stage of each operator; −1 for those that have none. */
  int[] stageOf() {
    Map<Long, Integer> places = places();
    int[] stageOf = new int[graph.size()];
    Arrays.fill(stageOf, -1);
    for (int stage = 0; stage < file.plan().devices().size(); stage++) {
      for (long id : file.plan().devices().get(stage).nodes()) {
        Integer place = places.get(id);
        if (place != null) {
          stageOf[place] = stage;
        }
      }
    }
    return stageOf;
  }

  private Map<Long, Integer> places() {
    Map<Long, Integer> places = new HashMap<>();
    for (int i = 0; i < graph.size(); i++) {
      places.put(graph.operator(i).id(), i);
    }
    return places;
  }

  boolean[] processors() {
    boolean[] processors = new boolean[file.plan().devices().size()];
    for (int stage = 0; stage < processors.length; stage++) {
      processors[stage] = file.plan().devices().get(stage).processor();
    }
    return processors;
  }

  @Override
  public Map<String, Object> counted() {
    Map<String, Object> counted = new LinkedHashMap<>();
    counted.put("devices", file.plan().devices().size());
    counted.put(
        "nodes", file.plan().devices().stream().mapToInt(device -> device.nodes().size()).sum());
    counted.put("edges", graph.edges().size());
    return counted;
  }

  @Override
  public List<FileProblem> problems() {
    List<FileProblem> problems = coverage();
    if (problems.isEmpty()) {
      int[] stageOf = stageOf();
      for (PlacementCheck.Problem problem :
          PlacementCheck.problems(graph, stageOf, processors(), file.plan().contiguous())) {
        problems.add(
            problem.device() < 0
                ? FileProblem.of(path, problem.what(), problem.message())
                : FileProblem.ofStage(path, problem.device(), problem.what(), problem.message()));
      }
      problems.addAll(elsewhere ? List.of() : figures(stageOf));
    }
    return problems;
  }

  /** Nodes that the workload has and the placement has not, and the other way round. */
  private List<FileProblem> coverage() {
    List<FileProblem> problems = new ArrayList<>();
    Map<Long, Integer> places = places();
    for (int stage = 0; stage < file.plan().devices().size(); stage++) {
      for (long id : file.plan().devices().get(stage).nodes()) {
        if (!places.containsKey(id)) {
          problems.add(
              FileProblem.ofStage(
                  path,
                  stage,
                  "foreign",
                  "stages[%d] has node %d, which %s has not; remove it, or name its workload with --model"
                      .formatted(stage, id, model)));
        }
      }
    }
    int[] stageOf = stageOf();
    for (int i = 0; i < stageOf.length; i++) {
      if (stageOf[i] < 0) {
        problems.add(
            FileProblem.of(
                path,
                "missing",
                "no device has node %d of %s; put it on one"
                    .formatted(graph.operator(i).id(), model)));
      }
    }
    return problems;
  }

  private List<FileProblem> figures(int[] stageOf) {
    PlanFigures figures = file.figures();
    OperatorPlacement placement = OperatorPlacement.of(graph, stageOf, processors());
    int next = 0;
    for (int stage = 0; stage < file.plan().devices().size(); stage++) {
      String place = "stages[" + stage + "].";
      Device device = file.plan().devices().get(stage);
      if (!device.nodes().isEmpty()) { // the placement leaves out those that hold nothing
        OperatorPlacement.Device counted = placement.devices().get(next++);
        figures.compare(place + "load", counted.load());
        figures.compare(place + "compute", counted.compute());
        figures.compare(place + "transfers", counted.transfers());
        figures.compare(place + "memory_bytes", counted.bytes());
      }
    }
    figures.compare("objective.max_load.value", placement.maxLoad());
    return figures.problems();
  }

  @Override
  public List<String> files() {
    throw new BadInputException(
        "--out: writes the pictures of a training step, and %s places operators; leave it out, or give --json"
            .formatted(path));
  }

  @Override
  public SimulationResult simulate(SimulationOptions options) {
    options.refuseAllButSlow("places operators, whose transfers their device pays for", path);
    PlanProblems.refuse(problems());
    return PlacementSimulation.of(this, options.slowness(file.plan().devices().size()));
  }
}
