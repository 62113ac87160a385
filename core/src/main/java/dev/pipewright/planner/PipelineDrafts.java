package dev.pipewright.planner;

import dev.pipewright.cost.PipelineOracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.plan.ZeroStage;
import java.util.ArrayList;
import java.util.List;

/**
 * The grids of devices and micro-batches of a request's equal pipelines, before they are priced.
 */
final class PipelineDrafts {
  private final StageCosts costs;
  private final Request request;
  private final int chunks;
  private final PipelineOracle oracle;
  private final int[] path;

  /**
   * Of a request.
   *
   * @param chunks stages of each rank under the first schedule
   * @param path positions after which stages may end
   */
  PipelineDrafts(StageCosts costs, Request request, int chunks, PipelineOracle oracle, int[] path) {
    this.costs = costs;
    this.request = request;
    this.chunks = chunks;
    this.oracle = oracle;
    this.path = path;
  }

  /**
   * Those whose groups divide layers so.
   *
   * @param parallelism which the layers allow
   * @param sharding of states, where ranks have several replicas
   */
  List<PipelineDraft> of(Parallelism parallelism, List<ZeroStage> sharding) {
    List<PipelineDraft> drafts = new ArrayList<>();
    DividedWork work = new DividedWork(costs, oracle.part(parallelism, true), parallelism, path);
    PipelineBounds bounds = new PipelineBounds(costs, work, path, request.recomputation(), oracle);
    int devices = costs.workload().cluster().size();
    int groups = devices / parallelism.parts();
    boolean given = request.stages().isPresent();
    for (MicroBatching batching : MicroBatching.of(request, groups)) {
      for (int ranks = 1; ranks <= groups && ranks * chunks <= costs.size(); ranks++) {
        int replicas = groups / ranks;
        boolean uses = given || ranks * replicas * parallelism.parts() == devices;
        boolean pipeline = ranks > 1 || devices == 1 || parallelism.several();
        Grid grid = Grid.of(ranks, replicas, parallelism, chunks);
        if (uses
            && (pipeline || sharding.contains(ZeroStage.OPTIMIZER))
            && allows(grid, batching)) {
          drafts.addAll(of(grid, batching, work, bounds, sharding));
        }
      }
    }
    return drafts;
  }

  private boolean allows(Grid grid, MicroBatching batching) {
    boolean plain = request.shape().oneDevicePerStage();
    int replicas = grid.replicas();
    return request.allows(grid.ranks())
        && grid.suited(batching.samples()).equals(grid)
        && replicas % batching.unit() == 0
        && replicas <= batching.samples()
        && (!plain || (!grid.parallelism().several() && replicas == batching.unit()));
  }

  /** In each order of the devices, with each way to shard states. */
  private List<PipelineDraft> of(
      Grid grid,
      MicroBatching batching,
      DividedWork work,
      PipelineBounds bounds,
      List<ZeroStage> sharding) {
    List<PipelineDraft> drafts = new ArrayList<>();
    int ranks = grid.ranks();
    int replicas = grid.replicas();
    double capacity = costs.workload().cluster().mostMemory().value();
    LayerLoads loads = work.loads(StageCosts.slice(batching.samples(), replicas));
    for (ZeroStage states : grid.sums() ? sharding : List.of(ZeroStage.NOTHING)) {
      if (states == ZeroStage.PARAMETERS && ranks > 1) {
        continue; // gathered for each micro-batch of each rank
      }
      boolean holds = work.stateBytes(ranks, replicas, states, 1) <= capacity;
      for (Arrangement each : Arrangement.of(costs.workload().cluster(), ranks, replicas)) {
        Grid arranged = new Grid(ranks, replicas, grid.parallelism(), each, chunks, states);
        drafts.add(new PipelineDraft(arranged, batching, bounds, loads, holds));
      }
    }
    return drafts;
  }
}
