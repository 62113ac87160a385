package dev.pipewright.predict.run;

import java.util.ArrayList;
import java.util.List;

/** Sends of a worker that are in flight; it holds their tensors until they have been sent. */
final class InFlightSends {
  private final List<Message> messages = new ArrayList<>();

  private record Message(double bytes, double start, double end) {
    /** As much as is still here. */
    double at(double time) {
      double share = end > start ? (end - time) / (end - start) : 1;
      return bytes * Math.clamp(share, 0, 1);
    }
  }

  /**
   * Something that its receiver asks for at a time and has at another, in seconds from the start of
   * all steps.
   */
  void add(double bytes, double start, double end) {
    messages.add(new Message(bytes, start, end));
  }

  /** Bytes that are still here. */
  double bytes(double time) {
    messages.removeIf(each -> each.end() <= time);
    return messages.stream().mapToDouble(each -> each.at(time)).sum();
  }
}
