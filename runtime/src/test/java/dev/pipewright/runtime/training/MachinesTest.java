package dev.pipewright.runtime.training;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.execution.CertificateFiles;
import dev.pipewright.execution.JoinRequest;
import dev.pipewright.execution.JoiningService;
import dev.pipewright.execution.StepResult;
import dev.pipewright.execution.TrainingListener;
import dev.pipewright.execution.TrainingRequest.Machines;
import dev.pipewright.execution.TrainingRequest.Workers;
import dev.pipewright.runtime.launch.Joining;
import dev.pipewright.runtime.wire.TestAuthority;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** This machine plays a second one, which two of the three workers run on. */
class MachinesTest {
  private static final Machines TWO_THERE = new Machines(2, 0, Machines.USUAL_PATIENCE);

  private static Map<String, float[]> expected;

  @TempDir Path folder;

  private final JoiningService joining = new Joining();
  private CompletableFuture<Optional<String>> other = new CompletableFuture<>();

  @BeforeAll
  static void trainOnOneMachine(@TempDir Path here) {
    Runs.hybrid(Workers.PROCESSES, 3, 3).run(here);
    expected = Runs.state(here);
  }

  @Test
  void workersOfAnotherMachineTrainToTheSameBits() {
    trainToTheSameBits(TWO_THERE, Optional.empty());
  }

  @Test
  void withCertificatesTheyTrainToTheSameBits() {
    TestAuthority authority = TestAuthority.in(folder, "authority");
    trainToTheSameBits(
        TWO_THERE.with(authority.certificate("here")), Optional.of(authority.certificate("there")));
  }

  private void trainToTheSameBits(Machines machines, Optional<CertificateFiles> there) {
    Path both = folder.resolve("both");
    Runs runs = Runs.hybrid(Workers.PROCESSES, 3, 3);
    new Trainer().train(runs.request(both, Optional.empty(), machines), joins(there));
    assertEquals(Optional.empty(), other.join());
    Map<String, float[]> found = Runs.state(both);
    assertEquals(expected.keySet(), found.keySet());
    expected.forEach((name, values) -> assertArrayEquals(values, found.get(name), name));
  }

  private TrainingListener joins(Optional<CertificateFiles> certificates) {
    return new TrainingListener() {
      @Override
      public void waiting(int workers, int port, String token) {
        Optional<String> logs = Optional.of(folder.resolve("logs").toString());
        other =
            CompletableFuture.supplyAsync(() ->
                joining.join(
                    JoinRequest.once("localhost", port, token, workers, logs).with(certificates)));
      }

      @Override
      public void stepped(StepResult step) {}
    };
  }
}
