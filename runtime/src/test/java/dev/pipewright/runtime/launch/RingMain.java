package dev.pipewright.runtime.launch;

import dev.pipewright.execution.TrainingRequest.Computing;
import java.nio.file.Path;
import java.util.Optional;

/** A coordinator that can be killed: prints what its two workers report, and how it fails. */
public final class RingMain {
  private RingMain() {}

  /** The job and the folder for logs. */
  public static void main(String[] arguments) throws InterruptedException {
    Launch launch =
        Launch.of(2, RingTask.class.getName(), arguments[0], Optional.of(Path.of(arguments[1])))
            .with(new Launch.Resources(64, Computing.USUAL, true));
    try (Coordinator coordinator = new Coordinator(launch)) {
      coordinator.run((worker, text) -> System.out.println(text));
    } catch (WorkerFailureException e) {
      System.out.println("failure: " + e.getMessage());
    } catch (InterruptedRunException e) {
      System.out.println(e.getMessage());
    }
  }
}
