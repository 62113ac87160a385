package dev.pipewright.runtime.engine;

import dev.pipewright.plan.Assignment;
import dev.pipewright.runtime.net.Parameter;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.List;
import java.util.SequencedMap;

/** A stage of an asynchronous pipeline on a worker. */
interface AsyncTraining extends OwnStage, AutoCloseable {
  List<Parameter> parameters();

  @Override
  default boolean inTwoParts() {
    return false;
  }

  @Override
  default void left(int segment) {
    // the sum of gradients is complete with the update's last micro-batch only
  }

  /** Goes on with what there is as the first version, for all ops of some steps. */
  void begin(Assignment all);

  /** Asks for what a turn gets from the one before. */
  void ask(int turn);

  /** Waits for all that was asked for; the op at this position of the program comes next. */
  void await(int position);

  /** A forward pass of a micro-batch. */
  void forward(int microBatch, Runnable pass);

  /** The backward pass of the oldest micro-batch that is under way. */
  void backward(int microBatch, Runnable pass);

  /** Begins to add up an update's gradients over all who hold the stage. */
  void reduce(int update);

  /** Brings the newest version up to date. */
  void update(int number);

  /** An op of the stage has ended; its position in the program. */
  void ended(int position);

  /** All ops have ended. */
  void finish();

  /** The stage as those compute it who only answer; made anew for each time that all answer. */
  OwnStage answering();

  /** All that training changes of it; nothing where another worker has that. */
  SequencedMap<String, Tensor> state();

  /** Goes on behind so many updates. */
  void continueAfter(long updates);

  /** What it takes up between steps. */
  long bytes();

  /** Adds what it holds. */
  void count(LiveBytes live);

  /** The versions of its parameters that there were here at once at most. */
  int versions();

  @Override
  void close();
}
