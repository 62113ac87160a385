package dev.pipewright.app.cli.plan;

import dev.pipewright.api.PlannedFront;
import dev.pipewright.api.Planners;
import dev.pipewright.api.Problem;
import dev.pipewright.app.cli.input.ModelArgument;
import dev.pipewright.app.cli.terminal.SearchDeadline;
import dev.pipewright.app.cli.terminal.Terminal;
import dev.pipewright.app.report.chart.FrontSvg;
import dev.pipewright.app.report.text.Numbers;
import dev.pipewright.app.report.text.WordTable;
import dev.pipewright.app.report.text.Words;
import dev.pipewright.formats.FrontJson;
import dev.pipewright.formats.MadeFor;
import dev.pipewright.formats.PlanFile;
import dev.pipewright.formats.PlanJson;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.OutputFolder;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.planner.Objective;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.planner.catalog.PlannerEntry;
import dev.pipewright.units.Units;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;

/** Plans between the fastest and the one of least memory, also over parts of the cluster. */
final class FrontAnswer implements PlannerAnswer {
  private static final String FLAG = "--front";
  private static final String PICTURE = "front.svg";
  private static final int MOST_FILES = 999;
  private static final int SHAPE = 34; // columns

  private final PlannedFront found;
  private final MadeFor madeFor;
  private final String title;
  private final boolean ended;

  private FrontAnswer(PlannedFront found, MadeFor madeFor, String title, boolean ended) {
    this.found = found;
    this.madeFor = madeFor;
    this.title = title;
    this.ended = ended;
  }

  /** Plans; throws {@link BadInputException} where the planner cannot be asked so. */
  static FrontAnswer of(
      PlannerEntry entry,
      String model,
      ModelArgument arguments,
      SynchronousFlags synchronous,
      boolean sizes,
      SearchDeadline patience) {
    if (entry.steps().isEmpty() || entry.objective() != Objective.STEP_TIME) {
      throw new BadInputException(
          "%s: the planner %s does not make steps short; take another, like auto"
              .formatted(FLAG, entry.name()));
    }
    if (synchronous.evaluate().isPresent()) {
      throw new BadInputException(
          "%s: --evaluate scores a plan as it is; leave out one of them".formatted(FLAG));
    }
    synchronous.reasons().refuse("leave out " + FLAG);
    Problem problem =
        new Problem(
            arguments.named(model, Optional.empty(), OptionalInt.empty()), synchronous.options());
    PlannedFront found = Planners.front(problem, entry.name(), sizes, patience);
    MadeFor madeFor =
        Answer.Subject.of(
                found.last().costed(),
                arguments.profileBatch(),
                found.last().request().globalBatch())
            .madeFor();
    String title = found.last().costed().model() + " on " + problem.workload().devices().name();
    return new FrontAnswer(found, madeFor, title, patience.ended());
  }

  /** The names of all files that may be written. */
  static List<String> names() {
    List<String> names = new ArrayList<>(List.of("front.json", PICTURE));
    for (int point = 1; point <= MOST_FILES; point++) {
      names.add(name(point));
    }
    return names;
  }

  private static String name(int point) {
    return "plan-%d.json".formatted(point);
  }

  @Override
  public Optional<String> nothing() {
    return found.points().isEmpty() ? found.last().reason() : Optional.empty();
  }

  @Override
  public List<String> remarks() {
    return ended ? List.of("the search was ended early; this is the front so far") : List.of();
  }

  @Override
  public String json() {
    return FrontJson.text(
        madeFor, found.last().planning(), found.points(), found.searches(), found.seconds());
  }

  private static boolean recomputes(PipelinePlan plan) {
    return plan.stages().stream().anyMatch(stage -> stage.recompute() != Recompute.NONE);
  }

  @Override
  public void print(PrintWriter out) {
    out.println(title);
    out.println();
    WordTable table = new WordTable().numbers("plan");
    if (found.byDevices()) {
      table.numbers("devices");
    }
    table.numbers("step", "peak\nmemory").text("kind", "layers × devices", "schedule");
    table.numbers("micro-\nbatches").text("recompute");
    for (int i = 0; i < found.points().size(); i++) {
      Candidate point = found.points().get(i);
      PipelinePlan plan = point.plan();
      List<Object> cells = new ArrayList<>();
      cells.add(i + 1);
      if (found.byDevices()) {
        cells.add(plan.devices());
      }
      cells.add(Units.seconds(point.seconds()));
      cells.add(Numbers.bytes(point.peakBytes()));
      cells.add(point.kind());
      cells.add(Words.shape(plan, SHAPE));
      cells.add(plan.spec().scheduleName());
      cells.add(plan.microBatches() + " × " + plan.microBatch());
      cells.add(recomputes(plan) ? "yes" : "no");
      table.row(cells.toArray());
    }
    out.print(table.in(Terminal.columns(), Terminal.colours()));
    out.println();
    out.print(
        Terminal.sentence(
            "%s of %s in %s: every other plan that was priced takes longer%s or needs more memory."
                .formatted(
                    Words.count(found.points().size(), "plan"),
                    Words.count(found.searches(), "search").replace("searchs", "searches"),
                    Units.seconds(found.seconds()),
                    found.byDevices() ? ", needs more devices" : "")));
  }

  @Override
  public List<String> files() {
    int points = Math.min(MOST_FILES, found.points().size());
    String plans = points == 1 ? name(1) : name(1) + " to " + name(points);
    return List.of("front.json", PICTURE, plans);
  }

  @Override
  public void write(OutputFolder out) {
    out.write("front.json", json());
    out.write(PICTURE, picture());
    int point = 1;
    for (Candidate each : found.points().subList(0, Math.min(MOST_FILES, found.points().size()))) {
      PlanFile<PipelinePlan> file =
          new PlanFile<>(
              each.plan(),
              Answer.anywhere(madeFor),
              Optional.of(found.last().planning().costModel()));
      out.write(name(point++), PlanJson.text(file));
    }
    while (point <= MOST_FILES && out.remove(name(point))) { // of a longer front before
      point++;
    }
  }

  private String picture() {
    Map<Integer, List<FrontSvg.Point>> byDevices = new TreeMap<>();
    int all = found.last().costed().workload().cluster().size();
    for (int i = 0; i < found.points().size(); i++) {
      Candidate each = found.points().get(i);
      byDevices
          .computeIfAbsent(
              found.byDevices() ? each.plan().devices() : all, key -> new ArrayList<>())
          .add(new FrontSvg.Point(each.seconds(), each.peakBytes(), tip(i + 1, each)));
    }
    return FrontSvg.of(
        "Time against memory of the best plans",
        "Both logarithmic, down and left is better; "
            + (found.byDevices()
                ? "steps join plans on as many devices."
                : "steps join the plans of the front."),
        title,
        byDevices.entrySet().stream()
            .map(each -> new FrontSvg.Series(Words.count(each.getKey(), "device"), each.getValue()))
            .toList());
  }

  private static String tip(int number, Candidate each) {
    return "plan %d: %s, %s: %s, %s under %s"
        .formatted(
            number,
            Units.seconds(each.seconds()),
            Numbers.bytes(each.peakBytes()),
            each.kind(),
            Words.shape(each.plan(), SHAPE),
            each.plan().spec().scheduleName());
  }
}
