package dev.pipewright.runtime.launch;

/** A worker's reports about itself. */
public interface Reporter {
  /** Tells the coordinator something, in one line or several; it arrives in order. */
  void event(String text);

  /** Asks the coordinator something and waits for its answer. */
  String ask(String question);

  /** Whether the run is to end early. */
  LastStep lastStep();

  /** Records each op of this worker before it begins. */
  FlightRecorder recorder();
}
