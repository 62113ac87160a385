package dev.pipewright.runtime.launch;

import java.util.Optional;

/** A {@link Place} as part of a message. */
final class Places {
  private Places() {}

  static Message put(Message message, Optional<Place> place) {
    place.ifPresent(at ->
        message
            .with("step", at.step())
            .with("position", at.position())
            .with("op", String.valueOf(at.op()))
            .with("stage", at.stage())
            .with("micro_batch", at.microBatch()));
    return message;
  }

  static Optional<Place> get(Message message) {
    if (message.text("op").isEmpty()) {
      return Optional.empty();
    }
    return Optional.of(
        new Place(
            message.number("step"),
            (int) message.number("position"),
            message.text("op").charAt(0),
            (int) message.number("stage"),
            (int) message.number("micro_batch")));
  }
}
