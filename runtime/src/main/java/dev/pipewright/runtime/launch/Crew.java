package dev.pipewright.runtime.launch;

import dev.pipewright.execution.TrainingRequest.Computing;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * All workers of a run, as the coordinator knows them. Whatever is heard of them is put into the
 * inbox and happens in the coordinator's thread, so nothing here is locked.
 */
final class Crew implements AutoCloseable {
  private static final long PING_NANOSECONDS = 100_000_000L;
  private static final long UNKNOWN = Long.MIN_VALUE;
  private static final String LOOPBACK = "127.0.0.1";

  /** Another machine. */
  private static final class Host {
    private final Control control;
    private final String name;
    private final int slots;
    private boolean gone;

    private Host(Control control, String name, int slots) {
      this.control = control;
      this.name = name;
      this.slots = slots;
    }
  }

  private static final class Worker {
    private final int number;
    private final Clock clock = new Clock();
    private @Nullable Host host; // none for this machine
    private @Nullable Control control; // once it has come
    private boolean told;
    private boolean failed;
    private boolean done;
    private long begun = UNKNOWN; // its step when it was held

    private Worker(int number) {
      this.number = number;
    }
  }

  private final Launch launch;
  private final int port;
  private final WorkerProcesses processes;
  private final BlockingQueue<Runnable> inbox;
  private final Coordinator.Listener listener;
  private final List<Worker> workers;
  private final List<Host> hosts = new ArrayList<>();
  private final FirstFailure failure = new FirstFailure();
  private final long begin = System.nanoTime();
  private long complete; // when the last machine had joined; 0 before
  private long store; // the port of worker 0's address book; 0 before it is known
  private long lastPing = begin;
  private boolean held;
  private boolean finished;

  Crew(
      Launch launch,
      int port,
      WorkerProcesses processes,
      BlockingQueue<Runnable> inbox,
      Coordinator.Listener listener) {
    this.launch = launch;
    this.port = port;
    this.processes = processes;
    this.inbox = inbox;
    this.listener = listener;
    this.workers = IntStream.range(0, launch.workers()).mapToObj(Worker::new).toList();
  }

  // ---- how they come

  void start() {
    processes.start(
        0,
        launch.here(),
        LOOPBACK,
        port,
        launch.resources(),
        (number, status) ->
            inbox.add(() -> ended(workers.get(number), status, processes.last(number))));
    startElsewhere();
  }

  /** Somebody who knows the token; in any thread. */
  void welcome(Control control, Message hello) {
    inbox.add(() -> {
      if (hello.kind().equals("join")) {
        join(control, hello);
      } else {
        arrive(control, (int) hello.number("worker"));
      }
    });
  }

  private int places() {
    return launch.here() + hosts.stream().mapToInt(host -> host.slots).sum();
  }

  private void join(Control control, Message hello) {
    int free = launch.workers() - places();
    if (free == 0 || hello.number("slots") < 1) {
      Reception.refuse(control, "no worker is missing any more");
      return;
    }
    Host host = new Host(control, hello.text("name"), (int) Math.min(free, hello.number("slots")));
    hosts.add(host);
    control.listen(
        "host " + host.name,
        message -> inbox.add(() -> heard(host, message)),
        () -> inbox.add(() -> lost(host)));
    startElsewhere();
  }

  /** Once all machines are there; only then it is known by which address they reach this one. */
  private void startElsewhere() {
    if (places() < launch.workers()) {
      return;
    }
    complete = System.nanoTime();
    Computing computing = launch.resources().computing();
    int first = launch.here();
    for (Host host : hosts) {
      workers.subList(first, first + host.slots).forEach(worker -> worker.host = host);
      host.control.send(
          Message.of("start")
              .with("first", first)
              .with("count", host.slots)
              .with("heap", launch.resources().heapMegabytes())
              .with("device", computing.device().name())
              .with("threads", computing.threads())
              .with("frugal", computing.frugal() ? 1 : 0)
              .with("apart", launch.resources().apart() ? 1 : 0));
      first += host.slots;
    }
    workers.forEach(this::tell);
  }

  private void arrive(Control control, int number) {
    if (number < 0 || number >= workers.size() || workers.get(number).control != null) {
      Reception.refuse(control, "no such worker is missing");
      return;
    }
    Worker worker = workers.get(number);
    worker.control = control;
    control.listen(
        "worker " + number,
        message -> {
          if (message.kind().equals("pong")) { // its arrival is what counts
            worker.clock.heard(message.number("sent"), message.number("now"), System.nanoTime());
          } else {
            inbox.add(() -> heard(worker, message));
          }
        },
        () -> inbox.add(() -> hungUp(worker)));
    tell(worker);
  }

  /** Tells a worker its job when it has come and everything in it is known. */
  private void tell(Worker worker) {
    if (worker.told || worker.control == null || complete == 0) {
      return;
    }
    if (worker.number != 0 && store == 0) {
      return;
    }
    worker.told = true;
    worker.control.send(
        Message.of("job")
            .with("task", launch.task())
            .with("job", launch.job())
            .with("workers", workers.size())
            .with("host", address(worker))
            .with("store_host", address(workers.get(0)))
            .with("store_port", worker.number == 0 ? launch.ports().store() : store));
  }

  /** By which all others reach it. */
  private String address(Worker worker) {
    if (worker.host != null) {
      return worker.host.control.thereAddress();
    }
    return hosts.isEmpty() ? LOOPBACK : hosts.get(0).control.hereAddress();
  }

  // ---- what they say

  private void heard(Worker worker, Message message) {
    switch (message.kind()) {
      case "store" -> {
        store = message.number("port");
        workers.forEach(this::tell);
      }
      case "event" -> listener.event(worker.number, message.text("text"));
      case "question" ->
          listener.question(
              worker.number, message.text("text"), answer -> tell(worker, "answer", answer));
      case "begun" -> {
        worker.begun = message.number("step");
        if (workers.stream().noneMatch(each -> each.begun == UNKNOWN)) {
          long last = workers.stream().mapToLong(each -> each.begun).max().orElseThrow();
          workers.forEach(each -> tell(each, Message.of("last").with("step", last)));
        }
      }
      case "done" -> {
        worker.done = true;
        if (workers.stream().allMatch(each -> each.done)) {
          finished = true;
        }
      }
      case "failed" -> {
        worker.failed = true;
        boolean lost = message.number("lost") != 0;
        failure.heard(
            new Failure(
                worker.number,
                lost ? Failure.Weight.CONSEQUENCE : Failure.Weight.CAUSE,
                (message.number("input") != 0 ? "" : "failed: ") + message.text("what"),
                Places.get(message),
                message.number("input") != 0));
      }
      default -> throw new IllegalStateException("a worker says " + message.line());
    }
  }

  private static void tell(Worker worker, String kind, String text) {
    tell(worker, Message.of(kind).with("text", text));
  }

  private static void tell(Worker worker, Message message) {
    if (worker.control != null) {
      worker.control.send(message);
    }
  }

  /** Has all workers end with one and the same step, as soon as they can. */
  void endEarly() {
    if (!held && workers.stream().allMatch(worker -> worker.told)) {
      held = true;
      workers.forEach(worker -> tell(worker, Message.of("hold")));
    }
  }

  private void heard(Host host, Message message) {
    int number = (int) message.number("worker");
    if (message.kind().equals("ended") && workers.get(number).host == host) {
      ended(workers.get(number), (int) message.number("status"), Places.get(message));
    }
  }

  // ---- how they go

  private void ended(Worker worker, int status, Optional<Place> place) {
    if (!finished && !worker.failed) {
      failure.heard(Failure.ended(worker.number, status, place));
    }
  }

  private void hungUp(Worker worker) {
    if (!finished && !worker.failed) {
      silent(worker, "ended its connection");
    }
  }

  private void lost(Host host) {
    host.gone = true;
    if (!finished) {
      workers.stream()
          .filter(worker -> worker.host == host)
          .findFirst()
          .ifPresentOrElse(
              worker -> silent(worker, "is out of reach with its machine " + host.name),
              () -> hosts.remove(host)); // another may still take its place
    }
  }

  private void silent(Worker worker, String what) {
    Optional<Place> place = worker.host == null ? processes.last(worker.number) : Optional.empty();
    failure.heard(new Failure(worker.number, Failure.Weight.SILENCE, what, place, false));
  }

  // ---- what the coordinator asks

  boolean finished() {
    return finished;
  }

  Optional<Failure> failure() {
    return failure.settled();
  }

  /** The workers that should have come by now, as a sentence. */
  Optional<String> missing() {
    if (complete == 0) {
      return late(begin, launch.patience().join())
          .map(seconds ->
              (launch.workers() - places())
                  + " of "
                  + launch.workers()
                  + " workers have not joined within "
                  + seconds);
    }
    return workers.stream()
        .filter(worker -> worker.control == null)
        .findFirst()
        .flatMap(worker ->
            late(complete, launch.patience().start())
                .map(seconds -> "worker " + worker.number + " has not come within " + seconds));
  }

  private static Optional<String> late(long since, Duration patience) {
    return System.nanoTime() - since < patience.toNanos()
        ? Optional.empty()
        : Optional.of(patience.toSeconds() + " s");
  }

  /** Asks the clocks of other machines now and then. */
  void ping() {
    if (System.nanoTime() - lastPing < PING_NANOSECONDS) {
      return;
    }
    lastPing = System.nanoTime();
    for (Worker worker : workers) {
      if (worker.host != null && worker.control != null) {
        worker.control.send(Message.of("ping").with("sent", System.nanoTime()));
      }
    }
  }

  long clockAhead(int worker) {
    return workers.get(worker).clock.ahead();
  }

  /** Whether all have gone, after {@link #stop}. */
  boolean gone() {
    return processes.allEnded() && hosts.stream().allMatch(host -> host.gone);
  }

  /** Has all end. */
  void stop(String why) {
    for (Worker worker : workers) {
      if (worker.control != null) {
        worker.control.send(Message.of("stop"));
      }
    }
    hosts.forEach(host -> host.control.send(Message.of("stop").with("why", why)));
  }

  @Override
  public void close() {
    for (Worker worker : workers) {
      if (worker.control != null) {
        worker.control.close();
      }
    }
    hosts.forEach(host -> host.control.close());
  }
}
