package dev.pipewright.runtime.launch;

import dev.pipewright.execution.JoinRequest;
import dev.pipewright.execution.TrainingRequest.Computing;
import dev.pipewright.execution.TrainingRequest.Device;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.runtime.wire.WrongSecretException;
import dev.pipewright.units.Seconds;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ProtocolException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A machine that works for a {@link Coordinator} on another one: starts workers on request. */
public final class JoinedHost {
  private static final long AGAIN_MILLISECONDS = 200;

  private final Control control;
  private final WorkerProcesses processes;
  private final JoinRequest request;

  private JoinedHost(Control control, WorkerProcesses processes, JoinRequest request) {
    this.control = control;
    this.processes = processes;
    this.request = request;
  }

  /**
   * Joins and returns when the run is over.
   *
   * @return why it has ended where it failed, for the user here
   * @throws BadInputException when the coordinator cannot be reached, or the token is wrong
   */
  public static Optional<String> run(JoinRequest request) {
    Token token = new Token(request.token());
    try (Control control = connect(request, token);
        WorkerProcesses processes =
            new WorkerProcesses(request.logs().map(Path::of), token, request.rank().isPresent())) {
      CountDownLatch over = new CountDownLatch(1);
      Thread hook = new Thread(() -> interrupt(over, processes, request.grace()), "stop workers");
      Runtime.getRuntime().addShutdownHook(hook);
      try {
        Message hello = Message.of("join").with("name", name()).with("slots", request.slots());
        control.send(hello.with("rank", request.rank().orElse(Member.Host.UNRANKED)));
        return new JoinedHost(control, processes, request).serve();
      } finally {
        over.countDown();
        forget(hook);
      }
    }
  }

  private static void forget(Thread hook) {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // it is running
    }
  }

  /** Leaves the coordinator some time to end the run, then ends its workers here. */
  private static void interrupt(CountDownLatch over, WorkerProcesses processes, Seconds grace) {
    try {
      if (over.await((long) (1e3 * grace.value()), TimeUnit.MILLISECONDS)) {
        return;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    processes.close();
  }

  /** Tries until the coordinator listens: machines of a launcher start in any order. */
  private static Control connect(JoinRequest request, Token token) {
    long begin = System.nanoTime();
    while (true) {
      try {
        return Control.connect(request.host(), request.port(), token);
      } catch (WrongSecretException e) {
        throw new BadInputException(
            request.address()
                + (request.rank().isEmpty()
                    ? ": the token is wrong; use the one that the coordinator has printed"
                    : ": rank 0 has another token; give all ranks the same one"));
      } catch (IOException e) {
        if (System.nanoTime() - begin >= 1e9 * request.patience().value()) {
          throw new BadInputException(absent(request));
        }
      }
      try {
        Thread.sleep(AGAIN_MILLISECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new BadInputException(absent(request));
      }
    }
  }

  private static String absent(JoinRequest request) {
    return request.rank().isEmpty()
        ? "no run waits for workers at " + request.address() + "; start `train` there first"
        : "rank 0 has not listened at %s within %s s; see what it has printed, or give --coordinator HOST:PORT"
            .formatted(request.address(), Math.round(request.patience().value()));
  }

  private static String name() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (IOException e) {
      return "?";
    }
  }

  private Optional<String> serve() {
    try {
      while (true) {
        Message message = control.next();
        switch (message.kind()) {
          case "refused" ->
              throw new BadInputException(request.address() + ": " + message.text("why"));
          case "start" -> start(message);
          case "stop" -> {
            return Optional.of(message.text("why")).filter(why -> !why.isEmpty());
          }
          default -> throw new ProtocolException("its kind is '" + message.kind() + "'");
        }
      }
    } catch (ProtocolException e) {
      throw new BadInputException(
          "%s: sends a message that this version does not know (%s); use the same version on both machines"
              .formatted(request.address(), e.getMessage()));
    } catch (IOException e) {
      return Optional.of("the connection to " + request.address() + " has ended");
    }
  }

  private void start(Message message) throws ProtocolException {
    int most = Integer.MAX_VALUE;
    Launch.Resources resources =
        new Launch.Resources(
            message.whole("heap", 1, most),
            new Computing(
                message.one(Device.class, "device"),
                message.whole("threads", 1, most),
                message.number("frugal") == 1),
            message.number("apart") == 1);
    processes.start(
        message.whole("first", 0, most - request.slots()),
        message.whole("count", 1, request.slots()),
        InetSocketAddress.createUnresolved(control.thereAddress(), request.port()),
        true,
        resources,
        (number, status) ->
            control.send(
                Places.put(
                    Message.of("ended").with("worker", number).with("status", status),
                    processes.last(number))));
  }
}
