package dev.pipewright.runtime.engine;

import dev.pipewright.runtime.net.Objective;
import dev.pipewright.runtime.net.Parameter;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.List;
import java.util.SequencedMap;
import java.util.Set;

/** One worker of a training run: it runs the program of its rank, step after step. */
public interface TrainingWorker extends AutoCloseable {
  /** The parameters of its stages, which may have no numbers between steps. */
  List<Parameter> parameters();

  /** The stages of a chain that it holds. */
  Set<Integer> stages();

  /**
   * All that training changes of a stage: parameters, running averages, and what the rule remembers
   * of each parameter, by names that are unique in the network. Of the workers that hold it, the
   * first one's averages count. Tensors are whole, also where those who compute a stage together
   * have pieces of them, or those who hold the same share it out: they all call it. What is put
   * together belongs to the scope that is open.
   */
  SequencedMap<String, Tensor> wholeState(int stage);

  /** Where whole tensors are read. */
  interface Source {
    Tensor read(String name, long... shape);
  }

  /** Replaces the state of a stage, or what this worker has of it, by what was written before. */
  void restore(int stage, Source source);

  /** What its tensors take up between steps. */
  long restingBytes();

  /** What its tensors take up now; asked for on its own thread, between ops. */
  LiveBytes live();

  /** Goes on behind so many steps, which gave the state that it has now. */
  void continueAfter(long steps);

  /**
   * Begins with steps that nothing comes between; all workers begin with the same ones.
   *
   * @param first of them
   */
  void begin(long first, int steps);

  /** Runs a step. */
  StepReport step(long step);

  /**
   * Answers samples without learning from them; all workers call it after the same step.
   *
   * @param samples read as those of step 0
   * @param count of them, at least one for each chain
   */
  EvaluationResult answer(Feed samples, int count, Objective objective);

  @Override
  void close();
}
