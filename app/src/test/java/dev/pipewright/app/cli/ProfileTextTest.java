package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.app.cli.train.ProfileText;
import dev.pipewright.cluster.MessageOverhead;
import dev.pipewright.execution.ProfilingOutcome.Spread;
import org.junit.jupiter.api.Test;

class ProfileTextTest {
  @Test
  void whatTakesNoTimeIsNotSaidToTakeZeroSeconds() {
    double perByte = 1e-3 / (1 << 20);
    assertEquals(
        "a message takes 40 µs of each end's computing, and 1.00 ms more for each MiB",
        ProfileText.words(new MessageOverhead(40e-6, perByte)));
    assertEquals(
        "a message takes 40 µs of each end's computing",
        ProfileText.words(new MessageOverhead(40e-6, 0)));
    assertEquals(
        "a message takes 1.00 ms of each end's computing for each MiB",
        ProfileText.words(new MessageOverhead(0, perByte)));
    assertEquals(
        "messages slow computing by less than can be measured",
        ProfileText.words(MessageOverhead.NONE));
  }

  @Test
  void aSpreadThatIsManyTimesTheMedianIsAFactor() {
    assertEquals("25 %", ProfileText.width(new Spread(1, 2, 1.5)));
    assertEquals("209×", ProfileText.width(new Spread(1e-5, 1e-5, 2.1e-3)));
    assertEquals("0 %", ProfileText.width(new Spread(0, 0, 0)));
  }
}
