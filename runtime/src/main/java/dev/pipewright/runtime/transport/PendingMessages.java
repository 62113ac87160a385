package dev.pipewright.runtime.transport;

import java.util.List;

/** Several messages that are one operation, and what is left to do when they have arrived. */
final class PendingMessages implements Pending {
  private final List<Pending> messages;
  private final Runnable end;
  private boolean ended;

  PendingMessages(List<Pending> messages, Runnable end) {
    this.messages = messages;
    this.end = end;
  }

  @Override
  public boolean done() {
    return ended || messages.stream().allMatch(Pending::done);
  }

  @Override
  public void await() {
    if (!ended) {
      messages.forEach(Pending::await);
      end.run();
      ended = true;
    }
  }
}
