package dev.pipewright.runtime.launch;

import dev.pipewright.execution.JoinRequest;
import dev.pipewright.execution.TrainingRequest.Computing;
import dev.pipewright.execution.TrainingRequest.Device;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.runtime.wire.Credentials;
import dev.pipewright.runtime.wire.Tls;
import dev.pipewright.runtime.wire.WrongCertificateException;
import dev.pipewright.runtime.wire.WrongSecretException;
import dev.pipewright.units.Seconds;
import java.io.IOException;
import java.net.ConnectException;
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
   * Joins and returns when the run is over: joins again where the run is restarted or the
   * connection has ended, if the request says so.
   *
   * @return why it has ended where it failed, for the user here
   * @throws BadInputException when the coordinator cannot be reached, or the token or a certificate
   *     is wrong
   */
  public static Optional<String> run(JoinRequest request) {
    long refusedSince = 0; // as long as rank 0 still waits for the connection that has ended
    while (true) {
      End end;
      try {
        end = attempt(request, refusedSince != 0);
        refusedSince = System.nanoTime();
      } catch (RefusedException e) {
        if (refusedSince == 0 || isOver(refusedSince, request.patience()) || !pause()) {
          throw new BadInputException(request.address() + ": " + e.getMessage());
        }
        continue;
      }
      if (!(end.again && request.again())) {
        return end.why;
      }
    }
  }

  /**
   * How an attempt has ended.
   *
   * @param why it has, where it failed
   * @param again whether there may be another one
   */
  private record End(Optional<String> why, boolean again) {}

  /** The coordinator does not let this machine in. */
  private static final class RefusedException extends Exception {
    private static final long serialVersionUID = 1;

    RefusedException(String why) {
      super(why);
    }
  }

  private static boolean isOver(long since, Seconds patience) {
    return System.nanoTime() - since >= 1e9 * patience.value();
  }

  /** Waits before the next try; false where this thread is to end. */
  private static boolean pause() {
    try {
      Thread.sleep(AGAIN_MILLISECONDS);
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /**
   * One attempt.
   *
   * @param again whether the coordinator has let this machine in before
   */
  private static End attempt(JoinRequest request, boolean again) throws RefusedException {
    Token token = new Token(request.token());
    Credentials credentials = token.with(request.certificates().map(Tls::of));
    try (Control control = connect(request, credentials, again);
        WorkerProcesses processes =
            new WorkerProcesses(
                request.logs().map(Path::of),
                token,
                request.certificates(),
                request.rank().isPresent())) {
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
  private static Control connect(JoinRequest request, Credentials credentials, boolean again) {
    long begin = System.nanoTime();
    while (true) {
      try {
        return Control.connect(request.host(), request.port(), credentials);
      } catch (WrongSecretException e) {
        throw new BadInputException(
            request.address()
                + (request.rank().isEmpty()
                    ? ": the token is wrong; use the one that the coordinator has printed"
                    : ": rank 0 has another token; give all ranks the same one"));
      } catch (WrongCertificateException e) {
        throw new BadInputException(request.address() + " " + e.getMessage());
      } catch (IOException e) {
        if (again && e instanceof ConnectException && isOver(begin, request.returning())) {
          throw new BadInputException(
              "rank 0 no longer listens at %s; see what it has printed"
                  .formatted(request.address()));
        }
        if (isOver(begin, request.patience())) {
          throw new BadInputException(absent(request));
        }
      }
      if (!pause()) {
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

  private End serve() throws RefusedException {
    try {
      while (true) {
        Message message = control.next();
        switch (message.kind()) {
          case "refused" -> throw new RefusedException(message.text("why"));
          case "start" -> start(message);
          case "stop" -> {
            Optional<String> why = Optional.of(message.text("why")).filter(text -> !text.isEmpty());
            return new End(why, message.number("again") == 1);
          }
          default -> throw new ProtocolException("its kind is '" + message.kind() + "'");
        }
      }
    } catch (ProtocolException e) {
      throw new BadInputException(
          "%s: sends a message that this version does not know (%s); use the same version on both machines"
              .formatted(request.address(), e.getMessage()));
    } catch (IOException e) {
      return new End(Optional.of("the connection to " + request.address() + " has ended"), true);
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
