package dev.pipewright.runtime.wire;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.execution.CertificateFiles;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManagerFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Doors that let in whoever has a certificate and knows the secret, and no one with one of both. */
class TlsConnectionTest {
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final Secret SECRET = Secret.random();

  @TempDir static Path folder;
  private static TestAuthority authority;
  private static Tls one;
  private static Tls other;

  private final BlockingQueue<Connection> guests = new LinkedBlockingQueue<>();
  private final List<AutoCloseable> open = new ArrayList<>();

  @BeforeAll
  static void sign() {
    authority = TestAuthority.in(folder, "authority");
    one = Tls.of(authority.certificate("one"));
    other = Tls.of(authority.certificate("other"));
  }

  @AfterEach
  void closeAll() throws Exception {
    for (AutoCloseable each : open) {
      each.close();
    }
  }

  private <T extends AutoCloseable> T closing(T resource) {
    open.add(resource);
    return resource;
  }

  private Door door(Optional<Tls> tls) throws IOException {
    InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    Door door = closing(Door.open(any, true, new Credentials(SECRET, tls)));
    door.receive("door", guests::add);
    return door;
  }

  private Connection guest(Door door, Secret secret, Optional<Tls> tls) throws IOException {
    InetSocketAddress address =
        new InetSocketAddress(InetAddress.getLoopbackAddress(), door.port());
    return closing(Connection.to(address, new Credentials(secret, tls), 7, PATIENCE));
  }

  private static void pass(Connection from, Connection to, int count) throws Exception {
    byte[] bytes = new byte[count];
    new java.util.SplittableRandom(count).nextBytes(bytes);
    ByteBuffer sent = ByteBuffer.wrap(bytes);
    Thread thread = new Thread(() -> {
      try {
        while (!from.write(sent)) {
          Thread.onSpinWait();
        }
      } catch (IOException e) {
        throw new AssertionError(e);
      }
    });
    thread.start();
    ByteBuffer got = ByteBuffer.allocate(count);
    to.fill(got);
    thread.join();
    assertArrayEquals(bytes, got.array());
  }

  @Test
  void bothEndsTalk() throws Exception {
    Connection guest = guest(door(Optional.of(one)), SECRET, Optional.of(other));
    Connection host = closing(guests.take());
    assertEquals(7, host.peer());
    for (int count : new int[] {1, 3, 1 << 14, (1 << 14) + 1, 300_000, 5_000_000}) {
      pass(guest, host, count);
      pass(host, guest, count);
    }
  }
}
