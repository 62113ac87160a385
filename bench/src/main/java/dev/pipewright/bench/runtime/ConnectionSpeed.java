package dev.pipewright.bench.runtime;

import dev.pipewright.runtime.wire.Connection;
import dev.pipewright.runtime.wire.Credentials;
import dev.pipewright.runtime.wire.Door;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * What a connection within this machine takes, its code compiled.
 *
 * @param connectSeconds until both ends know each other, the median
 * @param roundTripSeconds of a short message and its answer, the median
 * @param bytesPerSecond of long messages one way
 */
record ConnectionSpeed(double connectSeconds, double roundTripSeconds, double bytesPerSecond) {
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final int CONNECTIONS = 30;
  private static final int ROUND_TRIPS = 4_000;
  private static final int SHORT_BYTES = 64;
  private static final int LONG_BYTES = 1 << 23;
  private static final int LONG_MESSAGES = 60;

  /**
   * Measures connections to a door.
   *
   * @param sealed whether frames are encrypted and authenticated
   */
  static ConnectionSpeed measured(boolean sealed, Credentials credentials)
      throws IOException, InterruptedException {
    InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    BlockingQueue<Connection> guests = new LinkedBlockingQueue<>();
    try (Door door = Door.open(any, sealed, credentials)) {
      door.receive("door", guests::add);
      InetSocketAddress address = new InetSocketAddress(any.getAddress(), door.port());
      List<Double> connect = new ArrayList<>();
      for (int i = 0; i < CONNECTIONS; i++) {
        long begin = System.nanoTime();
        try (Connection guest = Connection.to(address, credentials, i, PATIENCE);
            Connection host = guests.take()) {
          connect.add(seconds(begin));
          if (host.peer() != guest.peer()) {
            throw new IllegalStateException("another guest came");
          }
        }
      }
      try (Connection guest = Connection.to(address, credentials, 0, PATIENCE);
          Connection host = guests.take()) {
        oneWay(guest, host, LONG_MESSAGES / 2); // for its code to be compiled
        double rate = oneWay(guest, host, LONG_MESSAGES);
        List<Double> trips = roundTrips(guest, host);
        return new ConnectionSpeed(
            TwoRanks.median(connect),
            TwoRanks.median(trips.subList(ROUND_TRIPS / 2, ROUND_TRIPS)),
            rate);
      }
    }
  }

  private static double oneWay(Connection from, Connection to, int messages)
      throws IOException, InterruptedException {
    Thread writer =
        writing(() -> {
          ByteBuffer text = ByteBuffer.allocateDirect(LONG_BYTES);
          for (int i = 0; i < messages; i++) {
            from.write(text.clear());
          }
        });
    ByteBuffer got = ByteBuffer.allocateDirect(LONG_BYTES);
    long begin = System.nanoTime();
    for (int i = 0; i < messages; i++) {
      to.fill(got.clear());
    }
    double seconds = seconds(begin);
    writer.join();
    return (double) messages * LONG_BYTES / seconds;
  }

  private static List<Double> roundTrips(Connection one, Connection other)
      throws IOException, InterruptedException {
    Thread echo =
        writing(() -> {
          ByteBuffer text = ByteBuffer.allocateDirect(SHORT_BYTES);
          for (int i = 0; i < ROUND_TRIPS; i++) {
            other.fill(text.clear());
            other.write(text.flip());
          }
        });
    List<Double> trips = new ArrayList<>();
    ByteBuffer text = ByteBuffer.allocateDirect(SHORT_BYTES);
    for (int i = 0; i < ROUND_TRIPS; i++) {
      long begin = System.nanoTime();
      one.write(text.clear());
      one.fill(text.clear());
      trips.add(seconds(begin));
    }
    echo.join();
    return trips;
  }

  private interface Writing {
    void run() throws IOException;
  }

  private static Thread writing(Writing what) {
    Thread thread =
        new Thread(() -> {
          try {
            what.run();
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        });
    thread.start();
    return thread;
  }

  private static double seconds(long begin) {
    return 1e-9 * (System.nanoTime() - begin);
  }
}
