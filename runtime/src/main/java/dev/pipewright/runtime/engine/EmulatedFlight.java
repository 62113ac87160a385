package dev.pipewright.runtime.engine;

import dev.pipewright.execution.Emulation;
import dev.pipewright.execution.Emulation.LayerSeconds;
import dev.pipewright.runtime.engine.Stage.OwnSegment;
import dev.pipewright.runtime.net.Part;
import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntConsumer;
import java.util.function.ToDoubleFunction;

/** Takes the time of a micro-batch on a stage; the tensors that it sends mean nothing. */
final class EmulatedFlight implements Flight {
  private final Stage stage;
  private final Emulation emulation;
  private final int samples;
  private boolean recomputed; // or kept

  EmulatedFlight(Stage stage, Emulation emulation, int samples, boolean keeps) {
    this.stage = stage;
    this.emulation = emulation;
    this.samples = samples;
    this.recomputed = keeps;
  }

  @Override
  public List<Tensor> forward(List<Tensor> inputs) {
    inputs.forEach(Tensor::close);
    Pause.of(emulation.seconds(stage.range(), LayerSeconds::forward));
    List<Tensor> outputs = new ArrayList<>();
    try (Scope scope = new Scope()) {
      for (int i = 0; i < stage.whole().outputs(); i++) {
        outputs.add(scope.keep(stage.whole().emptyOutput(i, samples)));
      }
    }
    return outputs;
  }

  @Override
  public List<Tensor> answer(List<Tensor> outputs) {
    return List.of();
  }

  @Override
  public void count(LiveBytes live) {
    // it holds nothing
  }

  @Override
  public boolean wantsRecomputation() {
    return stage.keepsInputOnly() && !recomputed;
  }

  @Override
  public void recompute() {
    recomputed = true;
    Pause.of(emulation.seconds(stage.range(), LayerSeconds::forward));
  }

  @Override
  public List<Tensor> backward(List<Tensor> gradients, IntConsumer left) {
    backward(LayerSeconds::backward, true, left);
    return gradientsOfInputs();
  }

  @Override
  public List<Tensor> backwardInput(List<Tensor> gradients) {
    backward(LayerSeconds::input, true, segment -> {});
    return gradientsOfInputs();
  }

  @Override
  public void backwardWeight(IntConsumer left) {
    backward(LayerSeconds::weight, false, left);
  }

  private void backward(ToDoubleFunction<LayerSeconds> of, boolean again, IntConsumer left) {
    for (int i = stage.segments().size() - 1; i >= 0; i--) {
      OwnSegment segment = stage.segments().get(i);
      double forward =
          again && segment.again() ? emulation.seconds(segment.range(), LayerSeconds::forward) : 0;
      Pause.of(forward + emulation.seconds(segment.range(), of));
      left.accept(i);
    }
  }

  private List<Tensor> gradientsOfInputs() {
    Part part = stage.whole();
    List<Tensor> gradients = new ArrayList<>();
    try (Scope scope = new Scope()) {
      for (int i = 0; i < part.inputs(); i++) {
        if (part.inputNeedsGradient(i)) {
          gradients.add(scope.keep(part.emptyInput(i, samples)));
        }
      }
    }
    return gradients;
  }

  @Override
  public void close() {
    // it holds nothing
  }
}
