package dev.pipewright.runtime.profiler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cluster.MessageOverhead;
import dev.pipewright.runtime.launch.KeptEvents;
import dev.pipewright.runtime.launch.Reporter;
import dev.pipewright.runtime.transport.LocalTransport;
import dev.pipewright.runtime.transport.Transport;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class OverheadTaskTest {
  private static final int SMALL = 1 << 14;
  private static final int LARGE = 1 << 20;

  /** Medians of two workers, of which one was disturbed once. */
  @Test
  void twoSizesTellWhatIsOfEachMessageAndWhatOfItsBytes() {
    MessageOverhead found =
        OverheadTask.parse(
            List.of(
                event(SMALL, 1, 2, 100), event(SMALL, 4, 4, 4), event(LARGE, 7), event(LARGE, 9)));
    assertEquals(3, found.of(SMALL), 1e-12);
    assertEquals(8, found.of(LARGE), 1e-12);
  }

  @Test
  void whatNoiseHasTurnedAroundIsNothing() {
    assertEquals(
        new MessageOverhead(3, 0), OverheadTask.parse(List.of(event(SMALL, 3), event(LARGE, 2))));
    MessageOverhead found = OverheadTask.parse(List.of(event(SMALL, -3), event(LARGE, 2)));
    assertEquals(0, found.seconds());
    assertEquals(2, found.secondsPerByte() * (LARGE - SMALL), 1e-12);
    assertEquals(
        MessageOverhead.NONE, OverheadTask.parse(List.of(event(SMALL, -3), event(LARGE, -2))));
  }

  private static String event(int bytes, double... seconds) {
    return "{\"bytes\": " + bytes + ", \"seconds\": " + Arrays.toString(seconds) + "}";
  }

  @Test
  void bothWorkersMeasureBothSizes() throws InterruptedException {
    KeptEvents events = new KeptEvents(text -> text);
    List<Thread> workers =
        LocalTransport.of(2).stream().map(transport -> worker(transport, events)).toList();
    for (Thread worker : workers) {
      worker.join();
    }
    assertEquals(2 * OverheadTask.BYTES.size(), events.texts().size());
    assertTrue(Double.isFinite(OverheadTask.parse(events.texts()).of(LARGE)));
  }

  private static Thread worker(Transport transport, Reporter reporter) {
    return Thread.ofPlatform().start(() -> new OverheadTask().run("3", transport, reporter));
  }
}
