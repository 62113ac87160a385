package dev.pipewright.runtime.engine;

import dev.pipewright.runtime.engine.Stage.OwnSegment;
import dev.pipewright.runtime.net.ForwardPass;
import dev.pipewright.runtime.net.Part;
import dev.pipewright.runtime.net.SharedStatistics;
import dev.pipewright.runtime.tensor.Gradients;
import dev.pipewright.runtime.tensor.History;
import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * What a stage holds of a micro-batch from its forward pass to the end of its backward pass.
 * Gradients are added to the parameters themselves.
 */
final class InFlight implements Flight {
  private final long samples;
  private final Stage stage;
  private final StageParameters parameters;
  private final boolean inTwoParts;
  private final Optional<SharedStatistics> training;
  private final boolean forgets; // all but the stage's input, until the backward pass
  private final List<Tensor> data;
  private final Optional<Tensor> target; // closed with the answer
  private final Judge judge;
  private final Passed[] passed; // by segment

  /** Holds the network's outputs against what is right. */
  interface Judge {
    /** The gradients of the outputs; they live until they are closed. */
    List<Tensor> judge(List<Tensor> outputs, Tensor target);
  }

  /** A segment's forward pass. What is not there was given up or has not been computed yet. */
  private static final class Passed {
    private List<Tensor> inputs = List.of();
    private List<Tensor> outputs = List.of();
    private @Nullable ForwardPass pass;
    private List<Tensor> gradientsOfNoted = List.of();
    private boolean before; // whether it has been computed once
    private @Nullable Map<Long, Long> kept; // by its history, from the first question on

    private Map<Long, Long> kept() {
      Map<Long, Long> known = kept;
      if (known == null) {
        known = History.kept(outputs);
        kept = known;
      }
      return known;
    }

    private void close() {
      inputs.forEach(Tensor::close);
      outputs.forEach(Tensor::close);
      gradientsOfNoted.forEach(Tensor::close);
      if (pass != null) {
        pass.clear();
      }
      inputs = List.of();
      outputs = List.of();
      gradientsOfNoted = List.of();
      pass = null;
      kept = null;
    }
  }

  /**
   * @param samples of the pass
   * @param data of the samples, kept until the backward pass where the stage reads it; closed with
   *     this
   * @param target what is right, where the stage is the network's last
   * @param training statistics of its passes; none where no backward pass follows
   * @param keeps whether this micro-batch keeps all although others keep the stage's input only
   */
  InFlight(
      StageParameters own,
      long samples,
      List<Tensor> data,
      Optional<Tensor> target,
      Judge judge,
      Optional<SharedStatistics> training,
      boolean keeps) {
    this.samples = samples;
    this.stage = own.stage();
    this.parameters = own;
    this.data = data;
    this.target = target;
    this.judge = judge;
    this.inTwoParts = own.inTwoParts();
    this.training = training;
    this.forgets = training.isEmpty() || (stage.keepsInputOnly() && !keeps);
    this.passed = new Passed[stage.segments().size()];
    for (int i = 0; i < passed.length; i++) {
      passed[i] = new Passed();
    }
  }

  @Override
  public List<Tensor> forward(List<Tensor> inputs) {
    passed[0].inputs = leaves(stage.whole(), inputs);
    inputs.forEach(Tensor::close);
    return through(forgets);
  }

  @Override
  public List<Tensor> answer(List<Tensor> outputs) {
    List<Tensor> gradients = judge.judge(outputs, target.orElseThrow());
    target.get().close();
    return gradients;
  }

  @Override
  public void count(LiveBytes live) {
    live.add(LiveBytes.Kind.ACTIVATIONS, data);
    for (Passed segment : passed) {
      live.add(LiveBytes.Kind.ACTIVATIONS, segment.inputs);
      live.add(LiveBytes.Kind.ACTIVATIONS, segment.outputs);
      live.add(LiveBytes.Kind.ACTIVATIONS, segment.gradientsOfNoted);
      live.addKept(LiveBytes.Kind.ACTIVATIONS, segment.kept());
    }
  }

  @Override
  public boolean wantsRecomputation() {
    return forgets && passed[passed.length - 1].pass == null;
  }

  @Override
  public void recompute() {
    through(false).forEach(Tensor::close);
  }

  private List<Tensor> through(boolean forgetting) {
    List<Tensor> last = List.of();
    for (int i = 0; i < passed.length; i++) {
      OwnSegment segment = stage.segments().get(i);
      if (i > 0) {
        passed[i].inputs = leaves(segment.part(), last);
        last.forEach(Tensor::close);
      }
      come(i, i + 1);
      last = compute(i, !forgetting && !segment.again());
      parameters.leave(i);
      if (forgetting && i > 0) {
        passed[i].inputs.forEach(Tensor::close);
        passed[i].inputs = List.of();
      }
    }
    return last;
  }

  /** Has a segment's parameters here, and the next one's on their way. */
  private void come(int segment, int next) {
    parameters.need(segment);
    parameters.ahead(next);
  }

  /** The segment's outputs, which live until they are closed. */
  private List<Tensor> compute(int segment, boolean keep) {
    Passed own = passed[segment];
    Part part = stage.segments().get(segment).part();
    boolean noting = keep && inTwoParts;
    ForwardPass pass =
        training.map(with -> pass(own, noting, with)).orElseGet(ForwardPass::answering);
    own.before = true;
    List<Tensor> kept = new ArrayList<>();
    try (Scope scope = new Scope()) {
      List<Tensor> outputs =
          keep
              ? part.forward(own.inputs, data, samples, pass)
              : Gradients.without(() -> part.forward(own.inputs, data, samples, pass));
      outputs.forEach(output -> kept.add(scope.keep(output)));
    }
    if (keep) {
      own.pass = pass;
      own.kept = null;
      own.outputs = kept.stream().map(Tensor::shared).toList();
    }
    return kept;
  }

  /** Tensors of the same elements without history: leaves at which a part's gradients begin. */
  private static List<Tensor> leaves(Part part, List<Tensor> tensors) {
    List<Tensor> leaves = new ArrayList<>(tensors.size());
    for (int i = 0; i < tensors.size(); i++) {
      try (Scope scope = new Scope()) {
        Tensor leaf = scope.keep(tensors.get(i).detached());
        leaves.add(part.inputNeedsGradient(i) ? leaf.withGradient() : leaf);
      }
    }
    return leaves;
  }

  @Override
  public List<Tensor> backward(List<Tensor> gradients, IntConsumer left) {
    List<Tensor> coming = gradients;
    for (int i = passed.length - 1; i >= 0; i--) {
      come(i, i - 1);
      ensureComputed(i);
      Part part = stage.segments().get(i).part();
      List<Tensor> outputs = withGradient(part, passed[i].outputs);
      List<Tensor> before = new ArrayList<>();
      try (Scope scope = new Scope()) {
        if (!outputs.isEmpty()) {
          Gradients.add(outputs, coming);
        }
        for (int input = 0; input < part.inputs(); input++) {
          if (part.inputNeedsGradient(input)) {
            before.add(scope.keep(passed[i].inputs.get(input).gradient().orElseThrow()));
          }
        }
      }
      parameters.leave(i);
      closeBehind(i, coming);
      passed[i].close();
      left.accept(i);
      coming = before;
    }
    return coming;
  }

  @Override
  public List<Tensor> backwardInput(List<Tensor> gradients) {
    List<Tensor> coming = gradients;
    for (int i = passed.length - 1; i >= 0; i--) {
      come(i, i - 1);
      ensureComputed(i);
      List<Tensor> before = backwardInput(i, coming);
      parameters.leave(i);
      closeBehind(i, coming);
      coming = before;
    }
    return coming;
  }

  private List<Tensor> backwardInput(int segment, List<Tensor> coming) {
    Passed own = passed[segment];
    Part part = stage.segments().get(segment).part();
    List<Tensor> wanted = new ArrayList<>();
    for (int input = 0; input < part.inputs(); input++) {
      if (part.inputNeedsGradient(input)) {
        wanted.add(own.inputs.get(input));
      }
    }
    int inputs = wanted.size();
    wanted.addAll(pass(own).noted());
    List<Tensor> found = new ArrayList<>();
    try (Scope scope = new Scope()) {
      List<Tensor> outputs = withGradient(part, own.outputs);
      if (!outputs.isEmpty() && !wanted.isEmpty()) {
        Gradients.of(outputs, coming, wanted, true).forEach(t -> found.add(scope.keep(t)));
      }
    }
    own.gradientsOfNoted = List.copyOf(found.subList(inputs, found.size()));
    return List.copyOf(found.subList(0, inputs));
  }

  @Override
  public void backwardWeight(IntConsumer left) {
    for (int i = passed.length - 1; i >= 0; i--) {
      come(i, i - 1);
      try (Scope scope = new Scope()) {
        pass(passed[i]).addWeightGradients(passed[i].gradientsOfNoted);
      }
      parameters.leave(i);
      passed[i].close();
      left.accept(i);
    }
  }

  private static ForwardPass pass(Passed own, boolean noting, SharedStatistics statistics) {
    return own.before
        ? ForwardPass.again(noting, statistics)
        : ForwardPass.training(noting, statistics);
  }

  private static ForwardPass pass(Passed passed) {
    if (passed.pass == null) {
      throw new IllegalStateException("a backward pass without the forward pass before it");
    }
    return passed.pass;
  }

  private void ensureComputed(int segment) {
    if (passed[segment].pass == null) {
      compute(segment, true).forEach(Tensor::close);
    }
  }

  private static List<Tensor> withGradient(Part part, List<Tensor> outputs) {
    List<Tensor> chosen = new ArrayList<>();
    for (int i = 0; i < outputs.size(); i++) {
      if (part.outputHasGradient(i)) {
        chosen.add(outputs.get(i));
      }
    }
    return chosen;
  }

  /** Closes gradients that came from the next segment; those of the last are not ours. */
  private void closeBehind(int segment, List<Tensor> coming) {
    if (segment + 1 < passed.length) {
      coming.forEach(Tensor::close);
    }
  }

  @Override
  public void close() {
    for (Passed segment : passed) {
      segment.close();
    }
    data.forEach(Tensor::close);
  }
}
