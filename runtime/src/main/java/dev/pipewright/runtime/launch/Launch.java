package dev.pipewright.runtime.launch;

import dev.pipewright.units.Check;
import java.nio.file.Path;
import java.time.Duration;

/**
 * What to start.
 *
 * @param workers in all
 * @param here how many of them on this machine, the first ones; the others join
 * @param task the name of the {@link WorkerTask} class that each runs
 * @param job what the task is told
 * @param logs the folder for what each worker prints: {@code rank-0.log} and so on
 * @param port where workers report; 0 for any free one
 * @param storePort where worker 0 keeps the {@link dev.pipewright.runtime.transport.AddressBook}; 0
 *     for any free one
 * @param heapMegabytes of each worker for Java's objects; tensors are not among them
 * @param threads with which each computes
 * @param startPatience how long a worker may take to come after its start
 * @param joinPatience how long other machines may take to join
 * @param interruptPatience how long the run may take to end by itself after an interrupt
 */
public record Launch(
    int workers,
    int here,
    String task,
    String job,
    Path logs,
    int port,
    int storePort,
    int heapMegabytes,
    int threads,
    Duration startPatience,
    Duration joinPatience,
    Duration interruptPatience) {
  public Launch {
    Check.that(
        workers >= 1 && 0 <= here && here <= workers,
        "some of the workers are here: workers=%d, here=%d",
        workers,
        here);
  }

  /** All on this machine, with the usual for the rest. */
  public static Launch of(int workers, String task, String job, Path logs) {
    return new Launch(
        workers,
        workers,
        task,
        job,
        logs,
        0,
        0,
        256,
        1,
        Duration.ofMinutes(2),
        Duration.ofMinutes(10),
        Duration.ZERO);
  }

  public Launch withHere(int count) {
    return new Launch(
        workers,
        count,
        task,
        job,
        logs,
        port,
        storePort,
        heapMegabytes,
        threads,
        startPatience,
        joinPatience,
        interruptPatience);
  }

  public Launch withPorts(int control, int store) {
    return new Launch(
        workers,
        here,
        task,
        job,
        logs,
        control,
        store,
        heapMegabytes,
        threads,
        startPatience,
        joinPatience,
        interruptPatience);
  }

  public Launch withHeap(int megabytes) {
    return new Launch(
        workers,
        here,
        task,
        job,
        logs,
        port,
        storePort,
        megabytes,
        threads,
        startPatience,
        joinPatience,
        interruptPatience);
  }

  public Launch withThreads(int count) {
    return new Launch(
        workers,
        here,
        task,
        job,
        logs,
        port,
        storePort,
        heapMegabytes,
        count,
        startPatience,
        joinPatience,
        interruptPatience);
  }

  public Launch withPatience(Duration start, Duration join) {
    return new Launch(
        workers,
        here,
        task,
        job,
        logs,
        port,
        storePort,
        heapMegabytes,
        threads,
        start,
        join,
        interruptPatience);
  }

  public Launch withInterruptPatience(Duration patience) {
    return new Launch(
        workers,
        here,
        task,
        job,
        logs,
        port,
        storePort,
        heapMegabytes,
        threads,
        startPatience,
        joinPatience,
        patience);
  }
}
