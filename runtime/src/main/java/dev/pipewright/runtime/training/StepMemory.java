package dev.pipewright.runtime.training;

import dev.pipewright.runtime.engine.OpListener;
import dev.pipewright.runtime.engine.Worker;
import dev.pipewright.runtime.tensor.Torch;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * The most memory that tensors and what computes with them take up in a step.
 *
 * <p>A process holds more: Java's own part, the library's code, and freed memory that the C library
 * keeps for later. So a few steps are looked at closely. Before each of their ops all freed memory
 * is returned to the system; by how much the process was larger at some time than at the step's end
 * is what the step needed, in addition to what a worker holds between steps, which is counted.
 */
public final class StepMemory {
  private static final int MOST = 3; // steps that are looked at, of which the middle one counts

  private static final int CLOSELY = 32; // steps that flow, at most

  private final long first;
  private final long end;
  private final long closely; // the step after the last that is looked at closely
  private final boolean together; // whether they flow into one another
  private final List<Long> bytes = new ArrayList<>();

  private StepMemory(long first, long end, long closely, boolean together) {
    this.first = first;
    this.end = end;
    this.closely = closely;
    this.together = together;
  }

  /** Looks at no step. */
  public static StepMemory unseen() {
    return new StepMemory(0, 0, 0, false);
  }

  /**
   * Looks at some steps of the run's first half, whose duration does not count, but for the very
   * first; at the first one where there are no others.
   */
  public static StepMemory ofRun(long begin, long end) {
    long half = begin + (end - begin) / 2;
    long first = half - begin < 2 ? begin : begin + 1;
    long last = half - begin < 2 ? begin + 1 : Math.min(half, begin + 1 + MOST);
    return new StepMemory(first, last, last, false);
  }

  /**
   * Looks at steps that flow into one another, of which no single one has an end: at all of them as
   * one, and closely at some of the first half, whose duration does not count; at a single one,
   * too.
   */
  public static StepMemory ofFlow(long begin, int steps) {
    int closely = Math.clamp(steps / 2, 1, CLOSELY);
    return new StepMemory(begin, begin + steps, begin + closely, true);
  }

  private boolean looksAt(long step) {
    return first <= step && step < end;
  }

  /** Whether all freed memory is returned before each op of it, which makes it slower. */
  boolean looksCloselyAt(long step) {
    return looksAt(step) && step < closely;
  }

  /** Listens to a worker, too. */
  public OpListener beside(OpListener other) {
    return (step, position, op) -> {
      other.before(step, position, op);
      if (looksCloselyAt(step)) {
        Torch.giveBack();
      }
      if (looksAt(step) && position == 0 && (!together || step == first)) {
        ProcessMemory.forgetPeak();
      }
    };
  }

  /** Records the memory of a step that has ended. */
  public void over(long step, Worker worker) {
    if (looksAt(step) && (!together || step + 1 == end)) {
      long peak = ProcessMemory.peak();
      Torch.giveBack();
      bytes.add(worker.restingBytes() + Math.max(0, peak - ProcessMemory.now()));
    }
  }

  /** What a step took; 0 where none was seen. */
  public long bytes() {
    List<Long> sorted = new ArrayList<>(bytes);
    Collections.sort(sorted);
    return sorted.isEmpty() ? 0 : sorted.get(sorted.size() / 2);
  }
}
