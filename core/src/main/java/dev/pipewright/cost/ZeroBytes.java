package dev.pipewright.cost;

import dev.pipewright.cost.StageCost.States;
import dev.pipewright.exchange.Segment;
import dev.pipewright.exchange.ShardedParameters;
import dev.pipewright.exchange.TiedStates;
import dev.pipewright.exchange.ZeroStates;
import dev.pipewright.exchange.ZeroStates.Shard;
import dev.pipewright.model.Chain;
import dev.pipewright.model.TiedTable;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.LayerRange;
import java.util.List;

/**
 * Bytes of a stage under ZeRO: what is {@linkplain #reserved reserved} for its states, and what is
 * there op by op. While the gradients of a segment are summed there is room for the worker's own
 * and for those of others, then for its part of the sum, until the next sum begins. After the last
 * pass tied tables are summed one by one.
 */
public final class ZeroBytes implements StateBytes {
  private final ZeroStates states;
  private final int passes;
  private final int[] segments; // by layer
  private final double[] added; // gradients that are added up, by layer
  private final double[] staying; // those that are not, or after the last pass; likewise
  private final double[] whole; // gradients of what is sharded, by segment
  private final double[] part; // the worker's
  private final double[] parameters; // likewise
  private final States reserved;
  private final double resting;
  private final double ending;

  /**
   * @param costs of the worker's part of layers
   * @param worker that holds the stage
   */
  public ZeroBytes(StageCosts costs, Assignment assignment, int depth, int worker) {
    Chain chain = costs.workload().chain();
    LayerRange range = assignment.stages().get(depth).range();
    int[] layers = chain.graph().topological(chain.layers(range.first() - 1, range.last()));
    double element = costs.workload().profile().precision().bytes();
    double gradient = costs.workload().training().gradientBytes();
    double remembered = costs.workload().training().optimizerBytes();
    Parallelism split = assignment.stages().get(depth).split();
    ShardedParameters parameters = costs.held(split);
    this.states = ZeroStates.of(assignment, depth, worker, chain, parameters, Segment.BUCKET_BYTES);
    this.passes = assignment.schedule().gradientPasses(assignment.rankOf(worker), depth);
    int count = states.segments().size();
    this.segments = segments(chain, layers);
    this.added = new double[layers.length];
    this.staying = new double[layers.length];
    List<TiedStates> tables = TiedStates.of(assignment, chain, worker);
    int workerPart = assignment.partOf(worker);
    int holders = assignment.holderCount(depth);
    for (int i = 0; i < layers.length; i++) {
      ShardedParameters.Held held = parameters.of(layers[i], workerPart);
      double tied = tied(tables, layers[i], false) * gradient;
      double all = held.numbers() * gradient - tied;
      double ofAll = held.summed() ? Math.max(0, held.whole() * gradient - tied) : 0;
      double ofExperts = held.experts() * gradient;
      added[i] =
          ofAll
              + (holders > split.pieces() ? all - ofAll - ofExperts : 0)
              + (holders > split.parts() ? ofExperts : 0);
      staying[i] = all - added[i] + tied(tables, layers[i], true) * gradient;
    }
    this.whole = new double[count];
    this.part = new double[count];
    this.parameters = new double[count];
    double kept = 0; // parameters that no other worker has, and so are the next
    double updated = 0;
    double summed = 0;
    double read = 0;
    for (int i = 0; i < count; i++) {
      kept += states.kept(i);
      for (Shard shard : states.shards(i)) {
        whole[i] += shard.whole() * gradient;
        part[i] += shard.part() * gradient;
        this.parameters[i] += shard.whole() * element;
        updated += shard.part();
        summed += states.eachPass() ? shard.part() : shard.numbers();
        read += states.gathered() ? shard.part() : shard.whole();
      }
    }
    updated += kept;
    summed += kept;
    read += kept;
    double gathered = 0; // of tied tables, all the time
    double last = sums(passes) + 2 * whole[0];
    for (TiedStates each : tables) {
      if (each.depths().get(0) == depth) {
        updated += each.part();
        summed += states.eachPass() ? each.part() : each.table().numbers();
        read += states.gathered() ? each.part() : each.whole();
        gathered += states.gathered() ? each.whole() - each.part() : 0;
        last = Math.max(last, sum(part) + whileSummed(each) * gradient);
      }
    }
    double optimizer = updated * remembered;
    this.reserved =
        new States(
            read * element, summed * gradient, read * element + summed * gradient + optimizer);
    this.resting = (read + gathered) * element + optimizer;
    this.ending = kept * gradient + last;
  }

  /**
   * Numbers of tables that a layer reads and another one, too.
   *
   * @param copies whether those count that belong to the other
   */
  private static long tied(List<TiedStates> tables, int layer, boolean copies) {
    long numbers = 0;
    for (TiedStates each : tables) { // for each layer of each plan: no stream
      TiedTable table = each.table();
      boolean reads = table.layer() == layer || (copies && table.copyLayer() == layer);
      numbers += reads ? table.numbers() : 0;
    }
    return numbers;
  }

  /** Numbers while a tied table's gradients are summed, these among it. */
  private static double whileSummed(TiedStates tied) {
    long numbers = tied.table().numbers();
    return Math.max(tied.gradients() * (double) numbers, numbers + (double) tied.whole());
  }

  private int[] segments(Chain chain, int[] layers) {
    int[] found = new int[layers.length];
    for (int segment = 0; segment < states.segments().size(); segment++) {
      LayerRange range = states.segments().get(segment).range();
      int[] own = chain.layers(range.first() - 1, range.last());
      for (int i = 0; i < layers.length; i++) {
        for (int layer : own) {
          found[i] = layer == layers[i] ? segment : found[i];
        }
      }
    }
    return found;
  }

  private static double sum(double[] bytes) {
    return after(bytes, -1);
  }

  private static double after(double[] bytes, int at) {
    double sum = 0;
    for (int i = at + 1; i < bytes.length; i++) { // for each layer of each plan: no stream
      sum += bytes[i];
    }
    return sum;
  }

  @Override
  public double resting() {
    return resting;
  }

  /**
   * What a step's states are given room for, wherever they are in it: of parameters, gradients and
   * optimizer state the worker's part where the {@linkplain dev.pipewright.plan.ZeroStage stage}
   * shards them, all of them where it does not (ZeRO, figure 1).
   */
  public States reserved() {
    return reserved;
  }

  /**
   * What the states need beyond {@link #reserved} when they are most: gathered parameters, and
   * gradients while they are summed. 0 where that is less than reserved, as stage 1 sums gradients
   * before all of them are there.
   */
  public double buffers() {
    return Math.max(0, resting + most() - reserved.all());
  }

  @Override
  public double between(int passed) {
    if (passed == 0) {
      return 0;
    }
    boolean summed = states.eachPass() || passed == passes;
    return sum(staying) + (summed ? sums(passed) + moving(0) : sum(added));
  }

  /** The worker's parts of all sums of earlier passes; that of the first segment comes last. */
  private double sums(int passed) {
    boolean alone = passed == 1 || !states.eachPass();
    return sum(part) - (alone ? part[0] : 0);
  }

  /** While a segment's gradients are added up: one's own, and what comes from others. */
  private double moving(int segment) {
    return segment < whole.length ? 2 * whole[segment] - part[segment] : 0;
  }

  @Override
  public double forward(int layer, int passed) {
    return between(passed) + rooms(segments[layer], segments[layer] + 1);
  }

  @Override
  public double inputPart(int layer, int passed) {
    return between(passed) + rooms(segments[layer], segments[layer] - 1);
  }

  /** Parameters of the segment at hand, and of the one that comes next. */
  private double rooms(int segment, int next) {
    boolean follows = 0 <= next && next < whole.length;
    return states.gathered() ? parameters[segment] + (follows ? parameters[next] : 0) : 0;
  }

  @Override
  public double backward(int layer, int passed) {
    int segment = segments[layer];
    return gradients(layer, passed) + rooms(segment, segment - 1);
  }

  private boolean summing(int passed) {
    return states.eachPass() || passed + 1 == passes;
  }

  /** Without those of the layer at hand, where no earlier pass has left any. */
  private double gradients(int layer, int passed) {
    boolean later = passed > 0;
    boolean accumulated = later && !states.eachPass();
    boolean leave = states.bySegment() && summing(passed);
    int own = segments[layer];
    double bytes = later ? sum(staying) : after(staying, layer);
    for (int i = 0; i < added.length; i++) {
      boolean there = accumulated || i > layer;
      bytes += there && (segments[i] <= own || !leave) ? added[i] : 0;
    }
    if (leave) {
      bytes += moving(own + 1) + (later && states.eachPass() ? 0 : after(part, own + 1));
    }
    if (later && states.eachPass()) { // until the first segment is left, its last sum is under way
      bytes += own + 1 == whole.length ? sums(passed) + moving(0) : sum(part);
    }
    return bytes;
  }

  @Override
  public double leaving(int layer, int passed) {
    int own = segments[layer];
    boolean begins = layer == 0 || segments[layer - 1] != own;
    if (!begins || !summing(passed)) {
      return Double.NEGATIVE_INFINITY;
    }
    double there = gradients(layer, passed);
    there += passed == 0 ? staying[layer] : 0;
    there += passed == 0 || states.eachPass() ? added[layer] : 0;
    if (!states.bySegment()) {
      return layer > 0 ? Double.NEGATIVE_INFINITY : there + largest(own);
    }
    int before = own + 1 < whole.length ? own + 1 : passed > 0 && states.eachPass() ? 0 : -1;
    double ended = before < 0 ? 0 : 2 * whole[before];
    double moves = (before < 0 ? 0 : part[before]) + largest(own);
    double room = states.gathered() && own > 0 ? parameters[own - 1] : 0;
    return there + room - (before < 0 ? 0 : moving(before)) + Math.max(ended, moves);
  }

  private double largest(int segment) {
    double largest = 0;
    for (int i = 0; i < added.length; i++) {
      largest = segments[i] == segment ? Math.max(largest, added[i]) : largest;
    }
    return largest;
  }

  @Override
  public double ending() {
    return ending;
  }

  /** The most beyond {@link #resting} at any time of a step. */
  public double most() {
    double most = ending;
    for (int passed : List.of(0, Math.min(1, passes - 1), passes - 1)) {
      for (int layer = 0; layer < added.length; layer++) {
        most = Math.max(most, forward(layer, passed));
        most = Math.max(most, backward(layer, passed) + added[layer] + staying[layer]);
        most = Math.max(most, leaving(layer, passed));
      }
    }
    return most;
  }
}
