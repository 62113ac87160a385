package dev.pipewright.app.cli;

import dev.pipewright.cost.Assessment;
import dev.pipewright.formats.JsonText;
import dev.pipewright.formats.ScheduleCsv;
import dev.pipewright.schedule.Validator;
import dev.pipewright.units.Units;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@Command(
    name = "check",
    description =
        "Says whether a plan or a schedule of PyTorch can run: all work once, no deadlock, a plan's"
            + " memory on every device.",
    footer = {
      "",
      "Examples:",
      "  pipewright check result/plan.json",
      "  pipewright check schedule.csv"
    })
final class CheckCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Mixin private PlanArgument argument = new PlanArgument();

  @Option(names = "--json", description = "Print one JSON object and nothing else.")
  private boolean json;

  CheckCommand() {
    this.spec = CommandSpec.create();
  }

  @Override
  public Integer call() {
    boolean schedule = isSchedule();
    List<String> problems = schedule ? ScheduleCsv.read(argument.path).problems() : plan();
    report(problems, schedule ? "" : argument.path + ": "); // a schedule's have their places
    return problems.isEmpty() ? 0 : Failures.NO;
  }

  private boolean isSchedule() {
    return argument.path.toString().endsWith(".csv") || ScheduleCsv.isSchedule(argument.path);
  }

  private List<String> plan() {
    PlanArgument.Loaded loaded = argument.load();
    List<String> problems = new ArrayList<>();
    for (Validator.Problem problem : Validator.check(loaded.file().plan().schedule())) {
      problems.add(problem.toString());
    }
    List<String> misfits = PlanFit.problems(loaded.file().plan(), loaded.costed());
    problems.addAll(misfits);
    if (misfits.isEmpty()) {
      memory(loaded, problems);
    }
    return problems;
  }

  private static void memory(PlanArgument.Loaded loaded, List<String> problems) {
    try {
      Assessment assessment =
          loaded.costModel().oracle(loaded.costed().costs()).assess(loaded.file().plan());
      for (int stage = 0; stage < assessment.stages().size(); stage++) {
        var memory = assessment.stages().get(stage).memory();
        if (!memory.fits()) {
          problems.add(
              "stage "
                  + stage
                  + " needs "
                  + Units.binary(memory.peakBytes(), "B")
                  + " on a device of "
                  + memory.capacity());
        }
      }
    } catch (IllegalArgumentException e) {
      problems.add(e.getMessage());
    }
  }

  private void report(List<String> problems, String place) {
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      Map<String, Object> object = new LinkedHashMap<>();
      object.put("valid", problems.isEmpty());
      object.put("problems", problems);
      out.print(JsonText.of(object));
    } else if (problems.isEmpty()) {
      out.println(argument.path + ": can run");
    } else {
      for (String problem : problems) {
        out.println(place + problem);
      }
    }
  }
}
