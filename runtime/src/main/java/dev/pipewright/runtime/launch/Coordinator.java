package dev.pipewright.runtime.launch;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.runtime.wire.Tls;
import java.net.ProtocolException;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Starts the workers of a {@link Launch}, hears from them and stops them: all, as soon as one
 * fails.
 *
 * <pre>{@code
 * try (Coordinator coordinator = new Coordinator(launch)) {
 *   coordinator.run((worker, text) -> …);
 * }
 * }</pre>
 */
public final class Coordinator implements AutoCloseable {
  private static final long TICK_MILLISECONDS = 100;
  private static final long FAREWELL_NANOSECONDS = 5_000_000_000L;

  /** Hears from workers, in the thread of {@link #run}. */
  public interface Listener {
    /**
     * A worker reports something.
     *
     * @throws ProtocolException when it is no report; the worker then fails with it
     */
    void event(int worker, String text) throws ProtocolException;

    /**
     * A worker asks something and waits for the answer.
     *
     * @param answer may be called later, in the same thread
     * @throws ProtocolException when it is no question that has an answer
     */
    default void question(int worker, String text, Consumer<String> answer)
        throws ProtocolException {
      throw new ProtocolException("it asks for '" + text + "'");
    }

    /** Whether the run is to end with the steps that workers have begun. */
    default boolean stopping() {
      return false;
    }
  }

  private final Launch launch;
  private final Token token;
  private final Admission reception;
  private final WorkerProcesses processes;
  private final BlockingQueue<Runnable> inbox = new LinkedBlockingQueue<>();
  private final CountDownLatch over = new CountDownLatch(1);
  private volatile boolean ending; // this process, by an interrupt
  private volatile boolean interrupted; // its workers have been killed for that
  private volatile Optional<WorkerGroup> group = Optional.empty();

  /**
   * Opens the port; nothing is started yet.
   *
   * @throws BadInputException when the port is in use, or certificates cannot be used
   */
  public Coordinator(Launch launch) {
    this.launch = launch;
    this.token = launch.token().map(Token::new).orElseGet(Token::random);
    this.reception =
        new Admission(
            launch.here() == launch.workers(),
            launch.port(),
            token.with(launch.certificates().map(Tls::of)));
    this.processes =
        new WorkerProcesses(
            launch.logs(), token, launch.certificates(), launch.token().isPresent());
  }

  /** The port at which other machines join. */
  public int port() {
    return reception.port();
  }

  /** What they need to be let in. */
  public String token() {
    return token.text();
  }

  /**
   * Nanoseconds by which a worker's {@code System.nanoTime()} is ahead of ours; 0 on this machine.
   */
  public long clockAhead(int worker) {
    return group.map(known -> known.clockAhead(worker)).orElse(0L);
  }

  /**
   * Starts all workers and returns when all are done and gone.
   *
   * @throws WorkerFailureException when one fails
   * @throws InterruptedRunException when an interrupt ends this process before the run is over
   * @throws BadInputException when one finds something that its user has to correct
   */
  public void run(Listener listener) throws InterruptedException {
    Thread hook = new Thread(this::interrupt, "stop workers");
    Runtime.getRuntime().addShutdownHook(hook);
    try (WorkerGroup workers =
        new WorkerGroup(launch, reception.port(), processes, inbox, listener)) {
      group = Optional.of(workers);
      reception.open(workers::welcome);
      workers.start();
      attend(workers, listener);
      dismiss(workers);
    } finally {
      close();
      over.countDown();
      forget(hook);
    }
  }

  private static void forget(Thread hook) {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // it is running
    }
  }

  private void attend(WorkerGroup workers, Listener listener) throws InterruptedException {
    check(workers); // before anything is heard: without patience, absent workers are missing
    while (!workers.finished()) {
      next();
      if (listener.stopping()) {
        workers.endEarly();
      }
      workers.ping();
      check(workers);
    }
  }

  private void check(WorkerGroup workers) throws InterruptedException {
    Optional<Failure> failure = workers.failure();
    Optional<String> missing = workers.missing();
    boolean signalled = failure.filter(f -> f.weight() == Failure.Weight.SIGNAL).isPresent();
    if (interrupted || (ending && signalled)) { // whose workers have gone for the same reason
      workers.stop("the run was interrupted", false);
      throw new InterruptedRunException();
    }
    if (failure.isPresent()) {
      workers.stop(failure.get().sentence(), launch.again() && !failure.get().badInput());
      throw exception(failure.get());
    }
    if (missing.isPresent()) {
      workers.stop(missing.get(), launch.again());
      throw new WorkerFailureException(missing.get(), workers.joined());
    }
  }

  private void next() throws InterruptedException {
    Runnable heard = inbox.poll(TICK_MILLISECONDS, TimeUnit.MILLISECONDS);
    while (heard != null) {
      heard.run();
      heard = inbox.poll();
    }
  }

  private void dismiss(WorkerGroup workers) throws InterruptedException {
    workers.stop("", false);
    long deadline = System.nanoTime() + FAREWELL_NANOSECONDS;
    while (!workers.gone() && System.nanoTime() - deadline < 0) {
      next();
    }
  }

  private RuntimeException exception(Failure failure) {
    if (failure.badInput()) {
      return new BadInputException(failure.what());
    }
    boolean here = failure.worker() < launch.here();
    return new WorkerFailureException(
        failure.sentence() + "; all others have been stopped",
        failure.worker(),
        failure.place(),
        here ? processes.lastLines(failure.worker()) : "");
  }

  /**
   * Ctrl-C, or the end of this process for another reason. Its listener may have heard of it, too,
   * and want the run to end by itself; whatever has not by then is killed.
   */
  private void interrupt() {
    ending = true;
    try {
      if (over.await(launch.patience().interrupt().toMillis(), TimeUnit.MILLISECONDS)) {
        return;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    interrupted = true;
    processes.kill();
    processes.close(); // here, too: this process may be gone before its other threads come to it
  }

  @Override
  public void close() {
    reception.close();
    processes.close();
  }
}
