package dev.pipewright.exchange;

import dev.pipewright.model.Chain;
import dev.pipewright.model.TiedTable;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.units.Precision;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A run of a stage's layers whose history is apart, so that the backward pass goes from one to the
 * next. The gradients of a segment are complete when the pass has left it, and a segment may be
 * computed again on its own. All workers that hold a stage cut it at the same places.
 *
 * @param range positions in the network's chain
 * @param again whether it is computed again for the backward pass
 */
public record Segment(LayerRange range, boolean again) {
  /**
   * Parameters that are got at once where each worker has its part of them only: those of so many
   * layers, or of one that has more.
   */
  public static final long GATHERED_BYTES = 1L << 20;

  /**
   * Parameters that are updated at once where the backward pass does so, while their gradients are
   * still in the processor's caches: those of so many layers, or of one that has more.
   */
  public static final long UPDATED_BYTES = 1L << 20;

  /** Gradients that are summed at once: what PyTorch's data parallelism takes, too. */
  public static final long BUCKET_BYTES = 25L << 20;

  /** Finds the segments of a stage. */
  private record Cutting(
      Chain chain, List<TiedTable> tables, StageLayers layers, long bytes, boolean withFollowing) {
    private List<Segment> all() {
      List<Segment> segments = new ArrayList<>();
      LayerRange range = layers.range();
      int first = range.first();
      while (first <= range.last()) {
        Optional<LayerRange> run = again(first);
        int from = first;
        int last = run.map(LayerRange::last).orElseGet(() -> end(from));
        segments.add(new Segment(new LayerRange(first, last), run.isPresent()));
        first = last + 1;
      }
      return segments;
    }

    private Optional<LayerRange> again(int first) {
      for (LayerRange run : layers.again()) { // for each layer of each plan: no stream
        if (run.first() == first) {
          return Optional.of(run);
        }
      }
      return Optional.empty();
    }

    /** The last layer of the segment that begins at {@code first}. */
    private int end(int first) {
      int last = layers.range().last();
      for (int at = first; at < last; at++) {
        boolean againNext = again(at + 1).isPresent();
        if ((againNext || bytes < Long.MAX_VALUE)
            && separates(first, at, last)
            && (againNext || bytes(first, at) >= bytes)
            && (againNext || !withFollowing || !takes(first, at, last))) {
          return at;
        }
      }
      return last;
    }

    /** Whether a run may take the position behind {@code at} too, and get no parameters by it. */
    private boolean takes(int first, int at, int last) {
      int next = at + 1;
      return separates(first, at, next)
          && (next == last || separates(first, next, last))
          && bytes(next, next) == 0;
    }

    /** Whether the layers from {@code first} to {@code last} fall in two behind {@code at}. */
    private boolean separates(int first, int at, int last) {
      return (first == 0 || chain.precedes(first - 1, at)) && chain.precedes(at, last);
    }

    /** Of whole parameters, so that all who compute a layer together cut at the same places. */
    private long bytes(int first, int at) {
      long numbers = 0;
      for (int layer : chain.layers(first - 1, at)) {
        numbers += chain.graph().layer(layer).parameters();
        for (TiedTable table : tables) {
          numbers += table.copyLayer() == layer ? table.numbers() : 0;
        }
      }
      return numbers * Precision.FP32.bytes();
    }
  }

  /**
   * Those of a stage of a chain whose steps end.
   *
   * @param bucketBytes of parameters after which a segment ends, where gradients are summed piece
   *     by piece
   */
  public static List<Segment> of(Assignment assignment, int depth, Chain chain, long bucketBytes) {
    ZeroStage sharding = assignment.sharding(depth);
    boolean overlapped = assignment.holderCount(depth) > 1 && assignment.overlapped();
    boolean inBuckets = overlapped || sharding.atLeast(ZeroStage.GRADIENTS);
    boolean elsewhere = sharding == ZeroStage.PARAMETERS;
    long together = assignment.updatesAhead() ? UPDATED_BYTES : Long.MAX_VALUE;
    long bucket = inBuckets ? bucketBytes : together;
    return new Cutting(
            chain,
            chain.graph().tiedTables(),
            assignment.stages().get(depth),
            elsewhere ? Math.min(bucket, GATHERED_BYTES) : bucket,
            elsewhere) // with layers that have no parameters, so that less is handed on
        .all();
  }

  /** Those of a stage that is cut only where something is computed again. */
  public static List<Segment> whole(StageLayers stage, Chain chain) {
    return new Cutting(chain, List.of(), stage, Long.MAX_VALUE, false).all();
  }
}
