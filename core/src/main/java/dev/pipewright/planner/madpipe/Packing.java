package dev.pipewright.planner.madpipe;

import dev.pipewright.schedule.periodic.Discipline;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * Layers on any devices, neighbours or not, so that a period could suffice: first fit by decreasing
 * size in two dimensions, seconds and bytes.
 *
 * <p>Without transfers and activations that is all there is to it: any order of each device's
 * passes is part of a pattern (O. Beaumont et al., <i>Pipelined Model Parallelism</i>, Euro-Par
 * 2021, theorem 1). Otherwise a layer is taken to hold what the way to the end of the chain and
 * back asks for, which may be too little.
 */
final class Packing {
  /** Which layers are put first. */
  enum Order {
    SECONDS,
    BYTES,
    LARGER_SHARE
  }

  private final PeriodicProblem problem;
  private final Discipline discipline;

  Packing(PeriodicProblem problem, Discipline discipline) {
    this.problem = problem;
    this.discipline = discipline;
  }

  /** An allocation that the period may suffice for. */
  Optional<Allocation> allocation(double period, Order order) {
    LayerChain chain = problem.chain();
    int layers = chain.layers();
    double[] seconds = new double[layers];
    double[] bytes = new double[layers];
    for (int layer = 0; layer < layers; layer++) {
      seconds[layer] = chain.seconds(layer, layer + 1);
      double there = chain.seconds(layer, layers);
      int batches = (int) Math.max(1, Math.ceil(there / period - 1e-9));
      int held = discipline.held(batches, 1);
      bytes[layer] = chain.stateBytes(layer, layer + 1) + held * chain.keptBytes(layer);
    }
    double[] size = new double[layers];
    for (int layer = 0; layer < layers; layer++) {
      double time = seconds[layer] / period;
      double memory = bytes[layer] / Math.max(1, problem.capacityBytes());
      size[layer] =
          switch (order) {
            case SECONDS -> time;
            case BYTES -> memory;
            case LARGER_SHARE -> Math.max(time, memory);
          };
    }
    Integer[] turn = new Integer[layers];
    Arrays.setAll(turn, layer -> layer);
    Arrays.sort(turn, Comparator.comparingDouble((Integer layer) -> -size[layer]));
    return packed(List.of(turn), seconds, bytes, period);
  }

  private Optional<Allocation> packed(
      List<Integer> turn, double[] seconds, double[] bytes, double period) {
    double[] busy = new double[problem.devices()];
    double[] full = new double[problem.devices()];
    int[] devices = new int[turn.size()];
    for (int layer : turn) {
      int device = 0;
      while (device < busy.length
          && (busy[device] + seconds[layer] > period * (1 + 1e-12)
              || full[device] + bytes[layer] > problem.capacityBytes())) {
        device++;
      }
      if (device == busy.length) {
        return Optional.empty();
      }
      busy[device] += seconds[layer];
      full[device] += bytes[layer];
      devices[layer] = device;
    }
    return Optional.of(Allocation.of(problem, devices));
  }
}
