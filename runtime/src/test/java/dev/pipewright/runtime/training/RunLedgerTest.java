package dev.pipewright.runtime.training;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.pipewright.execution.TrainingRequest.Workers;
import dev.pipewright.runtime.engine.StepReport;
import java.net.ProtocolException;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RunLedgerTest {
  private final RunLedger ledger =
      new RunLedger(
          Runs.hybrid(Workers.PROCESSES, 2, 0).assignment(),
          new RunSchedule(0, 0, 2, 0, 0),
          step -> {},
          new MetricFiles(
              Optional.empty(),
              new RunSchedule(0, 0, 2, 0, 0),
              Runs.hybrid(Workers.PROCESSES, 2, 0).assignment()),
          Optional.empty());

  private static String step(int step) {
    long[] times = {1, 2};
    return Reports.steps(List.of(new StepReport(step, 0.5, 1, 2, times, times, times, 3, 4)));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "~~                     | its report is no object",
        "x                      | its report is no JSON",
        "{                      | its report is no JSON",
        "7                      | its report is no object",
        "[]                     | its report is no object",
        "{}                     | the field peak_bytes of its report makes no sense",
        "{'peak_bytes':'many'}  | the field peak_bytes of its report makes no sense",
        "{'peak_bytes':1e300}   | the field peak_bytes of its report makes no sense",
        "{'steps':1}            | the field steps of its report makes no sense",
        "{'steps':[1]}          | the field step of its report makes no sense",
        "{'held_out':1}         | the field loss of its report makes no sense",
        "{'held_out':1,'loss':'low'} | the loss of its report is no number",
        "{'memory_of':1}        | the field samples of its report makes no sense",
        "{'memory_of':1,'samples':[{'nanoseconds':1,'bytes':[1]}]}"
            + " | the field bytes of its report makes no sense",
        "{'shard':'a'} | it is about a checkpoint, and this run writes none"
      })
  void aTextThatIsNoReportIsRefusedInASentence(String text, String why) {
    String report = text.replace('\'', '"');
    assertEquals(
        why, assertThrows(ProtocolException.class, () -> ledger.event(0, report)).getMessage());
  }

  @Test
  void stepsThatTheRunDoesNotMakeAreRefused() throws ProtocolException {
    ledger.event(0, step(1));
    assertThrows(ProtocolException.class, () -> ledger.event(0, step(2)));
    String shorter = step(1).replace("\"ended\":[1,2]", "\"ended\":[1]");
    assertEquals(
        "the field ended of its report makes no sense",
        assertThrows(ProtocolException.class, () -> ledger.event(0, shorter)).getMessage());
  }

  @Test
  void questionsWithoutAnAnswerAreRefused() {
    for (String question : List.of("", "where?", "1")) {
      assertThrows(
          ProtocolException.class, () -> ledger.question(0, question, answer -> {}), question);
    }
  }
}
