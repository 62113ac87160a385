package dev.pipewright.runtime.launch;

import dev.pipewright.execution.TrainingRequest.Computing;
import dev.pipewright.units.Check;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/**
 * What to start.
 *
 * @param workers in all
 * @param here how many of them on this machine, the first ones; the others join
 * @param task the name of the {@link WorkerTask} class that each runs
 * @param job what the task is told
 * @param logs the folder for what each worker prints: {@code rank-0.log} and so on; without one it
 *     is gone when the run ends
 */
public record Launch(
    int workers,
    int here,
    String task,
    String job,
    Optional<Path> logs,
    Ports ports,
    Resources resources,
    Patience patience) {
  public Launch {
    Check.that(
        workers >= 1 && 0 <= here && here <= workers,
        "some of the workers are here: workers=%d, here=%d",
        workers,
        here);
  }

  /**
   * On this machine; 0 for any free one.
   *
   * @param control where workers report
   * @param store where worker 0 keeps the {@link dev.pipewright.runtime.transport.AddressBook}
   */
  public record Ports(int control, int store) {
    public static final Ports ANY = new Ports(0, 0);
  }

  /**
   * What each worker may use.
   *
   * @param heapMegabytes for Java's objects; tensors are not among them
   * @param apart whether each computes on processors of its own, where there are enough
   */
  public record Resources(int heapMegabytes, Computing computing, boolean apart) {
    public static final Resources USUAL = new Resources(256, Computing.USUAL, true);
  }

  /**
   * How long something may take.
   *
   * @param start until a worker comes after its start
   * @param join until other machines have joined
   * @param interrupt until the run ends by itself after an interrupt
   */
  public record Patience(Duration start, Duration join, Duration interrupt) {
    public static final Patience USUAL =
        new Patience(Duration.ofMinutes(2), Duration.ofMinutes(10), Duration.ZERO);

    public Patience afterInterrupt(Duration patience) {
      return new Patience(start, join, patience);
    }
  }

  /** All on this machine, with the usual for the rest. */
  public static Launch of(int workers, String task, String job, Optional<Path> logs) {
    return new Launch(
        workers, workers, task, job, logs, Ports.ANY, Resources.USUAL, Patience.USUAL);
  }

  public Launch withHere(int count) {
    return new Launch(workers, count, task, job, logs, ports, resources, patience);
  }

  public Launch with(Ports other) {
    return new Launch(workers, here, task, job, logs, other, resources, patience);
  }

  public Launch with(Resources other) {
    return new Launch(workers, here, task, job, logs, ports, other, patience);
  }

  public Launch with(Patience other) {
    return new Launch(workers, here, task, job, logs, ports, resources, other);
  }
}
