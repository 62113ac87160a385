package dev.pipewright.runtime.profiler;

import dev.pipewright.cluster.MessageOverhead;
import dev.pipewright.execution.ProfilingOutcome.Spread;
import dev.pipewright.runtime.launch.Reporter;
import dev.pipewright.runtime.launch.WorkerTask;
import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import dev.pipewright.runtime.transport.Group;
import dev.pipewright.runtime.transport.Pending;
import dev.pipewright.runtime.transport.Transport;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Measures by how much two workers compute longer that exchange messages meanwhile: each sends one
 * to the other before each piece of its work, and hears from it, as stages of a pipeline do. Times
 * with and without messages take turns, since a processor's speed changes. Its job is how often.
 */
public final class OverheadTask implements WorkerTask {
  static final List<Integer> BYTES = List.of(1 << 14, 1 << 20);

  private static final JsonMapper JSON = new JsonMapper();
  private static final int WARM_UP = 8;

  @Override
  public void run(String text, Transport transport, Reporter reporter) {
    int pairs = Integer.parseInt(text);
    Group all = transport.group("all", IntStream.range(0, transport.workers()).boxed().toList());
    try (CoRunningWork work = new CoRunningWork();
        Scope scope = new Scope()) {
      Tensor meeting = Tensor.ones(1);
      for (int bytes : BYTES) {
        Exchange exchange = new Exchange(transport, bytes / Float.BYTES);
        ObjectNode line = JSON.createObjectNode();
        ArrayNode seconds = line.put("bytes", bytes).putArray("seconds");
        for (int pair = -WARM_UP; pair < pairs; pair++) {
          meeting.zeroInPlace();
          all.sum(meeting).await();
          double plain = exchange.seconds(work, false);
          all.sum(meeting).await();
          double both = exchange.seconds(work, true);
          if (pair >= 0) {
            seconds.add((both - plain) / (2 * CoRunningWork.PIECES)); // a message has two ends
          }
        }
        reporter.event(line.toString());
      }
    }
  }

  /** What goes from one to the other. */
  private static final class Exchange {
    private final Transport transport;
    private final int other;
    private final List<Tensor> sent = new ArrayList<>();
    private final List<Tensor> heard = new ArrayList<>();

    private Exchange(Transport transport, int numbers) {
      this.transport = transport;
      this.other = 1 - transport.worker();
      for (int piece = 0; piece < CoRunningWork.PIECES; piece++) {
        sent.add(Tensor.ones(numbers));
        heard.add(Tensor.ones(numbers));
      }
    }

    /** Seconds of the work; a late message is not waited for within it. */
    private double seconds(CoRunningWork work, boolean talks) {
      List<Pending> pending = new ArrayList<>();
      long begin = System.nanoTime();
      for (int piece = 0; piece < CoRunningWork.PIECES; piece++) {
        if (talks) {
          pending.add(transport.receive(heard.get(piece), other, piece));
          pending.add(transport.send(sent.get(piece), other, piece));
        }
        work.piece(piece);
      }
      double seconds = (System.nanoTime() - begin) / 1e9;
      pending.forEach(Pending::await);
      return seconds;
    }
  }

  /**
   * The overhead that follows from two sizes of messages.
   *
   * @param events of both workers
   */
  static MessageOverhead parse(List<String> events) {
    double[] seconds = new double[BYTES.size()];
    int[] workers = new int[BYTES.size()];
    for (String event : events) {
      JsonNode line = JSON.readTree(event);
      int size = BYTES.indexOf(line.get("bytes").asInt());
      double[] each = line.get("seconds").valueStream().mapToDouble(JsonNode::asDouble).toArray();
      seconds[size] += Spread.of(each).median();
      workers[size]++;
    }
    double small = seconds[0] / workers[0];
    double large = seconds[1] / workers[1];
    double perByte = Math.max(0, large - Math.max(0, small)) / (BYTES.get(1) - BYTES.get(0));
    return new MessageOverhead(Math.max(0, small - perByte * BYTES.get(0)), perByte);
  }
}
