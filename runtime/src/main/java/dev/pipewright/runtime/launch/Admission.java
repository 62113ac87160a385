package dev.pipewright.runtime.launch;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.runtime.wire.Connection;
import dev.pipewright.runtime.wire.Credentials;
import dev.pipewright.runtime.wire.Door;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/** Lets those in that know the token: workers and machines that join. */
final class Admission implements AutoCloseable {
  private final Door door;

  /**
   * Opens the door.
   *
   * @param thisMachineOnly whether it listens at the loopback address alone
   * @param port 0 for any free one
   */
  Admission(boolean thisMachineOnly, int port, Credentials credentials) {
    InetSocketAddress address =
        thisMachineOnly
            ? new InetSocketAddress(InetAddress.getLoopbackAddress(), port)
            : new InetSocketAddress(port);
    try {
      door = Door.open(address, !thisMachineOnly, credentials);
    } catch (BindException e) {
      throw new BadInputException(
          "port "
              + port
              + " is in use on this machine; name another one, or none for any free one");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  int port() {
    return door.port();
  }

  /** Takes over who has been let in and has said who it is, in any thread. */
  interface Guests {
    void welcome(Control control, Message hello);
  }

  void open(Guests guests) {
    door.receive(
        "reception",
        connection -> {
          Thread thread = new Thread(() -> hello(connection, guests), "hello");
          thread.setDaemon(true);
          thread.start(); // it knows the token, so there are as many as the user has started
        });
  }

  private static void hello(Connection connection, Guests guests) {
    Control control = new Control(connection);
    try {
      guests.welcome(control, control.next());
    } catch (IOException e) { // it has gone, or is of another version
      control.close();
    }
  }

  static void refuse(Control control, String why) {
    control.send(Message.of("refused").with("why", why));
    control.close();
  }

  @Override
  public void close() {
    door.close();
  }
}
