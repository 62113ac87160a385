package dev.pipewright.runtime.launch;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.UnaryOperator;

/** Keeps what a worker tells and asks, in order; of what it is not made for there is a failure. */
public final class KeptEvents implements Reporter {
  private final List<String> texts = Collections.synchronizedList(new ArrayList<>());
  private final UnaryOperator<String> shortened;

  /**
   * @param shortened what is kept of an event
   */
  public KeptEvents(UnaryOperator<String> shortened) {
    this.shortened = shortened;
  }

  public List<String> texts() {
    return texts;
  }

  @Override
  public void event(String text) {
    texts.add(shortened.apply(text));
  }

  /** Answers with the question. */
  @Override
  public String ask(String question) {
    texts.add(question);
    return question;
  }

  @Override
  public LastStep lastStep() {
    throw new AssertionError("nobody ends this run early");
  }

  @Override
  public FlightRecorder recorder() {
    throw new AssertionError("nobody looks where this worker is");
  }
}
