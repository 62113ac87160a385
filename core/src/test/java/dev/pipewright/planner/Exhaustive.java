package dev.pipewright.planner;

import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.CostModel;
import dev.pipewright.cost.Oracle;
import dev.pipewright.cost.StageCost;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.model.Chain;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.planner.Request.Shape;
import dev.pipewright.planner.recompute.EveryChoice;
import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.schedule.PipelinePolicy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Tries every plan there is, on every set of devices, and has an oracle assess each: the referee of
 * {@link DapplePlanner}. Knows nothing of its bounds, labels and symmetries.
 */
final class Exhaustive {
  private final Request request;
  private final Oracle oracle;
  private final boolean repo;
  private final int devices;
  private final Chain chain;
  private double seconds = Double.POSITIVE_INFINITY;
  private Optional<PipelinePlan> plan = Optional.empty();
  private long assessed;
  private Consumer<PipelinePlan> seen = considered -> {};
  private final Map<List<Object>, Optional<StagePlan>> fastest = new HashMap<>(); // by stage

  // the wave that is being tried
  private int copies;
  private int microBatch;
  private int microBatches;

  /** A run of positions on a set of devices, as bits. */
  private record Piece(int first, int last, int devices) {}

  private Exhaustive(StageCosts costs, Request request) {
    this.request = request;
    this.oracle = request.costModel().oracle(costs, request.globalBatch());
    this.repo = request.costModel() == CostModel.DAPPLE_REPO;
    this.devices = costs.workload().cluster().size();
    this.chain = costs.workload().chain();
  }

  /** The best plan's step time; infinite where no plan fits. */
  record Answer(double seconds, Optional<PipelinePlan> plan, long assessed) {}

  static Answer best(StageCosts costs, Request request) {
    Exhaustive search = new Exhaustive(costs, request);
    search.waves();
    return new Answer(search.seconds, search.plan, search.assessed);
  }

  /** Shows all plans that are considered, whether they fit or not. */
  static void all(StageCosts costs, Request request, Consumer<PipelinePlan> seen) {
    Exhaustive search = new Exhaustive(costs, request);
    search.seen = seen;
    search.waves();
  }

  private void waves() {
    int global = request.globalBatch();
    int most = request.shape() == Shape.PIPELINE ? 1 : devices;
    for (copies = 1; copies <= most; copies++) {
      for (microBatch = 1; microBatch * copies <= global; microBatch++) {
        boolean allowed =
            request.microBatch().isPresent()
                ? microBatch == request.microBatch().getAsInt()
                : copies == 1;
        if (allowed && (repo || global % (microBatch * copies) == 0)) {
          microBatches = global / (microBatch * copies);
          extend(new ArrayList<>(), 0, 0);
        }
      }
    }
  }

  private void extend(List<Piece> pieces, int first, int used) {
    if (first == chain.size()) {
      if (request.stages().orElse(pieces.size()) == pieces.size()) {
        pieces(pieces);
      }
      return;
    }
    for (int last = first; last < chain.size(); last++) {
      if (first > 0 && !chain.precedes(first - 1, last)) {
        continue;
      }
      for (int set = 1; set < 1 << devices; set++) {
        int size = Integer.bitCount(set);
        boolean enoughSamples = repo || size <= copies * microBatch;
        boolean allowed = request.shape() != Shape.PIPELINE || size == 1;
        if ((set & used) == 0 && size % copies == 0 && enoughSamples && allowed) {
          pieces.add(new Piece(first, last, set));
          extend(pieces, last + 1, used | set);
          pieces.remove(pieces.size() - 1);
        }
      }
    }
  }

  private void pieces(List<Piece> pieces) {
    for (PipelinePolicy policy : repo ? List.of(PipelinePolicy.A) : request.policies()) {
      List<StagePlan> stages = new ArrayList<>();
      for (int s = 0; s < pieces.size(); s++) {
        stages.add(stage(pieces.get(s), Recompute.NONE, inFlight(policy, pieces.size(), s)));
      }
      PipelinePlan keeping =
          new PipelinePlan(policy, microBatches, microBatch, copies, false, stages);
      if (repo) {
        consider(keeping, oracle.assess(keeping));
      } else if (request.recomputation() == Recomputation.ALWAYS) {
        PipelinePlan again = keeping.with(stages.stream().map(Exhaustive::again).toList());
        consider(again, oracle.assess(again));
      } else {
        Assessment kept = oracle.assess(keeping);
        if (kept.fits()) {
          consider(keeping, kept);
        } else {
          recomputed(keeping, kept).ifPresent(some -> consider(some, oracle.assess(some)));
        }
      }
    }
  }

  private int inFlight(PipelinePolicy policy, int stages, int stage) {
    int later = stages - stage;
    return Math.min(microBatches, policy == PipelinePolicy.A ? later : 2 * later - 1);
  }

  private static StagePlan stage(Piece piece, Recompute recompute, int inFlight) {
    List<Integer> members = new ArrayList<>();
    for (int device = 0; device < Integer.SIZE; device++) {
      if ((piece.devices & 1 << device) != 0) {
        members.add(device);
      }
    }
    return new StagePlan(piece.first, piece.last, members, recompute, inFlight);
  }

  private static StagePlan again(StagePlan stage) {
    return stage.with(Recompute.STAGE_INPUT);
  }

  /** With recomputation where memory does not suffice; empty where the request wants none. */
  private Optional<PipelinePlan> recomputed(PipelinePlan keeping, Assessment kept) {
    List<StagePlan> stages = new ArrayList<>();
    for (int s = 0; s < keeping.stages().size(); s++) {
      StagePlan stage = keeping.stages().get(s);
      if (kept.stages().get(s).memory().fits()) {
        stages.add(stage);
        continue;
      }
      Optional<StagePlan> found =
          switch (request.recomputation()) {
            case NEVER, ALWAYS, ALWAYS_EXCEPT_LAST -> Optional.empty();
            case WHERE_NEEDED -> Optional.of(again(stage));
            case SELECTIVE -> fastest(keeping, s);
          };
      if (found.isEmpty()) {
        return Optional.empty();
      }
      stages.add(found.get());
    }
    return Optional.of(keeping.with(stages));
  }

  /** The stage with the fastest backward pass of all that fit, whatever layers run again. */
  private Optional<StagePlan> fastest(PipelinePlan keeping, int index) {
    StagePlan stage = keeping.stages().get(index);
    List<Object> key = List.of(stage, keeping.microBatching());
    Optional<StagePlan> known = fastest.get(key);
    if (known != null) {
      return known;
    }
    double[] least = {Double.POSITIVE_INFINITY};
    List<StagePlan> best = new ArrayList<>();
    EveryChoice.of(
        stage.lastLayer() - stage.firstLayer() + 1,
        runs -> {
          List<LayerRange> layers =
              runs.stream()
                  .map(run ->
                      new LayerRange(
                          stage.firstLayer() + run.first(), stage.firstLayer() + run.last()))
                  .toList();
          List<StagePlan> stages = new ArrayList<>(keeping.stages());
          stages.set(index, stage.selective(layers));
          StageCost cost = oracle.assess(keeping.with(stages)).stages().get(index);
          if (cost.memory().fits() && cost.backwardSeconds() < least[0]) {
            least[0] = cost.backwardSeconds();
            best.clear();
            best.add(stages.get(index));
          }
        });
    Optional<StagePlan> found = best.stream().findFirst();
    fastest.put(key, found);
    return found;
  }

  private void consider(PipelinePlan candidate, Assessment assessment) {
    seen.accept(candidate);
    assessed++;
    if ((repo || assessment.fits()) && assessment.stepSeconds() < seconds) {
      seconds = assessment.stepSeconds();
      plan = Optional.of(candidate);
    }
  }
}
