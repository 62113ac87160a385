package dev.pipewright.bench.fuzz;

import dev.pipewright.runtime.wire.Connection;
import dev.pipewright.runtime.wire.Credentials;
import dev.pipewright.runtime.wire.Door;
import dev.pipewright.runtime.wire.Secret;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * Bytes between a guest and a door that an attacker in the middle changes, leaves out, repeats or
 * invents: in the handshake or in sealed frames. What arrives is what was sent, or an {@link
 * IOException} says that it is not.
 */
final class FrameTrial implements Trial {
  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final int TEXT_BYTES = 300;
  private static final int FIRST_BYTES = 500; // of a direction, in which the damage begins

  @Override
  public String name() {
    return "frames";
  }

  @Override
  public Optional<Campaign.Finding> one(Runner runner, int number, long seed) {
    return runner.judged(
        name(), number, "a changed connection", () -> connect(new SplittableRandom(seed)));
  }

  private static InetSocketAddress anyPort() {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
  }

  private static void connect(SplittableRandom random) throws IOException, InterruptedException {
    Secret secret = Secret.random();
    BlockingQueue<Connection> welcome = new LinkedBlockingQueue<>();
    try (Door door = Door.open(anyPort(), true, Credentials.of(secret));
        ServerSocketChannel middle = ServerSocketChannel.open().bind(anyPort())) {
      door.receive("door", welcome::add);
      Tampering tampering =
          new Tampering(random.nextBoolean(), random.nextInt(FIRST_BYTES), random);
      Thread between = new Thread(() -> tampering.relay(middle, door.port()), "between");
      between.setDaemon(true);
      between.start();
      InetSocketAddress address = (InetSocketAddress) middle.getLocalAddress();
      try (Connection guest = Connection.to(address, Credentials.of(secret), 7, PATIENCE)) {
        Connection host = welcome.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        if (host != null) {
          try (host) {
            exchange(guest, host);
          }
        }
      } catch (IOException e) {
        // which says that the other end is not to be trusted, or has gone
      } finally {
        tampering.end();
      }
    }
  }

  private static void exchange(Connection guest, Connection host) throws IOException {
    if (host.peer() != 7) {
      throw new IllegalStateException("the door takes guest 7 for " + host.peer());
    }
    for (int frame = 0; frame < 2; frame++) {
      send(guest, host, (byte) (1 + frame));
      send(host, guest, (byte) (11 + frame));
    }
  }

  private static void send(Connection from, Connection to, byte letter) throws IOException {
    ByteBuffer text = ByteBuffer.allocate(TEXT_BYTES);
    while (text.hasRemaining()) {
      text.put(letter);
    }
    ByteBuffer expected = text.flip().duplicate();
    boolean written = false;
    while (!written) {
      written = from.write(text);
    }
    ByteBuffer arrived = ByteBuffer.allocate(TEXT_BYTES);
    to.fill(arrived);
    if (!arrived.flip().equals(expected)) {
      throw new IllegalStateException("other bytes arrived than were sent");
    }
  }

  /** Passes bytes on in both directions, and damages one of them from a byte on. */
  private static final class Tampering {
    private final boolean upwards;
    private final int at;
    private final SplittableRandom random;
    private volatile boolean ended;
    private int passed; // bytes in the direction that is damaged

    Tampering(boolean upwards, int at, SplittableRandom random) {
      this.upwards = upwards;
      this.at = at;
      this.random = random;
    }

    void relay(ServerSocketChannel middle, int port) {
      while (!ended) { // a guest that is turned away comes again, and is left alone
        try (SocketChannel guest = middle.accept();
            SocketChannel door =
                SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))) {
          Thread down = new Thread(() -> pass(door, guest, !upwards), "down");
          down.setDaemon(true);
          down.start();
          pass(guest, door, upwards);
          down.join();
        } catch (IOException e) {
          // one of both has hung up
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
        }
      }
    }

    private void pass(SocketChannel from, SocketChannel to, boolean damaging) {
      ByteBuffer buffer = ByteBuffer.allocate(1 << 10);
      try {
        while (from.read(buffer.clear()) >= 0) {
          byte[] bytes = new byte[buffer.flip().remaining()];
          buffer.get(bytes);
          boolean here = damaging && passed <= at && at < passed + bytes.length;
          passed += damaging ? bytes.length : 0;
          ByteBuffer out = ByteBuffer.wrap(here ? damaged(bytes) : bytes);
          while (out.hasRemaining()) {
            to.write(out);
          }
          if (here) { // and hang up, so that no end waits for bytes that were left out
            return;
          }
        }
      } catch (IOException e) {
        // it has ended
      } finally {
        hangUp(from);
        hangUp(to);
      }
    }

    private byte[] damaged(byte[] bytes) {
      byte[] damaged = new Mutation(random.nextLong()).ofBytes(bytes);
      return random.nextInt(4) > 0
          ? damaged
          : ByteBuffer.allocate(bytes.length + damaged.length).put(bytes).put(damaged).array();
    }

    private static void hangUp(SocketChannel channel) {
      try {
        channel.close();
      } catch (IOException e) {
        // it is of no use any more either way
      }
    }

    void end() {
      ended = true;
    }
  }
}
