package dev.pipewright.planner.memory;

import dev.pipewright.cost.Collectives;
import dev.pipewright.cost.PathFormula;
import dev.pipewright.cost.PipelineFormula;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.StageExchanges;
import dev.pipewright.cost.StageGroups;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.planner.recompute.Recomputation;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The fastest hybrid plan of which no device holds more than a cap.
 *
 * <p>Pipelines grow from their last stage. A partial pipeline is known by how many stages it has,
 * how many devices, where it begins and how its first stage is shared; of two alike one is dropped
 * that is nowhere better in what {@link PathFormula} remembers, which is monotone. One is dropped
 * too that cannot become faster than what is known, even if the layers before it run at their best
 * degrees without a message. A first pass keeps few of each and finds something to beat; the second
 * is exact, unless it is asked to stop or has built as many partial pipelines as it may.
 */
final class FastestWithin {
  private static final int FEW = 2;

  private final HybridRound round;
  private final double cap;
  private final BooleanSupplier stop;
  private final PipelineFormula formula = new PathFormula();
  private final int layers;
  private final double[] scratch = new double[formula.width()];
  private final double[] work; // device seconds of layers 0..end-1 at best, for a micro-batch
  private final double[] path; // seconds of them at best
  private long budget;
  private int beam;
  private double limit;
  private boolean exhaustive = true;
  private @Nullable Label best;

  /** A partial pipeline: its first stage, and the pipeline behind it. */
  private record Label(
      double[] numbers, int first, int kind, int used, double bound, @Nullable Label rest) {}

  /**
   * What a search found.
   *
   * @param exhaustive whether nothing faster exists within the cap and the limit
   */
  record Found(Optional<Candidate> plan, boolean exhaustive) {}

  private FastestWithin(
      HybridRound round, double cap, double limit, long budget, BooleanSupplier stop) {
    this.round = round;
    this.cap = cap;
    this.limit = limit;
    this.budget = budget;
    this.stop = stop;
    this.layers = round.layers();
    this.work = new double[layers + 1];
    this.path = new double[layers + 1];
    cheapest();
  }

  /**
   * Searches.
   *
   * @param limit only plans that take less are of interest
   * @param budget partial pipelines that the exact pass may build
   */
  static Found of(HybridRound round, double cap, double limit, long budget, BooleanSupplier stop) {
    FastestWithin search = new FastestWithin(round, cap, limit, Long.MAX_VALUE, stop);
    search.pass(FEW);
    search.budget = budget;
    search.exhaustive = true;
    search.pass(Integer.MAX_VALUE);
    Optional<Candidate> plan = Optional.empty();
    if (search.best != null) {
      plan = Optional.of(search.plan(search.best));
    }
    return new Found(plan, search.exhaustive);
  }

  /** The best of all degrees, layer by layer. */
  private void cheapest() {
    double fastest = round.costs.costs().fastest();
    double[] leastWork = new double[layers];
    double[] leastPath = new double[layers];
    java.util.Arrays.fill(leastWork, Double.POSITIVE_INFINITY);
    java.util.Arrays.fill(leastPath, Double.POSITIVE_INFINITY);
    for (Degrees degrees : round.degrees) {
      int slice = StageCosts.slice(round.samples, degrees.data());
      double[] forward = round.costs.part(degrees.tensor()).forwardSeconds(slice);
      double[] backward = round.costs.part(degrees.tensor()).backwardSeconds(slice);
      for (int i = 0; i < layers; i++) {
        double both = fastest * (forward[i + 1] - forward[i] + backward[i + 1] - backward[i]);
        leastPath[i] = Math.min(leastPath[i], both);
        leastWork[i] = Math.min(leastWork[i], both * degrees.devices());
      }
    }
    for (int i = 0; i < layers; i++) {
      work[i + 1] = work[i] + Math.max(0, leastWork[i]);
      path[i + 1] = path[i] + Math.max(0, leastPath[i]);
    }
  }

  private void pass(int width) {
    beam = width;
    double[] nothing = new double[formula.width()];
    formula.nothing(nothing, 0);
    List<@Nullable List<Label>> level = empty();
    extend(new Label(nothing, layers, -1, 0, 0, null), 0, level);
    for (int stages = 1; stages < round.mostStages() && exhaustive; stages++) {
      List<@Nullable List<Label>> next = empty();
      for (@Nullable List<Label> alike : level) {
        if (alike != null) {
          for (Label label : alike) {
            extend(label, stages, next);
          }
        }
      }
      level = next;
    }
  }

  private List<@Nullable List<Label>> empty() {
    int size = (round.devices + 1) * (layers + 1) * round.degrees.length;
    return new ArrayList<>(java.util.Collections.nCopies(size, null));
  }

  /** Puts every stage that is allowed before {@code rest}, which has so many stages. */
  private void extend(Label rest, int stages, List<@Nullable List<Label>> into) {
    if (rest.bound >= limit || stop.getAsBoolean()) {
      exhaustive &= rest.bound >= limit;
      return;
    }
    for (int kind = 0; kind < round.degrees.length; kind++) {
      if (rest.used + round.degrees[kind].devices() <= round.devices) {
        extend(rest, stages, kind, into);
      }
    }
  }

  private void extend(Label rest, int stages, int kind, List<@Nullable List<Label>> into) {
    Degrees own = round.degrees[kind];
    int used = rest.used + own.devices();
    int end = rest.first;
    int inFlight = round.inFlight(stages);
    int slice = StageCosts.slice(round.samples, own.data());
    Transfer transfer = stages == 0 ? Transfer.NONE : round.transfer(rest.used, rest.kind, kind);
    StageGroups on = round.costs.groups(round.firstDevice(used), own);
    StageExchanges communication = round.costs.exchanges(round.firstDevice(used), own, slice);
    StageCosts part = round.costs.part(own.tensor());
    double[] forwards = part.forwardSeconds(slice);
    double[] backwards = part.backwardSeconds(slice);
    boolean lastDevices = used == round.devices;
    boolean mayKeep = round.relief.recomputation() != Recomputation.ALWAYS;
    boolean whole = lastDevices && round.allows(stages + 1);
    for (int first = lastDevices ? 0 : end - 1; first >= (whole ? 0 : 1); first--) {
      if (!round.costs.costs().isStage(first, end)) {
        continue;
      }
      boolean keeps = mayKeep && HybridCosts.peakBytes(part, first, end, slice, inFlight) <= cap;
      double again =
          keeps
              ? 0
              : round.relief.extraAtLeast(
                  first, end, round.firstDevice(used), own, round.samples, inFlight, cap);
      if (again == Double.POSITIVE_INFINITY) {
        continue;
      }
      double messages = round.costs.costs().messageSeconds(first, end, slice);
      double forward =
          (forwards[end] - forwards[first]) * on.slowdown()
              + communication.forward(first, end)
              + messages;
      double backward =
          (backwards[end] - backwards[first]) * on.slowdown()
              + communication.backward(first, end)
              + messages;
      double tail = tail(on.data(), part, first, end, on.slowdown());
      put(rest, stages, transfer, forward, backward + again, tail, inFlight);
      if (!keeps) {
        if (bound(first, used) >= limit) {
          continue;
        }
        again =
            round.relief.extraSeconds(
                first, end, round.firstDevice(used), own, round.samples, inFlight, cap);
        if (again == Double.POSITIVE_INFINITY) {
          continue;
        }
        put(rest, stages, transfer, forward, backward + again, tail, inFlight);
      }
      keep(first, kind, used, rest, into);
    }
  }

  /** Writes the numbers with a stage before {@code rest}. */
  private void put(
      Label rest,
      int stages,
      Transfer transfer,
      double forward,
      double backward,
      double tail,
      int inFlight) {
    System.arraycopy(rest.numbers, 0, scratch, 0, scratch.length);
    if (stages > 0) {
      double there = transfer.there(rest.first);
      double back = transfer.back(rest.first);
      formula.transfer(scratch, 0, there, back, round.microBatches, 0);
    }
    formula.stage(scratch, 0, forward, backward, tail, round.microBatches, inFlight, 0);
  }

  private double bound(int first, int used) {
    if (first == 0) {
      return formula.seconds(scratch, 0);
    }
    double slowest = work[first] / (round.devices - used);
    return formula.bound(scratch, 0, slowest, path[first], round.microBatches);
  }

  private static double tail(
      Collectives data, StageCosts part, int first, int end, double slowdown) {
    double bytes = part.gradientBytes()[end] - part.gradientBytes()[first];
    double update = part.updateSeconds()[end] - part.updateSeconds()[first];
    return data.allReduce(bytes) + update * slowdown;
  }

  private void keep(int first, int kind, int used, Label rest, List<@Nullable List<Label>> into) {
    if (first == 0) {
      double seconds = formula.seconds(scratch, 0);
      if (seconds < limit) {
        limit = seconds;
        best = new Label(scratch.clone(), first, kind, used, seconds, rest);
      }
      return;
    }
    double bound = bound(first, used);
    if (bound >= limit) {
      return;
    }
    if (--budget < 0) {
      exhaustive = false;
      return;
    }
    int place = (used * (layers + 1) + first) * round.degrees.length + kind;
    @Nullable List<Label> known = into.get(place);
    if (known == null) {
      known = new ArrayList<>(2);
      into.set(place, known);
    }
    insert(known, new Label(scratch.clone(), first, kind, used, bound, rest));
  }

  private void insert(List<Label> alike, Label made) {
    for (Label other : alike) {
      if (dominates(other.numbers, made.numbers)) {
        return;
      }
    }
    alike.removeIf(other -> dominates(made.numbers, other.numbers));
    alike.add(made);
    if (alike.size() > beam) {
      Label worst = made;
      for (Label other : alike) {
        worst = other.bound > worst.bound ? other : worst;
      }
      alike.remove(worst);
    }
  }

  private static boolean dominates(double[] a, double[] b) {
    for (int i = 0; i < a.length; i++) {
      if (a[i] > b[i]) {
        return false;
      }
    }
    return true;
  }

  private Candidate plan(Label label) {
    List<Label> stages = new ArrayList<>();
    for (@Nullable Label at = label; at != null && at.kind >= 0; at = at.rest) {
      stages.add(at);
    }
    return round.plan(
        stages.stream().mapToInt(Label::first).toArray(),
        stages.stream().mapToInt(Label::kind).toArray(),
        cap);
  }
}
