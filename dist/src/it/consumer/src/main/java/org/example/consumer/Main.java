package org.example.consumer;

import dev.pipewright.api.Planned;
import dev.pipewright.api.Planners;
import dev.pipewright.api.Problem;

/** Plans a network and prints the seconds of a step. */
public final class Main {
  private Main() {}

  public static void main(String[] args) {
    Planned planned = Planners.plan(Problem.of("gpt-2-xl", "dgx-v100:1x4", 32));
    System.out.println(planned.step().seconds());
  }
}
