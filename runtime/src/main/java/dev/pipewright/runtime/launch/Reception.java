package dev.pipewright.runtime.launch;

import dev.pipewright.formats.BadInputException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;

/** Lets those in that know the token, and tells the others that they do not. */
final class Reception implements AutoCloseable {
  private static final int HELLO_MILLISECONDS = 10_000;
  private static final int HELLO_BYTES = 4096;
  private static final int QUEUE = 256; // of processes that come at the same time

  private final ServerSocket door;
  private final Token token;

  /**
   * Opens the door.
   *
   * @param port 0 for any free one
   */
  Reception(boolean thisMachineOnly, int port, Token token) {
    this.token = token;
    try {
      door = new ServerSocket();
      InetSocketAddress address =
          thisMachineOnly
              ? new InetSocketAddress(InetAddress.getLoopbackAddress(), port)
              : new InetSocketAddress(port);
      door.bind(address, QUEUE);
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
    return door.getLocalPort();
  }

  /** Takes over who has been let in, in any thread. */
  interface Guests {
    void welcome(Control control, Message hello);
  }

  void open(Guests guests) {
    daemon("reception", () -> receive(guests));
  }

  private void receive(Guests guests) {
    try {
      while (true) {
        Socket socket = door.accept();
        daemon("hello", () -> hello(socket, guests)); // a silent one must not keep others out
      }
    } catch (IOException e) {
      // the door is closed
    }
  }

  private void hello(Socket socket, Guests guests) {
    try {
      Control control = new Control(socket);
      Message hello = control.first(HELLO_MILLISECONDS, HELLO_BYTES);
      if (token.is(hello.text("token"))) {
        guests.welcome(control, hello);
      } else {
        refuse(control, "the token is wrong; use the one that the coordinator has printed");
      }
    } catch (IOException e) { // not one of ours
      close(socket);
    }
  }

  static void refuse(Control control, String why) {
    control.send(Message.of("refused").with("why", why));
    control.close();
  }

  private static void daemon(String name, Runnable work) {
    Thread thread = new Thread(work, name);
    thread.setDaemon(true);
    thread.start();
  }

  private static void close(AutoCloseable open) {
    try {
      open.close();
    } catch (Exception e) {
      // it is of no use any more either way
    }
  }

  @Override
  public void close() {
    close(door);
  }
}
