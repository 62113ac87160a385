package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

/** What is refused before any file is read; the runtime's tests are about the files. */
class CheckpointCommandTest {
  @Test
  void aMergedFileHasItsOwnEnding() {
    assertEquals(
        "--out: net.pt is the name of no file of safetensors; give FILE.safetensors",
        Cli.run("checkpoint", "merge", "run", "--out", "net.pt").refusal(2));
  }

  @Test
  void aCheckpointSaysItsNetworkAndAFileDoesNot() {
    assertEquals(
        "--model: a checkpoint says its network; leave it out",
        Cli.run("checkpoint", "merge", "run", "--out", "a.safetensors", "--model", "mlp-8x1024")
            .refusal(2));
    assertEquals(
        "--sequence: a checkpoint says its network; leave it out",
        Cli.run("checkpoint", "merge", "run", "--out", "a.safetensors", "--sequence", "8")
            .refusal(2));
    assertEquals(
        "--model: missing; name the network that the parameters are of, like gpt-8x256",
        Cli.run("checkpoint", "import", "a.safetensors", "--out", "run").refusal(2));
    assertEquals(
        "--sequence: 0 is too few; give a whole number >= 1",
        Cli.run(
                "checkpoint",
                "import",
                "a.safetensors",
                "--out",
                "run",
                "--model",
                "gpt-8x256",
                "--sequence",
                "0")
            .refusal(2));
  }

  @Test
  void anotherActionIsRefused() {
    Cli.run("checkpoint", "split", "run", "--out", "a.safetensors")
        .refusal(2, "split", "merge, import");
  }

  @Test
  void theRuntimeIsNamedWhereItIsMissing() {
    Cli.run("checkpoint", "merge", "run", "--out", "a.safetensors")
        .refusal(2, "checkpoint: the training runtime is not on the class path");
  }
}
