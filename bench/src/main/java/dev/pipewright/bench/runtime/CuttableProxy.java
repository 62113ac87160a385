package dev.pipewright.bench.runtime;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Forwards connections to a port of this machine until they are cut. */
final class CuttableProxy implements AutoCloseable {
  private final ServerSocket door;
  private final int to;
  private final List<Socket> sockets = new CopyOnWriteArrayList<>();

  CuttableProxy(int to) throws IOException {
    this.to = to;
    this.door = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    start(this::accept);
  }

  int port() {
    return door.getLocalPort();
  }

  private static void start(Runnable work) {
    Thread thread = new Thread(work, "proxy");
    thread.setDaemon(true);
    thread.start();
  }

  private void accept() {
    while (!door.isClosed()) {
      try {
        Socket near = door.accept();
        sockets.add(near);
        Socket far;
        try {
          far = new Socket(InetAddress.getLoopbackAddress(), to);
        } catch (IOException e) { // nothing listens there yet
          near.close();
          continue;
        }
        sockets.add(far);
        start(() -> forward(near, far));
        start(() -> forward(far, near));
      } catch (IOException e) {
        return;
      }
    }
  }

  private static void forward(Socket from, Socket to) {
    byte[] bytes = new byte[1 << 13];
    try (from;
        to) {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      for (int read = in.read(bytes); read >= 0; read = in.read(bytes)) {
        out.write(bytes, 0, read);
      }
    } catch (IOException e) {
      // one of the two has ended
    }
  }

  /** Ends all connections; further ones are forwarded. */
  int cut() throws IOException {
    int cut = 0;
    for (Socket socket : sockets) {
      cut += socket.isClosed() ? 0 : 1;
      socket.close();
    }
    sockets.clear();
    return cut;
  }

  @Override
  public void close() throws IOException {
    door.close();
    cut();
  }
}
