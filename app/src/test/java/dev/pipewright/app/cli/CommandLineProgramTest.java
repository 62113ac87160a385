package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CommandLineProgramTest {
  private static String answer(CommandLineProgram program, String line) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int status = program.run(new PrintWriter(out), new PrintWriter(err), line.split(" "));
    String answer = out.toString().replaceAll("\"generation_s\": [^,]*", "");
    return status + "\n" + answer + "\n" + err;
  }

  @Test
  void eachRunBeginsWithTheDefaultsOfAllFlags() {
    CommandLineProgram program = new CommandLineProgram();
    List<String> lines =
        List.of(
            "schedule 1f1b --stages 2 --micro-batches 4 --times 3,4,5,1 --json",
            "schedule 1f1b --stages 2 --micro-batches 4",
            "schedule gpipe --stages 2 --micro-batches 4 --beside 1f1b",
            "schedule gpipe --stages 2 --micro-batches 4",
            "schedule 1f1b --stages nonsense --micro-batches",
            "check nowhere.csv --json",
            "check nowhere.csv",
            "models gpt --json",
            "models gpt",
            "plan bert-48 --help",
            "plan bert-48",
            "plan bert-48 --debug --cluster nowhere --global-batch 4",
            "plan bert-48 --cluster nowhere --global-batch 4");
    for (String line : lines) {
      assertEquals(answer(new CommandLineProgram(), line), answer(program, line), line);
    }
    assertNotEquals(answer(program, lines.get(0)), answer(program, lines.get(1)));
  }

  /** As far as the answers show, a run has all commands, also where it makes but one. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "plan --help",
        "plan",
        "plan bert-48 --cluster nowhere --global-batch 4 --jsn",
        "plan bert-48 extra",
        "predict --help",
        "simulate --help",
        "simulate nowhere.json --debug",
        "schedule 1f1b --stages 2 --micro-batches 4",
        "check --help",
        "check --version",
        "--help",
        "plam bert-48"
      })
  void aRunOfOneCommandAnswersAsTheWholeProgram(String line) {
    CommandLineProgram quick = CommandLineProgram.startingWith(line.split(" ", -1));
    assertEquals(answer(new CommandLineProgram(), line), answer(quick, line));
    boolean one = quick.commands().subcommands().size() == 1;
    assertEquals(!line.startsWith("--") && !line.startsWith("plam"), one);
  }
}
