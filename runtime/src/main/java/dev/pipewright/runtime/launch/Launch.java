package dev.pipewright.runtime.launch;

import dev.pipewright.execution.CertificateFiles;
import dev.pipewright.execution.TrainingRequest.Computing;
import dev.pipewright.units.Check;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * What to start.
 *
 * @param workers in all
 * @param here how many of them on this machine, the first ones; the others join
 * @param task the name of the {@link WorkerTask} class that each runs
 * @param job the task's input
 * @param logs the folder for what each worker prints: {@code rank-0.log} and so on; without one it
 *     is gone when the run ends
 * @param roles what each worker is for, such as {@code stage 1}, to name it before its first op;
 *     empty where that is not known
 * @param port where workers report; 0 for any free one
 * @param token that lets processes take part, where machines that join know it; a new one otherwise
 * @param certificates with which machines know each other, where the user has any
 * @param again whether machines that join are to do so again after a failure
 */
public record Launch(
    int workers,
    int here,
    String task,
    String job,
    Optional<Path> logs,
    List<String> roles,
    int port,
    Resources resources,
    Patience patience,
    Optional<String> token,
    Optional<CertificateFiles> certificates,
    boolean again) {
  public Launch {
    Check.that(
        workers >= 1 && 0 <= here && here <= workers,
        "some of the workers are here: workers=%d, here=%d",
        workers,
        here);
    Check.that(
        roles.isEmpty() || roles.size() == workers,
        "each worker has a role: workers=%d, roles=%d",
        workers,
        roles.size());
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
   * @param stall until a worker makes progress
   */
  public record Patience(Duration start, Duration join, Duration interrupt, Duration stall) {
    public static final Patience USUAL =
        new Patience(
            Duration.ofMinutes(2), Duration.ofMinutes(10), Duration.ZERO, Duration.ofMinutes(1));

    public Patience afterInterrupt(Duration patience) {
      return new Patience(start, join, patience, stall);
    }

    public Patience withStall(Duration patience) {
      return new Patience(start, join, interrupt, patience);
    }

    public Patience withJoin(Duration patience) {
      return new Patience(start, patience, interrupt, stall);
    }
  }

  /** All on this machine, with the usual for the rest. */
  public static Launch of(int workers, String task, String job, Optional<Path> logs) {
    return new Launch(
        workers,
        workers,
        task,
        job,
        logs,
        List.of(),
        0,
        Resources.USUAL,
        Patience.USUAL,
        Optional.empty(),
        Optional.empty(),
        false);
  }

  public Launch withHere(int count) {
    return new Launch(
        workers,
        count,
        task,
        job,
        logs,
        roles,
        port,
        resources,
        patience,
        token,
        certificates,
        again);
  }

  public Launch withPort(int other) {
    return new Launch(
        workers,
        here,
        task,
        job,
        logs,
        roles,
        other,
        resources,
        patience,
        token,
        certificates,
        again);
  }

  public Launch withRoles(List<String> others) {
    return new Launch(
        workers,
        here,
        task,
        job,
        logs,
        others,
        port,
        resources,
        patience,
        token,
        certificates,
        again);
  }

  public Launch with(Resources other) {
    return new Launch(
        workers, here, task, job, logs, roles, port, other, patience, token, certificates, again);
  }

  public Launch with(Patience other) {
    return new Launch(
        workers, here, task, job, logs, roles, port, resources, other, token, certificates, again);
  }

  /**
   * With a token that machines which join have been given.
   *
   * @param repeated whether they join again after a failure
   */
  public Launch withToken(String secret, boolean repeated) {
    return new Launch(
        workers,
        here,
        task,
        job,
        logs,
        roles,
        port,
        resources,
        patience,
        Optional.of(secret),
        certificates,
        repeated);
  }

  public Launch withCertificates(Optional<CertificateFiles> files) {
    return new Launch(
        workers, here, task, job, logs, roles, port, resources, patience, token, files, again);
  }

  /** Without the token, and without the job, which is long. */
  @Override
  public String toString() {
    return "%d workers of %s, %d of them here".formatted(workers, task, here);
  }
}
