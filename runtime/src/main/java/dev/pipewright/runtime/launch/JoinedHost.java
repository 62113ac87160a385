package dev.pipewright.runtime.launch;

import dev.pipewright.execution.TrainingRequest.Computing;
import dev.pipewright.execution.TrainingRequest.Device;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.runtime.wire.WrongSecretException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ProtocolException;
import java.nio.file.Path;
import java.util.Optional;

/** A machine that works for a {@link Coordinator} on another one: starts workers on request. */
public final class JoinedHost {
  private final Control control;
  private final WorkerProcesses processes;
  private final String host;
  private final int port;
  private final int slots;

  private JoinedHost(Control control, WorkerProcesses processes, String host, int port, int slots) {
    this.control = control;
    this.processes = processes;
    this.host = host;
    this.port = port;
    this.slots = slots;
  }

  /**
   * Joins and returns when the run is over.
   *
   * @param slots how many workers this machine takes at most
   * @param logs the folder for what they print; without one it is gone when the run ends
   * @return why it has ended where it failed, for the user here
   * @throws BadInputException when the coordinator cannot be reached, or the token is wrong
   */
  public static Optional<String> run(
      String host, int port, String token, int slots, Optional<Path> logs) {
    try (Control control = connect(host, port, new Token(token));
        WorkerProcesses processes = new WorkerProcesses(logs, new Token(token))) {
      Thread hook = new Thread(processes::close, "stop workers");
      Runtime.getRuntime().addShutdownHook(hook);
      try {
        control.send(Message.of("join").with("name", name()).with("slots", slots));
        return new JoinedHost(control, processes, host, port, slots).serve();
      } finally {
        Runtime.getRuntime().removeShutdownHook(hook);
      }
    }
  }

  private static Control connect(String host, int port, Token token) {
    try {
      return Control.connect(host, port, token);
    } catch (WrongSecretException e) {
      throw new BadInputException(
          host + ":" + port + ": the token is wrong; use the one that the coordinator has printed");
    } catch (IOException e) {
      throw new BadInputException(
          "no run waits for workers at " + host + ":" + port + "; start `train` there first");
    }
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
              throw new BadInputException(host + ":" + port + ": " + message.text("why"));
          case "start" -> start(message);
          case "stop" -> {
            return Optional.of(message.text("why")).filter(why -> !why.isEmpty());
          }
          default -> throw new ProtocolException("its kind is '" + message.kind() + "'");
        }
      }
    } catch (ProtocolException e) {
      throw new BadInputException(
          "%s:%d: sends a message that this version does not know (%s); use the same version on both machines"
              .formatted(host, port, e.getMessage()));
    } catch (IOException e) {
      return Optional.of("the connection to " + host + ":" + port + " has ended");
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
        message.whole("first", 0, most - slots),
        message.whole("count", 1, slots),
        InetSocketAddress.createUnresolved(control.thereAddress(), port),
        true,
        resources,
        (number, status) ->
            control.send(
                Places.put(
                    Message.of("ended").with("worker", number).with("status", status),
                    processes.last(number))));
  }
}
