package dev.pipewright.runtime.transport;

import dev.pipewright.runtime.wire.Connection;
import dev.pipewright.runtime.wire.Credentials;
import dev.pipewright.runtime.wire.Door;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A port at which a worker receives the connections of the others. It is open before the others
 * know of it, and takes connections in any order, so that no worker waits for another to accept.
 */
public final class Entrance implements AutoCloseable {
  private final Door door;
  private final String host;
  private final Credentials credentials;
  private final Map<Integer, Connection> arrived = new HashMap<>(); // guarded by this

  private Entrance(Door door, String host, Credentials credentials) {
    this.door = door;
    this.host = host;
    this.credentials = credentials;
  }

  /**
   * Opens one at any free port.
   *
   * @param host the address of this machine by which the other workers reach it
   * @param sealed whether frames are encrypted and authenticated: between machines
   * @param credentials of the workers of this run
   */
  public static Entrance open(String host, boolean sealed, Credentials credentials) {
    try {
      Door door = Door.open(new InetSocketAddress(host, 0), sealed, credentials);
      Entrance entrance = new Entrance(door, host, credentials);
      door.receive("entrance", entrance::welcome);
      return entrance;
    } catch (IOException e) {
      throw new UncheckedIOException("this machine has no address " + host, e);
    }
  }

  /** The port's address for the other workers. */
  public String address() {
    return door.port() + " " + host;
  }

  /** Reads such an address. */
  static InetSocketAddress parse(String address) {
    int space = address.indexOf(' ');
    return new InetSocketAddress(
        address.substring(space + 1), Integer.parseInt(address.substring(0, space)));
  }

  Credentials credentials() {
    return credentials;
  }

  private synchronized void welcome(Connection connection) {
    if (arrived.putIfAbsent(connection.peer(), connection) != null) {
      close(connection); // a worker connects once
    }
    notifyAll();
  }

  /** The connection from another worker, once it has come. */
  synchronized Connection from(int worker) {
    long begin = System.nanoTime();
    while (!arrived.containsKey(worker)) {
      long left = Delivery.PATIENCE_NANOSECONDS - (System.nanoTime() - begin);
      try {
        if (left <= 0) {
          throw new LostPeerException(
              "worker " + worker + " has not connected", new IOException("nothing came"));
        }
        TimeUnit.NANOSECONDS.timedWait(this, left);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new LostPeerException("interrupted while waiting for worker " + worker, e);
      }
    }
    return arrived.remove(worker);
  }

  private static void close(AutoCloseable open) {
    try {
      open.close();
    } catch (Exception e) {
      // it is of no use any more either way
    }
  }

  /** Closes also the connections that were not requested. */
  @Override
  public void close() {
    door.close();
    synchronized (this) {
      arrived.values().forEach(Entrance::close);
    }
  }
}
