package dev.pipewright.runtime.launch;

import dev.pipewright.runtime.wire.Secret;
import dev.pipewright.runtime.wire.WrongFrameException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ProtocolException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.stream.IntStream;

/**
 * All workers of a run, as the coordinator knows them. Whatever is heard of them is put into the
 * inbox and happens in the coordinator's thread, so nothing here is locked.
 */
final class WorkerGroup implements AutoCloseable {
  private static final long PING_NANOSECONDS = 100_000_000L;
  private static final int PINGS_TO_OTHER_MACHINES = 5; // for each that goes to all
  private static final String LOOPBACK = "127.0.0.1";

  private final Launch launch;
  private final int port;
  private final WorkerProcesses processes;
  private final BlockingQueue<Runnable> inbox;
  private final Coordinator.Listener listener;
  private final List<Member> workers;
  private final List<Member.Host> hosts = new ArrayList<>();
  private final FirstFailure failure = new FirstFailure();
  private final Secret secret = Secret.random(); // of messages between workers
  private final AwakeClock awake = new AwakeClock();
  private final Arrivals arrivals;
  private final Watch watch;
  private long pings;
  private boolean held;
  private boolean finished;
  private final Guests guests = new Guests(); // in the inbox

  WorkerGroup(
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
    this.arrivals = new Arrivals(launch.patience(), awake.now());
    this.watch = new Watch(launch.workers(), launch.patience().stall());
    this.workers = IntStream.range(0, launch.workers()).mapToObj(Member::new).toList();
  }

  // ---- how they come

  void start() {
    processes.start(
        0,
        launch.here(),
        InetSocketAddress.createUnresolved(LOOPBACK, port),
        launch.here() < launch.workers(),
        launch.resources(),
        (number, status) ->
            inbox.add(() -> ended(workers.get(number), status, processes.last(number))));
    startElsewhere();
  }

  /** A process that knows the token, in any thread; closed where the run is over. */
  void welcome(Control control, Message hello) {
    if (!guests.welcome(control)) {
      return;
    }
    inbox.add(() -> {
      guests.hear(control);
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
    int rank = (int) hello.number("rank");
    if (launch.again()) { // it has lost its connection, which is not known here yet
      hosts.stream().filter(host -> rank >= 0 && host.rank == rank).toList().forEach(this::lost);
    }
    int free = launch.workers() - places();
    if (free == 0 || hello.number("slots") < 1) {
      Admission.refuse(control, "no worker is missing any more");
      return;
    }
    if (rank >= 0 && hosts.stream().anyMatch(each -> each.rank == rank)) {
      Admission.refuse(control, "rank " + rank + " has joined before; start each rank once");
      return;
    }
    Member.Host host =
        new Member.Host(
            control, hello.text("name"), (int) Math.min(free, hello.number("slots")), rank);
    hosts.add(host);
    control.listen(
        "host " + host.name,
        message -> inbox.add(() -> heard(host, message)),
        end -> inbox.add(() -> lost(host)));
    startElsewhere();
  }

  /** Once all machines are there; only then it is known by which address they reach this one. */
  private void startElsewhere() {
    if (places() < launch.workers()) {
      return;
    }
    arrivals.haveAllMachines(awake.now());
    hosts.sort(Comparator.comparingInt(host -> host.rank)); // workers in the launcher's order
    int first = launch.here();
    for (Member.Host host : hosts) {
      workers.subList(first, first + host.slots).forEach(worker -> worker.host = host);
      host.start(first, launch.resources());
      first += host.slots;
    }
    workers.forEach(this::tell);
  }

  private void arrive(Control control, int number) {
    if (number < 0 || number >= workers.size() || workers.get(number).control != null) {
      Admission.refuse(control, "no such worker is missing");
      return;
    }
    Member worker = workers.get(number);
    worker.control = control;
    arrivals.worker(awake.now());
    control.listen(
        "worker " + number,
        message -> {
          if (worker.host != null && message.kind().equals("pong")) { // its arrival is what counts
            worker.clock.heard(message.number("sent"), message.number("now"), System.nanoTime());
          }
          inbox.add(() -> heard(worker, message));
        },
        end -> inbox.add(() -> hungUp(worker, end)));
    tell(worker);
  }

  /** Tells a worker its job when it has come and everything in it is known. */
  private void tell(Member worker) {
    if (worker.communication || worker.control == null || !arrivals.hasAllMachines()) {
      return;
    }
    worker.communication = true;
    watch.works(worker.number, awake.now());
    worker.tell(
        Message.of("job")
            .with("task", launch.task())
            .with("job", launch.job())
            .with("host", address(worker))
            .with("secret", secret.hex())
            .with("sealed", hosts.isEmpty() ? 0 : 1));
  }

  /** A worker can be reached by others; once all can, each gets the addresses. */
  private void opened(Member opened, String address) {
    opened.entrance = address;
    if (workers.stream().noneMatch(worker -> worker.entrance.isEmpty())) {
      Message peers = Message.of("peers").with("workers", workers.size());
      workers.forEach(worker -> peers.with("worker " + worker.number, worker.entrance));
      workers.forEach(worker -> worker.tell(peers));
    }
  }

  /** The address by which all others reach a worker. */
  private String address(Member worker) {
    if (worker.host != null) {
      return worker.host.control.thereAddress();
    }
    return hosts.isEmpty() ? LOOPBACK : hosts.get(0).control.hereAddress();
  }

  // ---- what they say

  private void heard(Member worker, Message message) {
    switch (message.kind()) {
      case "pong" -> {
        Pulse pulse = Pulse.get(message);
        if (pulse.waitingFor() >= Pulse.COORDINATOR && pulse.waitingFor() < workers.size()) {
          watch.heard(worker.number, pulse, awake.now());
        } else {
          silent(worker, "sent a message of another version: it waits for " + pulse.waitingFor());
        }
      }
      case "entrance" -> opened(worker, message.text("address"));
      case "event", "question" -> said(worker, message);
      case "begun" -> {
        worker.begun = message.number("step");
        if (workers.stream().noneMatch(each -> each.begun == Member.UNKNOWN)) {
          long last = workers.stream().mapToLong(each -> each.begun).max().orElseThrow();
          workers.forEach(each -> each.tell(Message.of("last").with("step", last)));
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
                at(worker, Places.get(message)),
                Places.get(message),
                message.number("input") != 0));
      }
      default -> silent(worker, "sent a message of another version: " + message.kind());
    }
  }

  private void said(Member worker, Message message) {
    String text = message.text("text");
    try {
      if (message.kind().equals("event")) {
        listener.event(worker.number, text);
      } else {
        listener.question(
            worker.number, text, answer -> worker.tell(Message.of("answer").with("text", answer)));
      }
    } catch (ProtocolException e) {
      silent(worker, "sent a message of another version: " + e.getMessage());
    }
  }

  /** Has all workers end with one and the same step, as soon as they can. */
  void endEarly() {
    if (!held && workers.stream().allMatch(worker -> worker.communication)) {
      held = true;
      workers.forEach(worker -> worker.tell(Message.of("hold")));
    }
  }

  private void heard(Member.Host host, Message message) {
    workers.stream()
        .filter(worker -> worker.host == host && worker.number == message.number("worker"))
        .filter(worker -> message.kind().equals("ended"))
        .forEach(worker -> ended(worker, (int) message.number("status"), Places.get(message)));
  }

  // ---- how they go

  private void ended(Member worker, int status, Optional<Place> place) {
    if (!finished && !worker.failed) {
      failure.heard(Failure.ended(worker.number, status, at(worker, place), place));
    }
  }

  private void hungUp(Member worker, IOException end) {
    if (end instanceof WrongFrameException wrong) {
      silent(worker, "is not to be trusted: on its control connection " + wrong.getMessage());
    } else {
      silent(worker, "ended its connection");
    }
  }

  /** A worker's position in words or, before its first op, that it starts. */
  private String at(Member worker, Optional<Place> place) {
    List<String> roles = launch.roles();
    return place
        .map(Place::toString)
        .orElse((roles.isEmpty() ? "" : roles.get(worker.number) + ", ") + "starting up");
  }

  private void lost(Member.Host host) {
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

  private void silent(Member worker, String what) {
    if (!finished && !worker.failed) {
      failure.heard(failure(worker, Failure.Weight.SILENCE, what));
    }
  }

  private Failure failure(Member worker, Failure.Weight weight, String what) {
    Optional<Place> place =
        worker.host == null ? processes.last(worker.number) : watch.place(worker.number);
    return new Failure(worker.number, weight, what, at(worker, place), place, false);
  }

  // ---- what the coordinator asks

  boolean finished() {
    return finished;
  }

  Optional<Failure> failure() {
    if (!finished) {
      watch
          .stall(awake.now())
          .map(stall -> failure(workers.get(stall.worker()), Failure.Weight.CAUSE, stall.what()))
          .ifPresent(failure::heard);
    }
    return failure.settled();
  }

  /** The workers that should have come by now, as a sentence. */
  Optional<String> missing() {
    if (!arrivals.hasAllMachines()) {
      return arrivals
          .lateMachines(awake.now())
          .map(seconds ->
              "%d of %d workers have not joined within %s"
                  .formatted(launch.workers() - places(), launch.workers(), seconds));
    }
    return workers.stream()
        .filter(worker -> worker.control == null)
        .findFirst()
        .flatMap(worker ->
            arrivals
                .lateWorkers(awake.now())
                .map(when ->
                    "worker %d (%s) has not come %s"
                        .formatted(worker.number, at(worker, Optional.empty()), when)));
  }

  /** The ranks of machines that have joined, as long as others are missing. */
  Optional<List<Integer>> joined() {
    return arrivals.hasAllMachines()
        ? Optional.empty()
        : Optional.of(hosts.stream().map(host -> host.rank).sorted().toList());
  }

  /** Asks all how they are, and the clocks of other machines: those more often. */
  void ping() {
    if (awake.now() < pings * PING_NANOSECONDS) {
      return;
    }
    pings++;
    for (Member worker : workers) {
      if (worker.host != null || pings % PINGS_TO_OTHER_MACHINES == 0) {
        worker.tell(Message.of("ping").with("sent", System.nanoTime()));
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

  /**
   * Has all end.
   *
   * @param again whether other machines are to join another attempt
   */
  void stop(String why, boolean again) {
    workers.forEach(worker -> worker.tell(Message.of("stop")));
    Message stop = Message.of("stop").with("why", why).with("again", again ? 1 : 0);
    hosts.forEach(host -> host.control.send(stop));
  }

  @Override
  public void close() {
    guests.close();
    for (Member worker : workers) {
      if (worker.control != null) {
        worker.control.close();
      }
    }
    hosts.forEach(host -> host.control.close());
  }
}
