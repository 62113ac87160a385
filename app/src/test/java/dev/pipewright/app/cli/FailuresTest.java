package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.app.cli.terminal.Failures;
import dev.pipewright.execution.NotEnoughMemoryException;
import dev.pipewright.execution.TrainingInterruptedException;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;

class FailuresTest {
  private final StringWriter said = new StringWriter();

  private int status(Throwable failure) {
    return Failures.report(failure, new PrintWriter(said, true), false);
  }

  @Test
  void whatDoesNotFitIsAnHonestNo() {
    assertEquals(
        1, status(new NotEnoughMemoryException("the worker will need 298 GiB; take less")));
    assertEquals("pipewright: the worker will need 298 GiB; take less", said.toString().strip());
  }

  @Test
  void whatWasInterruptedIsNeitherDoneNorAMistake() {
    String sentence = "interrupted after 2 of 5 steps; the last checkpoint is run/checkpoints/2";
    assertEquals(130, status(new TrainingInterruptedException(sentence, new Exception())));
    assertEquals("pipewright: " + sentence, said.toString().strip());
  }
}
