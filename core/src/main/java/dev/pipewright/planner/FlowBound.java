package dev.pipewright.planner;

import java.util.Arrays;

/**
 * Tells whether the stages of a chain could do their work in so many seconds, however layers are
 * cut.
 *
 * <p>Each of these holds for a stage ({@link StageFlow}):
 *
 * <ul>
 *   <li>It begins when a micro-batch has come through the layers before it and over their cuts,
 *       does all its passes, and sums its gradients.
 *   <li>After the last micro-batch has come back to it, the gradient of its input goes back through
 *       all layers before it.
 *   <li>The messages over a cut go one after the other, in each direction: the first one when a
 *       micro-batch has come there, and after the last one its micro-batch goes on to the end and
 *       back to the start. All messages from one rank to another go one after the other likewise:
 *       the mean over these pairs of ranks.
 *   <li>A micro-batch that has begun there goes through all layers behind it, over their cuts, and
 *       back. No more than so many are under way at once, so all take at least all their seconds,
 *       divided by that number.
 * </ul>
 *
 * <p>Of all cuts behind a stage's first layer those whose messages take least leave most time, so a
 * dynamic program over stages, from the last one on, finds a cut if there is any. Messages before a
 * stage are as many as the stages before it send, the shortest ones.
 *
 * <p>O(stages · layers²), confined by the layers that a stage has time for.
 */
final class FlowBound {
  private final StageFlow flow;
  private final StageEnds ends;
  private final int ways; // of messages
  private final double[][] there; // messages by stage that sends and end
  private final double[][] back; // those that come back
  private final double[][] before; // of the messages there on the way to a stage, by its first run
  private final double[] forward; // of all runs before each end, likewise the others
  private final double[] inputs;
  private final double[] weights;
  private final double[] tail;
  private final double[] rest;

  /** Seconds of a message and of each of its bytes. */
  record Message(double latency, double perByte) {
    static final Message NONE = new Message(0, 0);

    double of(double bytes) {
      return bytes == 0 ? 0 : latency + bytes * perByte;
    }
  }

  /**
   * Of a grid.
   *
   * @param loads with split backward passes where the schedule splits them
   * @param there from each stage to the next, at least
   * @param back likewise
   * @param samples of a micro-batch
   */
  FlowBound(
      LayerLoads loads,
      boolean splits,
      StageFlow flow,
      StageEnds ends,
      Message[] there,
      Message[] back,
      CutBytes cuts,
      int samples) {
    int size = loads.size();
    this.flow = flow;
    this.ways = flow.ways();
    this.ends = ends;
    this.forward = new double[size + 1];
    this.inputs = new double[size + 1];
    this.weights = new double[size + 1];
    this.tail = new double[size + 1];
    this.rest = new double[size + 1];
    for (int at = 0; at < size; at++) {
      double later = splits ? Math.min(loads.weights()[at], loads.backward()[at]) : 0;
      forward[at + 1] = forward[at] + loads.forward()[at];
      inputs[at + 1] = inputs[at] + loads.backward()[at] - later;
      weights[at + 1] = weights[at] + later;
      tail[at + 1] = tail[at] + ends.tail()[at];
      rest[at + 1] = rest[at] + ends.rest()[at];
    }
    this.there = new double[flow.stages()][size + 1];
    this.back = new double[flow.stages()][size + 1];
    for (int stage = 0; stage + 1 < flow.stages(); stage++) {
      for (int end = 1; end < size; end++) {
        double bytes = cuts.at(end) * samples;
        this.there[stage][end] = there[stage].of(bytes);
        this.back[stage][end] = back[stage].of(bytes);
      }
    }
    this.before = before(flow, there, back, cuts, samples);
  }

  /** One way: there or back, whichever is shorter. */
  private static double[][] before(
      StageFlow flow, Message[] there, Message[] back, CutBytes cuts, int samples) {
    double[][] before = new double[flow.stages()][cuts.size() + 2];
    double latency = Double.POSITIVE_INFINITY;
    double perByte = Double.POSITIVE_INFINITY;
    int crossed = 0;
    for (int stage = 1; stage < flow.stages(); stage++) {
      boolean crosses = flow.crosses(stage - 1);
      if (crosses) {
        crossed++;
        latency = Math.min(latency, there[stage - 1].latency());
        latency = Math.min(latency, back[stage - 1].latency());
        perByte = Math.min(perByte, there[stage - 1].perByte());
        perByte = Math.min(perByte, back[stage - 1].perByte());
      }
      for (int first = 1; crossed > 0 && first <= cuts.size(); first++) {
        double bytes =
            crosses
                ? cuts.narrowest(crossed - 1, first) + cuts.at(first)
                : cuts.narrowest(crossed, first);
        before[stage][first] =
            bytes * samples * perByte + (cuts.all() ? Math.min(crossed, first) * latency : 0);
      }
    }
    return before;
  }

  /** Whether some cut could take no more than so many seconds. */
  boolean isPossible(double seconds) {
    int size = forward.length - 1;
    int stages = flow.stages();
    double[] behind = new double[size + 1]; // messages behind a first run, at least
    Arrays.fill(behind, Double.POSITIVE_INFINITY);
    behind[size] = 0;
    for (int stage = stages - 1; stage >= 0; stage--) {
      double[] found = new double[size + 1];
      Arrays.fill(found, Double.POSITIVE_INFINITY);
      int highest = stage == 0 ? 0 : size - (stages - stage);
      for (int first = stage; first <= highest; first++) {
        found[first] = behind(stage, first, behind, seconds);
      }
      behind = found;
    }
    return flow.microBatches() * behind[0] <= ways * seconds
        && behind[0] < Double.POSITIVE_INFINITY;
  }

  /** The least messages behind a stage that begins with some run. */
  private double behind(int stage, int first, double[] behind, double seconds) {
    int size = forward.length - 1;
    int microBatches = flow.microBatches();
    double begin = forward[first] + before[stage][first];
    double drain = inputs[first] + before[stage][first];
    double through = forward[size] - forward[first] + inputs[size] - inputs[first];
    double rounds = Math.max(1, (double) microBatches / Math.max(1, flow.inFlight()[stage]));
    double least = Double.POSITIVE_INFINITY;
    int highest = size - (flow.stages() - 1 - stage); // later stages have layers, too
    for (int end = first + 1; end <= highest; end++) {
      double toInputs =
          microBatches * (forward[end] - forward[first] + inputs[end] - inputs[first]);
      double toWeights = microBatches * (weights[end] - weights[first]);
      if (begin + toInputs + toWeights > seconds) {
        break; // and so do all that end later
      }
      double sent = there[stage][end]; // none behind the last stage
      double returned = back[stage][end];
      double messages = behind[end] + sent + returned;
      double queue = messages + (microBatches - 1) * Math.max(sent, returned);
      double pass = inputs[end] - inputs[first] + weights[end] - weights[first];
      double sum = tail[end] - tail[first] + ends.left(rest[end] - rest[first], pass);
      boolean enough =
          messages < least
              && begin + toInputs + toWeights + sum <= seconds
              && begin + toInputs + drain <= seconds
              && begin + through + queue + drain <= seconds
              && begin + rounds * (through + messages) + drain <= seconds;
      least = enough ? messages : least;
    }
    return least;
  }
}
