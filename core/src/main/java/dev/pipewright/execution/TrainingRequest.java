package dev.pipewright.execution;

import dev.pipewright.plan.Assignment;
import dev.pipewright.units.Check;
import dev.pipewright.units.Seconds;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * A training run.
 *
 * @param model a name of the zoo or a file
 * @param sequence tokens of a sample; the network's usual ones where empty
 * @param learning from which samples parameters are learned, and how
 * @param execution with what the assignment's workers run, and where
 * @param keeping what is kept in files, and gone on from
 */
public record TrainingRequest(
    String model,
    OptionalInt sequence,
    Assignment assignment,
    Learning learning,
    Execution execution,
    Keeping keeping) {
  /**
   * From which samples parameters are learned, and how.
   *
   * @param sharedStatistics whether batch normalisation takes its averages over all workers of a
   *     rank instead of each one's own samples
   * @param data which samples, such as {@code synthetic:images}; the runtime's {@code data} package
   *     says what there is
   * @param steps global batches
   * @param seed of parameters, synthetic samples and their order
   * @param evaluateEvery steps between two times that held-out samples are answered; 0 for never
   */
  public record Learning(
      UpdateRule rule,
      boolean sharedStatistics,
      String data,
      long steps,
      long seed,
      int evaluateEvery) {
    public Learning {
      Check.that(steps >= 1, "training takes a step or more: steps=%d", steps);
      Check.that(
          evaluateEvery >= 0,
          "held-out samples are answered every so many steps: every=%d",
          evaluateEvery);
    }

    /** Without held-out samples; each worker normalises with statistics of its own. */
    public Learning(UpdateRule rule, String data, long steps, long seed) {
      this(rule, false, data, steps, seed, 0);
    }

    /** The same for so many steps. */
    public Learning withSteps(long count) {
      return new Learning(rule, sharedStatistics, data, count, seed, evaluateEvery);
    }

    /** The same, which answers held-out samples every so many steps. */
    public Learning evaluatingEvery(int count) {
      return new Learning(rule, sharedStatistics, data, steps, seed, count);
    }
  }

  /**
   * With what the workers of a run compute, and where.
   *
   * @param workers how they run
   * @param computing with what each worker computes
   * @param machines on which they run
   * @param force whether to start although memory will probably run out
   * @param emulation with which workers take time instead of computing
   */
  public record Execution(
      Workers workers,
      Computing computing,
      Machines machines,
      boolean force,
      Optional<Emulation> emulation) {
    public Execution {
      Check.that(
          computing.device() == Device.CPU || workers == Workers.PROCESSES,
          "a process uses one GPU, so workers are processes: workers=%s",
          workers);
    }

    /** Of workers that compute, where memory suffices. */
    public Execution(Workers workers, Computing computing, Machines machines) {
      this(workers, computing, machines, false, Optional.empty());
    }

    /** On this machine, with one thread each. */
    public static Execution usual(Workers workers) {
      return new Execution(workers, Computing.USUAL, Machines.THIS_ONE);
    }

    /** The same on other machines. */
    public Execution on(Machines others) {
      return new Execution(workers, computing, others, force, emulation);
    }

    /** The same of workers that take these times instead of computing. */
    public Execution emulating(Emulation times) {
      return new Execution(workers, computing, machines, force, Optional.of(times));
    }

    /** The same with processes that return freed memory at once. */
    public Execution frugal() {
      Computing other = new Computing(computing.device(), computing.threads(), true);
      return new Execution(workers, other, machines, force, emulation);
    }
  }

  /**
   * What a run keeps in files.
   *
   * @param folder for logs, metrics and checkpoints, where any are wanted
   * @param checkpointEvery steps between two checkpoints; 0 for none
   * @param checkpoints how many of them are kept, the last ones
   * @param resumeFrom a checkpoint's folder to go on from, or one that holds checkpoints
   * @param restarted whether the folder may hold an earlier attempt of the same run
   */
  public record Keeping(
      Optional<String> folder,
      int checkpointEvery,
      int checkpoints,
      Optional<String> resumeFrom,
      boolean restarted) {
    /** Nothing is kept. */
    public static final Keeping NOTHING = new Keeping(Optional.empty(), 0, 1, Optional.empty());

    /** Those of a run's first attempt. */
    public Keeping(
        Optional<String> folder,
        int checkpointEvery,
        int checkpoints,
        Optional<String> resumeFrom) {
      this(folder, checkpointEvery, checkpoints, resumeFrom, false);
    }

    /** Those of a further attempt. */
    public Keeping restartedFrom(Optional<String> checkpoint) {
      return new Keeping(folder, checkpointEvery, checkpoints, checkpoint, true);
    }

    public Keeping {
      Check.that(
          checkpointEvery >= 0, "checkpoints come every so many steps: every=%d", checkpointEvery);
      Check.that(checkpoints >= 1, "the last checkpoint is kept: checkpoints=%d", checkpoints);
      Check.that(
          checkpointEvery == 0 || folder.isPresent(),
          "checkpoints are kept in a folder: there is none");
    }
  }

  /** What a worker is. */
  public enum Workers {
    /** A thread of this process: for looking on. */
    THREADS,
    /** A process of its own on this machine. */
    PROCESSES
  }

  /** What holds tensors and computes with them. */
  public enum Device {
    CPU,
    /** A GPU, of which a process uses one. */
    CUDA
  }

  /**
   * With what a worker computes.
   *
   * @param threads of the processor
   * @param frugal whether processes return freed memory at once: slower, but what is in memory then
   *     is in use
   */
  public record Computing(Device device, int threads, boolean frugal) {
    /** One thread, which is quick. */
    public static final Computing USUAL = new Computing(Device.CPU, 1, false);

    public Computing {
      Check.that(threads >= 1, "a worker computes with a thread or more: threads=%d", threads);
    }
  }

  /**
   * Where workers that are processes run: the first ones on this machine.
   *
   * @param elsewhere how many run on machines that join
   * @param port where these report; 0 for any free one
   * @param patience how long a worker may make no progress before it ends the run
   * @param grace how long a run may take to end by itself after an interrupt
   * @param rendezvous how other machines find this one where a launcher has started them all
   * @param certificates with which machines know each other, where there are any
   */
  public record Machines(
      int elsewhere,
      int port,
      Seconds patience,
      Seconds grace,
      Optional<Rendezvous> rendezvous,
      Optional<CertificateFiles> certificates) {
    /** Beyond what a step should take. */
    public static final Seconds USUAL_PATIENCE = new Seconds(60);

    /** With it, all ends within 5 s after an interrupt. */
    public static final Seconds USUAL_GRACE = new Seconds(3.5);

    /** All on this one. */
    public static final Machines THIS_ONE = new Machines(0, 0, USUAL_PATIENCE);

    public Machines {
      Check.that(
          elsewhere >= 0 && 0 <= port && port < 1 << 16,
          "so many workers report at a port: elsewhere=%d, port=%d",
          elsewhere,
          port);
      Check.positive(patience.value(), "the patience with a worker");
      Check.positive(grace.value(), "the time to end after an interrupt");
    }

    /** Machines that people have join, with a token of the run's own. */
    public Machines(int elsewhere, int port, Seconds patience) {
      this(elsewhere, port, patience, USUAL_GRACE, Optional.empty(), Optional.empty());
    }

    /** The same with certificates. */
    public Machines with(CertificateFiles files) {
      return new Machines(elsewhere, port, patience, grace, rendezvous, Optional.of(files));
    }

    /** The same with more patience. */
    public Machines after(double seconds) {
      return new Machines(
          elsewhere,
          port,
          new Seconds(patience.value() + seconds),
          grace,
          rendezvous,
          certificates);
    }

    /** The same with so many workers on other machines. */
    public Machines withElsewhere(int workers) {
      return new Machines(workers, port, patience, grace, rendezvous, certificates);
    }

    /** The same of an attempt after which another one may follow, or none. */
    public Machines again(boolean other) {
      return new Machines(
          elsewhere,
          port,
          patience,
          grace,
          rendezvous.map(known -> known.again(other)),
          certificates);
    }
  }

  /**
   * What all machines of a run have been given by their launcher.
   *
   * @param token the secret that lets them take part
   * @param patience how long they may take to join
   * @param again whether they join again after a failure, for another attempt
   */
  public record Rendezvous(String token, Seconds patience, boolean again) {
    public Rendezvous {
      Check.positive(patience.value(), "the patience with machines that join");
    }

    /** The same of an attempt after which another one may follow, or none. */
    public Rendezvous again(boolean other) {
      return new Rendezvous(token, patience, other);
    }

    @Override
    public String toString() {
      return "a rendezvous within " + patience;
    }
  }

  public TrainingRequest {
    int elsewhere = execution.machines().elsewhere();
    Check.that(
        elsewhere <= assignment.size(),
        "some of the workers run elsewhere: workers=%d, elsewhere=%d",
        assignment.size(),
        elsewhere);
  }

  /** Whether workers take time instead of computing. */
  public boolean emulates() {
    return execution.emulation().isPresent();
  }

  /** The same run of workers that take these times instead of computing. */
  public TrainingRequest emulating(Emulation times) {
    return with(execution.emulating(times));
  }

  /** The same run on other machines. */
  public TrainingRequest on(Machines others) {
    return with(execution.on(others));
  }

  private TrainingRequest with(Execution other) {
    return new TrainingRequest(model, sequence, assignment, learning, other, keeping);
  }

  /** The same run under another plan. */
  public TrainingRequest with(Assignment other) {
    Machines machines = execution.machines();
    Execution fewer =
        execution.on(machines.withElsewhere(Math.min(machines.elsewhere(), other.size())));
    return new TrainingRequest(model, sequence, other, learning, fewer, keeping);
  }

  /** The same run, which keeps other things. */
  public TrainingRequest keeping(Keeping other) {
    return new TrainingRequest(model, sequence, assignment, learning, execution, other);
  }

  /** So many steps of it to see what memory tensors need. */
  public TrainingRequest frugal(long count) {
    return new TrainingRequest(
        model, sequence, assignment, learning.withSteps(count), execution.frugal(), keeping);
  }
}
