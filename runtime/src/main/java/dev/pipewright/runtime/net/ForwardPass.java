package dev.pipewright.runtime.net;

import dev.pipewright.runtime.tensor.Gradients;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;

/**
 * How one forward pass is made, and what it notes where the backward pass comes in two parts.
 *
 * <p>The gradient of a parameter needs the gradient of the output of the function that read it, and
 * that function's input. So a first part that gives the gradients of these outputs leaves to the
 * second what no other rank waits for: one product for each parameter (Qi et al., <i>Zero bubble
 * pipeline parallelism</i>, ICLR 2024, §2).
 */
public final class ForwardPass {
  private final boolean training;
  private final boolean inTwoParts;
  private final boolean again;
  private final SharedStatistics statistics;
  private final List<Use> uses = new ArrayList<>();
  private final List<Runnable> ends = new ArrayList<>();

  /** A function that read parameters, and the gradient of its output once that is known. */
  private static final class Use {
    private final Tensor output;
    private final List<Tensor> parameters;

    private Use(Tensor output, List<Tensor> parameters) {
      this.output = output;
      this.parameters = parameters;
    }
  }

  private ForwardPass(
      boolean training, boolean inTwoParts, boolean again, SharedStatistics statistics) {
    this.training = training;
    this.inTwoParts = inTwoParts;
    this.again = again;
    this.statistics = statistics;
  }

  /** A pass that is followed by a backward pass. */
  public static ForwardPass training(boolean inTwoParts, SharedStatistics statistics) {
    return new ForwardPass(true, inTwoParts, false, statistics);
  }

  /** A recomputation of this pass, whose activations were freed. */
  public static ForwardPass again(boolean inTwoParts, SharedStatistics statistics) {
    return new ForwardPass(true, inTwoParts, true, statistics);
  }

  /** A pass that only answers. */
  public static ForwardPass answering() {
    return new ForwardPass(false, false, false, SharedStatistics.OWN);
  }

  public boolean training() {
    return training;
  }

  /** Whether running averages learn from it: each micro-batch counts once. */
  boolean updatesAverages() {
    return training && !again;
  }

  /** The workers with which normalisations over samples share their averages. */
  public SharedStatistics statistics() {
    return statistics;
  }

  /** Notes that {@code output} was computed with these parameters, and hands it on. */
  public Tensor used(Tensor output, List<Parameter> parameters) {
    if (inTwoParts) {
      uses.add(new Use(output.shared(), parameters.stream().map(Parameter::value).toList()));
    }
    return output;
  }

  /** The outputs that were noted. */
  public List<Tensor> noted() {
    return uses.stream().map(use -> use.output).toList();
  }

  /** Adds the gradients of all noted parameters to them. */
  public void addWeightGradients(List<Tensor> gradientsOfNoted) {
    for (int i = uses.size() - 1; i >= 0; i--) {
      Use use = uses.get(i);
      Gradients.add(List.of(use.output), List.of(gradientsOfNoted.get(i)), use.parameters, false);
    }
  }

  /** Has something done when this pass and its backward pass are over. */
  void whenCleared(Runnable end) {
    ends.add(end);
  }

  /** Frees what was noted. The history of the pass must not be used any more. */
  public void clear() {
    ends.forEach(Runnable::run);
    ends.clear();
    uses.forEach(use -> use.output.close());
    uses.clear();
  }
}
