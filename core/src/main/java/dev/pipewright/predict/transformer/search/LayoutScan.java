package dev.pipewright.predict.transformer.search;

import dev.pipewright.predict.transformer.MeshTerms;
import dev.pipewright.predict.transformer.StepEvaluator;
import dev.pipewright.predict.transformer.ZeroChoice;
import org.jspecify.annotations.Nullable;

/**
 * Evaluates every layout of the meshes that it is given and keeps the best ten, the front and the
 * heat map. Layouts that do not fit are counted without their seconds. Each thread has a scan of
 * its own; {@link #add(LayoutScan)} joins them, in any order with the same result. The loop
 * allocates nothing.
 */
final class LayoutScan {
  private final SearchSpace space;
  private final BestLayouts best = new BestLayouts();
  private final LayoutFront front;
  private final HeatCells heat;
  private final int[] zero; // indices of choices
  private final int[] offload;
  private final boolean[] full; // choices of ZeRO whose state alone does not fit
  private long valid;
  private long unfit;
  private @Nullable StepEvaluator evaluator; // of the first mesh

  LayoutScan(SearchSpace space) {
    this.space = space;
    this.front = new LayoutFront(space.machine().memoryBytes());
    this.heat = new HeatCells(space.values());
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
    for (int z = 0; z < mesh.zeros(); z++) {
      full[z] = !terms.holds(terms.leastBytes(zero[z]));
    }
    for (int choice = 0; choice < mesh.choices(); choice++) {
      for (int size = 0; size < mesh.sizes(); size++) {
        step.move(terms, mesh.microBatch(choice, size), mesh.batches(size));
        microBatch(step, mesh, mesh.number(choice, size));
      }
    }
  }

  /** All choices of ZeRO and offloading of one micro-batch. */
  private void microBatch(StepEvaluator step, SearchMesh mesh, long number) {
    int offloads = mesh.offloads();
    double least = Double.POSITIVE_INFINITY;
    double itsBytes = 0;
    long its = 0;
    valid += mesh.layoutsOfMicroBatch();
    for (int z = 0; z < mesh.zeros(); z++) {
      if (full[z]) {
        unfit += offloads;
        continue;
      }
      step.zero(zero[z]);
      if (!mesh.terms().holds(step.bytes(offload[offloads - 1]))) { // the fewest bytes
        unfit += offloads;
        continue;
      }
      long first = number + (long) z * offload.length;
      for (int o = 0; o < offloads; o++) {
        double bytes = step.bytes(offload[o]);
        if (!mesh.terms().holds(bytes)) {
          unfit++;
          continue;
        }
        double seconds = step.seconds(offload[o]);
        if (seconds < least) {
          least = seconds;
          itsBytes = bytes;
          its = first + o;
        }
        if (front.mayTake(seconds, bytes)) {
          front.add(seconds, bytes, first + o);
        }
      }
    }
    if (least < Double.POSITIVE_INFINITY) {
      heat.add(mesh.heatCell(), least, itsBytes, its);
      if (least <= best.bar()) {
        best.add(least, itsBytes, its);
      }
    }
  }

  void add(LayoutScan that) {
    best.add(that.best);
    front.add(that.front);
    heat.add(that.heat);
    valid += that.valid;
    unfit += that.unfit;
  }

  LayoutSurvey survey() {
    return new LayoutSurvey(
        space,
        new SearchCount(valid, unfit, 0),
        best.ranked(space),
        front.ranked(space),
        heat.cells(space));
  }
}
