package dev.pipewright.runtime.launch;

/** What a worker tells about itself. */
public interface Reporter {
  /** Tells the coordinator something, in one line or several; it arrives in order. */
  void event(String text);

  /** Where this worker says which op it is at, before it begins it. */
  FlightRecorder recorder();
}
