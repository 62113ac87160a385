package dev.pipewright.app.cli;

import dev.pipewright.formats.BadInputException;
import dev.pipewright.formats.FileProblem;
import dev.pipewright.formats.JitterJson;
import dev.pipewright.plan.Plan;
import dev.pipewright.planner.Evaluation;
import dev.pipewright.planner.Planning;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.schedule.check.Validator;
import dev.pipewright.sim.Conditions.Transfers;
import dev.pipewright.sim.Jitter;
import dev.pipewright.sim.PlanWires;
import dev.pipewright.sim.SimulatedOracle;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@Command(
    name = "simulate",
    description = "Runs a plan's schedule on simulated devices and links.",
    footer = {
      "",
      "Examples:",
      "  pipewright simulate result/plan.json",
      "  pipewright simulate plan.json --model bert-48 --cluster dapple-a --out result"
    })
final class SimulateCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Mixin private PlanArgument argument = new PlanArgument();

  @Mixin private SimulationOptions simulation = new SimulationOptions();

  @Option(
      names = "--out",
      paramLabel = "DIR",
      description = "Write plan.json, report.html, timeline.svg and trace.json.")
  private @Nullable Path out;

  @Option(names = "--json", description = "Print one JSON object and nothing else.")
  private boolean json;

  SimulateCommand() {
    this.spec = CommandSpec.create();
  }

  @Override
  public Integer call() {
    simulation.checkHeededByPlans();
    Optional<AsynchronousArgument> asynchronous = AsynchronousArgument.load(argument);
    if (asynchronous.isPresent()) {
      return simulate(asynchronous.get());
    }
    PlanArgument.Loaded loaded = argument.load();
    for (String problem : PlanFit.problems(loaded.file().plan(), loaded.costed())) {
      throw new BadInputException(argument.path + ": " + problem);
    }
    if (out != null) {
      OutputFolder.of(out, Answer.FILES); // before anything is printed
    }
    var costs = loaded.costed().costs();
    Jitter jitter = simulation.jitter();
    int runs = simulation.runs();
    SimulatedOracle oracle =
        new SimulatedOracle(
            loaded.costModel().oracle(costs),
            simulation.conditions(
                Transfers.QUEUED,
                PlanWires.of(loaded.file().plan(), loaded.costed().workload().cluster())),
            simulation.slowness(loaded.file().plan().stages().size()));
    long start = System.nanoTime();
    Planning planning;
    try {
      planning = Evaluation.of(costs, loaded.file().plan(), loaded.costModel(), oracle);
    } catch (IllegalArgumentException e) {
      throw new BadInputException(refusal(loaded.file().plan(), e));
    }
    double seconds = (System.nanoTime() - start) / 1e9;
    Answer answer =
        new Answer(
            planning,
            loaded.costed(),
            seconds,
            loaded.file().profileBatch(),
            best -> oracle.simulate(best.plan(), best.estimate()),
            jitter == null ? null : jittered(oracle, planning, jitter, runs));
    if (json) {
      spec.commandLine().getOut().print(answer.json());
    } else {
      answer.print(spec.commandLine().getOut());
      answer.printMemory(spec.commandLine().getOut());
    }
    if (out != null) {
      answer.write(out);
      spec.commandLine()
          .getErr()
          .println("wrote " + String.join(", ", Answer.FILES) + " to " + out);
    }
    Optional<String> tooLarge = answer.doesNotFit();
    tooLarge.ifPresent(
        reason -> spec.commandLine().getErr().println("pipewright: does not fit: " + reason));
    return tooLarge.isPresent() ? Failures.NO : 0;
  }

  private int simulate(AsynchronousArgument loaded) {
    if (out != null) {
      throw new BadInputException(
          "--out: writes the pictures of a training step, and %s never flushes; leave it out, or give --json"
              .formatted(argument.path));
    }
    AsynchronousSimulation run = AsynchronousSimulation.of(argument.path, loaded, simulation);
    spec.commandLine().getOut().print(json ? run.json() : run.text());
    Optional<String> tooLarge = run.doesNotFit();
    tooLarge.ifPresent(
        reason -> spec.commandLine().getErr().println("pipewright: does not fit: " + reason));
    return tooLarge.isPresent() ? Failures.NO : 0;
  }

  /** What keeps a plan from running: where its schedule does, as {@code check} says it. */
  private String refusal(Plan plan, IllegalArgumentException failure) {
    return Validator.check(plan.schedule(), 1).stream()
        .map(problem -> FileProblem.ofPlan(argument.path, problem).toString())
        .findFirst()
        .orElse(argument.path + ": " + failure.getMessage());
  }

  private static JitterJson jittered(
      SimulatedOracle oracle, Planning planning, Jitter jitter, int runs) {
    Candidate best = planning.best().orElseThrow();
    return new JitterJson(jitter, oracle.simulate(best.plan(), best.estimate(), jitter, runs));
  }
}
