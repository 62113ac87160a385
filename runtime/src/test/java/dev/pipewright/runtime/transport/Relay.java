package dev.pipewright.runtime.transport;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;

/** Stands between a worker and the entrance of another, and may interfere with a frame. */
final class Relay implements AutoCloseable {
  /** With one frame. */
  enum Does {
    NOTHING,
    CHANGES_A_BIT,
    REPEATS,
    LEAVES_OUT,
    SAYS_ANOTHER_LENGTH
  }

  private static final int GREETING =
      84; // of the guest, before its frames: number, nonce, key, proof
  private static final int TAG = 16; // behind each sealed frame
  private static final int TLS_HEADER = 3; // of a record of TLS, before its length of two bytes

  private final ServerSocket server;
  private final Does what;
  private final boolean tls;
  private volatile boolean interfering;

  private Relay(Does what, boolean tls) throws IOException {
    this.server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    this.what = what;
    this.tls = tls;
  }

  /** Between ends that seal frames. */
  static Relay ofSealed(Does what) throws IOException {
    return new Relay(what, false);
  }

  /** Between ends that speak TLS. */
  static Relay ofTls(Does what) throws IOException {
    return new Relay(what, true);
  }

  /** From here on, does so with the next frame of the guest. */
  void interfere() {
    interfering = true;
  }

  /** The address of a relay to an entrance. */
  String to(String entrance) {
    InetSocketAddress address = Entrance.parse(entrance);
    daemon(() -> {
      Socket guest = server.accept();
      Socket door = new Socket(address.getAddress(), address.getPort());
      daemon(() -> door.getInputStream().transferTo(guest.getOutputStream()));
      daemon(() ->
          frames(
              new DataInputStream(guest.getInputStream()),
              new DataOutputStream(door.getOutputStream())));
    });
    return server.getLocalPort() + " 127.0.0.1";
  }

  private void frames(DataInputStream from, DataOutputStream to) throws IOException {
    to.write(from.readNBytes(tls ? 0 : GREETING));
    while (true) {
      byte[] header = from.readNBytes(tls ? TLS_HEADER : 0);
      int length = tls ? from.readUnsignedShort() : from.readInt();
      byte[] sealed = from.readNBytes(tls ? length : length + TAG);
      Does now = interfering ? what : Does.NOTHING;
      interfering = false;
      if (now == Does.CHANGES_A_BIT) {
        sealed[0] ^= 1;
      }
      int times = now == Does.REPEATS ? 2 : now == Does.LEAVES_OUT ? 0 : 1;
      for (int i = 0; i < times; i++) {
        int said = now == Does.SAYS_ANOTHER_LENGTH ? length - 1 : length;
        to.write(header);
        if (tls) {
          to.writeShort(said);
        } else {
          to.writeInt(said);
        }
        to.write(sealed);
      }
    }
  }

  private interface Work {
    void run() throws IOException;
  }

  private static void daemon(Work work) {
    Thread thread =
        new Thread(() -> {
          try {
            work.run();
          } catch (IOException e) {
            // one of both has hung up
          }
        });
    thread.setDaemon(true);
    thread.start();
  }

  @Override
  public void close() throws IOException {
    server.close();
  }
}
