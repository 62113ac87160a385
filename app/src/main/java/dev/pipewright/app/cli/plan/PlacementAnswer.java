package dev.pipewright.app.cli.plan;

import dev.pipewright.app.cli.terminal.SearchDeadline;
import dev.pipewright.app.cli.terminal.Terminal;
import dev.pipewright.app.report.plan.PlacementText;
import dev.pipewright.formats.PlacementAnswerJson;
import dev.pipewright.formats.PlacementJson;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.FileNames;
import dev.pipewright.formats.file.OutputFolder;
import dev.pipewright.planner.FlagValues;
import dev.pipewright.planner.catalog.OperatorPlanner;
import dev.pipewright.planner.placement.OperatorGraph;
import dev.pipewright.planner.placement.OperatorGraph.Devices;
import dev.pipewright.planner.placement.PlacementRequest;
import dev.pipewright.planner.placement.PlacementResult;
import dev.pipewright.planner.placement.PlacementResult.NoRoom;
import dev.pipewright.planner.placement.PlacementResult.Placed;
import dev.pipewright.planner.placement.PlacementResult.TooBroad;
import dev.pipewright.planner.placement.PlacementResult.Unfinished;
import dev.pipewright.units.Units;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** What {@code plan WORKLOAD.json --planner placement} prints, and how it ends. */
public final class PlacementAnswer implements PlannerAnswer {
  /**
   * What is asked for.
   *
   * @param model the workload's file, as the user named it
   * @param flags that the planner declares for itself
   */
  record Options(String model, FlagValues flags) {
    boolean contiguous() {
      return !PlacementRequest.of(flags, () -> false).apart();
    }
  }

  private final Options options;
  private final OperatorGraph graph;
  private final PlacementResult answer;
  private final double seconds;
  private final boolean ended;

  private PlacementAnswer(
      Options options, OperatorGraph graph, PlacementResult answer, double seconds, boolean ended) {
    this.options = options;
    this.graph = graph;
    this.answer = answer;
    this.seconds = seconds;
    this.ended = ended;
  }

  /** Reads the workload and plans; throws {@link BadInputException} where that cannot be done. */
  static PlacementAnswer of(OperatorPlanner planner, Options options, SearchDeadline patience) {
    Path file = FileNames.file("the workload", options.model());
    if (options.model().isEmpty() || !Files.exists(file)) {
      throw new BadInputException(
          "no workload '%s'; placement takes a file with nodes, edges and maxFPGAs"
              .formatted(options.model()));
    }
    OperatorGraph graph = PlacementJson.read(file);
    long start = System.nanoTime();
    PlacementResult answer = planner.search().plan(graph, options.flags(), patience);
    double seconds = (System.nanoTime() - start) / 1e9;
    if (answer instanceof TooBroad broad) {
      throw new BadInputException(
          "%s: its %d groups of operators can be cut in more than %d ways, too many to search; add --linearize, which cuts them in one order"
              .formatted(options.model(), broad.groups(), broad.mostIdeals()));
    }
    return new PlacementAnswer(options, graph, answer, seconds, patience.ended());
  }

  private Optional<Placed> placed() {
    return answer instanceof Placed found ? Optional.of(found) : Optional.empty();
  }

  @Override
  public String json() {
    return json(options.model());
  }

  private String json(String model) {
    return PlacementAnswerJson.text(graph, placed(), model, options.contiguous(), seconds);
  }

  @Override
  public void write(OutputFolder out) {
    Path workload = FileNames.file("the workload", options.model()).toAbsolutePath().normalize();
    out.write("plan.json", json(workload.toString()));
  }

  @Override
  public void print(PrintWriter out) {
    placed()
        .ifPresent(found ->
            out.print(
                PlacementText.of(graph, found, seconds, Terminal.columns(), Terminal.colours())));
  }

  @Override
  public Optional<String> nothing() {
    return placed().isPresent() ? Optional.empty() : Optional.of(reason());
  }

  @Override
  public List<String> remarks() {
    return placed()
        .filter(found -> ended && !found.proven())
        .map(found ->
            "the search was ended early; the best so far is %s above the lower bound (%s)"
                .formatted(Units.percent(found.gap()), found.bound().why()))
        .map(List::of)
        .orElse(List.of());
  }

  private String reason() {
    Devices devices = graph.devices();
    return switch (answer) {
      case NoRoom no when no.unsupported() >= 0 ->
          "no accelerator can run node %d and maxCPUs is 0; give at least one processor"
              .formatted(graph.operator(no.unsupported()).id());
      case NoRoom no ->
          "%d accelerators with %s each are too few or too small; %s with maxSizePerFPGA of at least %s%s, or with one processor"
              .formatted(
                  devices.accelerators(),
                  Units.binary(devices.acceleratorBytes(), "B"),
                  "it would fit",
                  bytes(no.leastBytes()),
                  no.leastAccelerators().isPresent()
                      ? ", with maxFPGAs of at least " + no.leastAccelerators().getAsInt()
                      : "");
      case Unfinished unfinished ->
          "the time was over before anything was found; give more with --time-limit";
      case TooBroad broad -> "it is too broad; add --linearize";
      case Placed found -> "";
    };
  }

  /** To the byte: it is to be copied into a file. */
  private static String bytes(double bytes) {
    return "%d bytes (%s)".formatted((long) Math.ceil(bytes), Units.binary(bytes, "B"));
  }
}
