package dev.pipewright.app.cli.train;

import dev.pipewright.app.cli.terminal.Screen;
import dev.pipewright.app.cli.terminal.Terminal;
import dev.pipewright.app.report.text.ProgressLine;
import dev.pipewright.execution.HeldOutResult;
import dev.pipewright.execution.LossWatch;
import dev.pipewright.execution.StepResult;
import dev.pipewright.execution.TrainingListener;
import java.io.PrintWriter;
import java.util.OptionalDouble;
import java.util.function.BooleanSupplier;

/** Shows how training goes: a line that changes on a terminal, and else one now and then. */
public final class TrainProgress implements TrainingListener {
  private static final int LINES = 50; // of a file, at most

  private final PrintWriter to;
  private final boolean lines;
  private final long steps;
  private final LossWatch watch;
  private final BooleanSupplier stopping;
  private final boolean terminal;
  private OptionalDouble accuracy = OptionalDouble.empty();
  private boolean said;

  /**
   * @param lines whether to print any where there is no terminal
   */
  TrainProgress(
      PrintWriter to, boolean lines, long steps, LossWatch watch, BooleanSupplier stopping) {
    this.to = to;
    this.terminal = Terminal.showsProgress() && to instanceof Screen;
    this.lines = lines;
    this.steps = steps;
    this.watch = watch;
    this.stopping = stopping;
  }

  @Override
  public void waiting(int workers, int port, String token) {
    to.printf(
        "missing workers of other machines: %d; there: %s=%s pipewright join THIS-HOST:%d --slots N%n",
        workers, JoinCommand.VARIABLE, token, port);
    to.flush();
  }

  @Override
  public void stepped(StepResult step) {
    boolean last = step.step() + 1 == steps;
    long every = (steps + LINES - 1) / LINES;
    if (terminal || (lines && (last || step.step() % every == 0))) {
      boolean colours = terminal && Terminal.colours();
      String text =
          new ProgressLine(Terminal.columns(), terminal, colours).of(step, steps, accuracy);
      if (terminal && !last && to instanceof Screen screen) {
        screen.status(text);
        return;
      }
      to.println(text);
      to.flush();
    }
    watch
        .stepped(step)
        .ifPresent(remark -> {
          to.print((terminal && !last ? "\n" : "") + "warning: " + remark + "\n");
          to.flush();
        });
  }

  @Override
  public void evaluated(HeldOutResult result) {
    if (Double.isFinite(result.correct())) {
      accuracy = OptionalDouble.of(result.correct());
    }
  }

  @Override
  public boolean handlesInterrupts() {
    return true;
  }

  @Override
  public boolean stopping() {
    boolean stop = stopping.getAsBoolean();
    if (stop && !said) {
      said = true;
      to.println("ending after this step, at the latest in 5 s");
      to.flush();
    }
    return stop;
  }
}
