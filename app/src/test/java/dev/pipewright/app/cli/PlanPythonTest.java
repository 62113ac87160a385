package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.app.cli.host.ProfileTool;
import dev.pipewright.formats.file.BadInputException;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Networks of PyTorch that `plan` measures, with scripts that answer in place of Python. */
@DisabledOnOs(OS.WINDOWS)
class PlanPythonTest {
  @TempDir private Path folder;
  private final StringWriter err = new StringWriter();
  private Path network;
  private Path profile;

  @BeforeEach
  void prepare() throws IOException {
    network = Files.writeString(folder.resolve("mine.py"), "# a network");
    profile = folder.resolve("Net.profile.json");
  }

  /** A Python that runs a shell script on `-u SCRIPT MODEL FLAGS --out FILE`. */
  private ProfileTool python(String body) throws IOException {
    Path script = Files.writeString(folder.resolve("python"), "#!/bin/sh\n" + body + "\n");
    assertTrue(script.toFile().setExecutable(true));
    return new ProfileTool(script.toString(), new PrintWriter(err));
  }

  @Test
  void theToolIsRunWithWhatIsKnown() throws IOException {
    python("echo progress >&2; head -1 \"$2\" >&2; shift 2; echo \"$@\" > " + profile)
        .measure(network + ":Net", List.of("--batch", "1,2"), profile);
    assertEquals(
        network + ":Net --batch 1,2 --out " + profile.toAbsolutePath() + "\n",
        Files.readString(profile));
    assertEquals("progress\n#!/usr/bin/env python3\n", err.toString());
  }

  @Test
  void itsSentenceIsOurs() throws IOException {
    ProfileTool refuses = python("echo 'pipewright_profile: no Net; give another' >&2; exit 2");
    String said =
        assertThrows(
                BadInputException.class,
                () -> refuses.measure(network + ":Net", List.of(), profile))
            .getMessage();
    assertEquals("no Net; give another", said);
    assertEquals("", err.toString());
    assertFalse(Files.exists(profile));
  }

  @Test
  void whatPythonSaysIsPassedOn() throws IOException {
    ProfileTool fails = python("echo 'Traceback' >&2; exit 1");
    String said =
        assertThrows(BadInputException.class, () -> fails.measure("a.py:Net", List.of(), profile))
            .getMessage();
    assertEquals("a.py:Net: could not be measured; what Python says is above", said);
    assertEquals("Traceback\n", err.toString());
  }

  @Test
  void pythonIsNamed() {
    ProfileTool missing = new ProfileTool("/no/such/python", new PrintWriter(err));
    String said =
        assertThrows(BadInputException.class, () -> missing.measure("a.py:Net", List.of(), profile))
            .getMessage();
    assertTrue(
        String.valueOf(said).startsWith("a.py:Net: cannot start '/no/such/python' to measure it"),
        said);
    assertTrue(String.valueOf(said).endsWith("PIPEWRIGHT_PYTHON"), said);
  }

  @Test
  void aMissingFileIsSaidBeforeAnythingRuns() {
    Cli cli =
        Cli.run("plan", folder + "/none.py:Net", "--cluster", "dapple-a", "--global-batch", "8");
    assertEquals(2, cli.status());
    assertTrue(cli.err().contains("none.py: no such file; give the file that has Net"), cli.err());
  }

  @Test
  void samplesAreForNetworksOfPyTorch() {
    Cli cli =
        Cli.run("plan", "vgg-19", "--input", "3x4", "--cluster", "dapple-a", "--global-batch", "8");
    assertEquals(2, cli.status());
    assertTrue(cli.err().contains("--input: is for networks of PyTorch"), cli.err());
  }

  @Test
  void otherCommandsSayHowToMeasure() {
    Cli cli = Cli.run("predict", network + ":Net", "--cluster", "dapple-a", "--strategies", "all");
    assertTrue(cli.err().contains("`pipewright plan " + network + ":Net` measures it"), cli.err());
  }

  @Test
  void aMachineIsDescribedByTheNumberOfItsGpus() {
    Cli plain =
        Cli.run(
            "plan", "vgg-19", "--gpus", "4", "--memory", "8GiB", "--global-batch", "64", "--json");
    Cli named =
        Cli.run(
            "plan",
            "vgg-19",
            "--cluster",
            "gpus:4",
            "--memory",
            "8GiB",
            "--global-batch",
            "64",
            "--json");
    assertEquals(0, plain.status(), plain.err());
    assertEquals(withoutTimes(named.out()), withoutTimes(plain.out()));
    assertTrue(plain.out().contains("\"cluster\": \"gpus:4\""));
  }

  @Test
  void anAnswerSaysHowFarTimesAreExtrapolated() {
    Path measured =
        Cli.file(
            folder,
            "measured.json",
            """
            {"format": "pipewright-profile", "version": 1, "model": "m", "precision": "fp32",
             "provenance": {"source": "here", "device": "gpu", "date": "2026-01-31", "measured": true},
             "layers": [{"name": "a", "operator": {"kind": "elementwise", "function": "relu"},
               "parameters": 0, "output_elements": 3, "kept_elements": 3, "output_bytes": 12,
               "kept_bytes": 12, "parameter_bytes": 0}],
             "edges": [], "batches": [
               {"samples": 4, "forward_s": [1e-3], "backward_s": [2e-3], "update_s": [0]},
               {"samples": 8, "forward_s": [2e-3], "backward_s": [4e-3], "update_s": [0]}]}
            """);
    String[] flags = {"--global-batch", "20", "--micro-batch", "20", "--memory", "8GiB"};
    String beyond = said(Cli.plan(measured, "gpus:1", flags).ends(0));
    assertTrue(
        beyond.contains(
            "the layers' times were measured for up to 8 samples and are extrapolated to the 20 of a micro-batch on a device, 2.50 times as many"),
        beyond);
    flags[1] = "8";
    flags[3] = "8";
    String within = said(Cli.plan(measured, "gpus:1", flags).ends(0));
    assertFalse(within.contains("extrapolated"), within);
  }

  private static String said(Cli cli) {
    return cli.out() + cli.err();
  }

  private static String withoutTimes(String json) {
    return json.replaceAll("\"planning_s\": [0-9.e-]+", "");
  }

  @Test
  void gpusAreAClusterOfTheirOwn() {
    Cli both =
        Cli.run("plan", "vgg-19", "--gpus", "4", "--cluster", "dapple-a", "--global-batch", "8");
    assertTrue(both.err().contains("--gpus: is a cluster of its own; leave out --cluster"));
    Cli many = Cli.run("plan", "vgg-19", "--gpus", "17", "--global-batch", "8");
    assertTrue(many.err().contains("a machine has 1 to 16 GPUs, not 17"), many.err());
  }
}
