package dev.pipewright.runtime.launch;

import dev.pipewright.execution.TrainingRequest.Computing;
import org.jspecify.annotations.Nullable;

/** A worker as the {@link WorkerGroup} knows it. */
final class Member {
  static final long UNKNOWN = Long.MIN_VALUE;

  /** Another machine. */
  static final class Host {
    static final int UNRANKED = -1;

    final Control control;
    final String name;
    final int slots;
    final int rank; // among the machines of a launcher
    boolean gone;

    Host(Control control, String name, int slots, int rank) {
      this.control = control;
      this.name = name;
      this.slots = slots;
      this.rank = rank;
    }

    /** Has it start its workers, which are numbered from {@code first} on. */
    void start(int first, Launch.Resources resources) {
      Computing computing = resources.computing();
      control.send(
          Message.of("start")
              .with("first", first)
              .with("count", slots)
              .with("heap", resources.heapMegabytes())
              .with("device", computing.device().name())
              .with("threads", computing.threads())
              .with("frugal", computing.frugal() ? 1 : 0)
              .with("apart", resources.apart() ? 1 : 0));
    }
  }

  final int number;
  final ClockOffset clock = new ClockOffset();
  @Nullable Host host; // none for this machine
  @Nullable Control control; // once it has come
  String entrance = ""; // its address, once it is open
  boolean communication;
  boolean failed;
  boolean done;
  long begun = UNKNOWN; // its step when it was held

  Member(int number) {
    this.number = number;
  }

  /** Sends it something, if it is there. */
  void tell(Message message) {
    if (control != null) {
      control.send(message);
    }
  }
}
