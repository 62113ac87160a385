package dev.pipewright.runtime.launch;

import java.util.Optional;

/**
 * What a worker says of itself when the coordinator asks for it, which it does all the time.
 *
 * @param places that it has been at so far
 * @param waitingFor the worker for which it waits, or {@link #NONE} or {@link #COORDINATOR}
 * @param processorMilliseconds that its process has used so far
 * @param place the last one; none while it starts
 */
record Pulse(long places, int waitingFor, long processorMilliseconds, Optional<Place> place) {
  /** It waits for none. */
  static final int NONE = -1;

  /** It waits for a word of the coordinator, such as its job, an answer or the end. */
  static final int COORDINATOR = -2;

  Message put(Message message) {
    message
        .with("places", places)
        .with("waiting_for", waitingFor)
        .with("processor_ms", processorMilliseconds);
    return Places.put(message, place);
  }

  static Pulse get(Message message) {
    return new Pulse(
        message.number("places"),
        (int) message.number("waiting_for"),
        message.number("processor_ms"),
        Places.get(message));
  }

  boolean waits() {
    return waitingFor != NONE;
  }
}
