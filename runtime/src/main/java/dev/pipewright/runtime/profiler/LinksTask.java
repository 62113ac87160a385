package dev.pipewright.runtime.profiler;

import dev.pipewright.runtime.launch.Reporter;
import dev.pipewright.runtime.launch.WorkerTask;
import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import dev.pipewright.runtime.transport.Group;
import dev.pipewright.runtime.transport.Transport;
import java.util.stream.IntStream;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * Measures what workers do with each other, with messages from 4 bytes on, between workers that
 * come from computing: those that have waited for each other are quicker by half. Each worker
 * reports when it began and when it ended; all read the same clock. Its job is the largest
 * message's bytes and the number of repeats.
 */
public final class LinksTask implements WorkerTask {
  private static final JsonMapper JSON = new JsonMapper();
  private static final int NUMBER = Float.BYTES;
  private static final int GROWTH = 4; // from one size to the next
  private static final int WARM_UP = 2;
  private static final long SMALL = 1 << 16;
  private static final int MORE = 4; // times as many repeats of what is quick

  @Override
  public void run(String text, Transport transport, Reporter reporter) {
    String[] words = text.split(" ", -1);
    long largest = Long.parseLong(words[0]);
    int repeats = Integer.parseInt(words[1]);
    Group all = transport.group("all", IntStream.range(0, transport.workers()).boxed().toList());
    try (CoRunningWork work = new CoRunningWork()) {
      for (LinkOperation operation : LinkOperation.values()) {
        for (long bytes = NUMBER; bytes <= largest; bytes *= GROWTH) {
          int times = bytes <= SMALL ? MORE * repeats : repeats;
          reporter.event(measure(operation, bytes, times, transport, all, work));
        }
      }
    }
  }

  private static String measure(
      LinkOperation operation,
      long bytes,
      int repeats,
      Transport transport,
      Group all,
      CoRunningWork work) {
    int workers = transport.workers();
    boolean parts = operation == LinkOperation.GATHER || operation == LinkOperation.SUM_PARTS;
    long numbers = bytes / NUMBER;
    long each = (numbers + workers - 1) / workers;
    ObjectNode line = JSON.createObjectNode();
    try (Scope scope = new Scope()) {
      Tensor whole = Tensor.ones(parts ? each * workers : numbers);
      Tensor part = Tensor.ones(each);
      Tensor meeting = Tensor.ones(1);
      line.put("operation", operation.name()).put("bytes", whole.bytes());
      var begun = line.putArray("begun");
      var ended = line.putArray("ended");
      for (int i = -WARM_UP; i < repeats; i++) {
        meeting.zeroInPlace();
        all.sum(meeting).await(); // so that all begin together
        long[] times = operation.times(transport, all, whole, part, work);
        if (i >= 0) {
          begun.add(times[0]);
          ended.add(times[1]);
        }
        whole.zeroInPlace(); // sums of sums would leave the numbers that are quick to add
      }
    }
    return line.toString();
  }
}
