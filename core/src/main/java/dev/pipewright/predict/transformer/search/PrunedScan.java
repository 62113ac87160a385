package dev.pipewright.predict.transformer.search;

import dev.pipewright.predict.transformer.MeshTerms;
import dev.pipewright.predict.transformer.StepEvaluator;
import dev.pipewright.predict.transformer.ZeroChoice;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Finds the ten layouts that {@link LayoutScan} finds, without evaluating those that cannot be
 * among them.
 *
 * <p>What is left out, and why it is safe. A layout is left out for its time only where a lower
 * bound of its seconds is above the tenth best so far, and the tenth best never rises.
 *
 * <ul>
 *   <li>A mesh: by {@link MeshTerms#leastSeconds}.
 *   <li>A micro-batch: by {@link StepEvaluator#leastSeconds}, for all its choices of ZeRO and
 *       offloading.
 *   <li>A choice of ZeRO of a mesh: where {@link MeshTerms#leastBytes} does not fit.
 *   <li>Offloading more layers than the fewest that fit: it takes no less time and is on no list,
 *       because a list has only the best of a micro-batch and, of equals, the one with the least
 *       number.
 *   <li>Larger micro-batches than one that does not fit even with everything offloaded. Of one
 *       choice, a micro-batch of b samples keeps b · min(B/(d·b), f) = min(B/d, b · f) samples'
 *       activations of a rank's layers, f being the most that the schedule has in flight, and
 *       everything else that waits grows with b: bytes never fall with b. A share of 1e-9 covers
 *       rounding.
 * </ul>
 */
final class PrunedScan {
  private static final double ROUNDING = 1 + 1e-9;

  private final SearchSpace space;
  private final BestLayouts best = new BestLayouts();
  private final int[] zero; // indices of choices
  private final int[] offload;
  private final boolean[] full; // choices of ZeRO of which no larger micro-batch fits
  private long valid;
  private long unfit;
  private long pruned;
  private @Nullable StepEvaluator evaluator; // of the first mesh

  PrunedScan(SearchSpace space) {
    this.space = space;
    this.zero = space.zeroChoices().stream().mapToInt(ZeroChoice::index).toArray();
    this.offload = space.values().offload().stream().mapToInt(Integer::intValue).toArray();
    this.full = new boolean[zero.length];
  }

  void add(SearchMesh mesh) {
    MeshTerms terms = mesh.terms();
    StepEvaluator step = evaluator;
    if (step == null) {
      step = new StepEvaluator(terms, mesh.microBatch(0, 0), mesh.batches(0));
      evaluator = step;
    }
    long layouts = mesh.layoutsOfMicroBatch();
    valid += layouts * mesh.choices() * mesh.sizes();
    if (mesh.leastSeconds() > best.bar()) {
      pruned += layouts * mesh.choices() * mesh.sizes();
      return;
    }
    for (int choice = 0; choice < mesh.choices(); choice++) {
      for (int z = 0; z < mesh.zeros(); z++) {
        full[z] = !terms.holds(terms.leastBytes(zero[z]));
      }
      for (int size = 0; size < mesh.sizes(); size++) {
        step.move(terms, mesh.microBatch(choice, size), mesh.batches(size));
        if (step.leastSeconds() > best.bar()) {
          pruned += layouts;
        } else {
          microBatch(step, mesh, mesh.number(choice, size));
        }
      }
    }
  }

  private void microBatch(StepEvaluator step, SearchMesh mesh, long number) {
    int offloads = mesh.offloads();
    double least = Double.POSITIVE_INFINITY;
    double itsBytes = 0;
    long its = 0;
    for (int z = 0; z < mesh.zeros(); z++) {
      if (full[z]) {
        pruned += offloads;
        continue;
      }
      step.zero(zero[z]);
      double fewest = step.bytes(offload[offloads - 1]);
      if (!mesh.terms().holds(fewest)) {
        full[z] = !mesh.terms().holds(fewest / ROUNDING);
        unfit++;
        pruned += offloads - 1;
        continue;
      }
      int o = 0;
      while (!mesh.terms().holds(step.bytes(offload[o]))) {
        o++;
      }
      unfit += o;
      pruned += offloads - o - 1;
      double seconds = step.seconds(offload[o]);
      if (seconds < least) {
        least = seconds;
        itsBytes = step.bytes(offload[o]);
        its = number + (long) z * offload.length + o;
      }
    }
    if (least <= best.bar() && least < Double.POSITIVE_INFINITY) {
      best.add(least, itsBytes, its);
    }
  }

  void add(PrunedScan that) {
    best.add(that.best);
    valid += that.valid;
    unfit += that.unfit;
    pruned += that.pruned;
  }

  LayoutSurvey survey() {
    return new LayoutSurvey(
        space, new SearchCount(valid, unfit, pruned), best.ranked(space), List.of(), List.of());
  }
}
