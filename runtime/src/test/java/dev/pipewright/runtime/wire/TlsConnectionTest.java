package dev.pipewright.runtime.wire;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.execution.CertificateFiles;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/**
 * Doors that let in whoever has a certificate and knows the secret, and no one with one of both.
 */
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
    new SplittableRandom(count).nextBytes(bytes);
    ByteBuffer sent = ByteBuffer.wrap(bytes);
    Thread thread =
        new Thread(() -> {
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

  private static void refuses(String what, Executable connecting) {
    WrongCertificateException wrong = assertThrows(WrongCertificateException.class, connecting);
    assertTrue(String.valueOf(wrong.getMessage()).startsWith(what), wrong::getMessage);
  }

  private void neverLetIn() throws InterruptedException {
    assertNull(guests.poll(200, TimeUnit.MILLISECONDS));
  }

  @Test
  void aCertificateWithoutTheSecretIsTurnedAway() throws Exception {
    Door door = door(Optional.of(one));
    assertThrows(
        WrongSecretException.class, () -> guest(door, Secret.random(), Optional.of(other)));
    neverLetIn();
  }

  @Test
  void theSecretWithoutACertificateIsTurnedAway() throws Exception {
    Door door = door(Optional.of(one));
    refuses(
        "lets in machines with certificates only; give --tls-cert",
        () -> guest(door, SECRET, Optional.empty()));
    neverLetIn();
  }

  @Test
  void aDoorWithoutCertificatesIsNoneForThoseWhoHaveOne() throws Exception {
    Door door = door(Optional.empty());
    refuses("uses no certificates; give --tls-cert", () -> guest(door, SECRET, Optional.of(other)));
    neverLetIn();
  }

  @Test
  void aCertificateOfAnotherAuthorityIsRefused() throws Exception {
    TestAuthority rival = TestAuthority.in(folder, "rival");
    CertificateFiles theirs = rival.certificate("stranger");
    Door door = door(Optional.of(one));
    refuses(
        "has a certificate that no authority of this machine has signed",
        () -> guest(door, SECRET, Optional.of(Tls.of(theirs))));
    Path both = folder.resolve("both.pem");
    Files.writeString(
        both,
        Files.readString(folder.resolve("authority.pem"))
            + Files.readString(folder.resolve("rival.pem")));
    Tls trusting =
        Tls.of(new CertificateFiles(theirs.certificate(), theirs.key(), both.toString()));
    refuses(
        "does not accept this machine's certificate",
        () -> guest(door, SECRET, Optional.of(trusting)));
    neverLetIn();
    guest(door(Optional.of(trusting)), SECRET, Optional.of(trusting));
  }

  /** Whoever stands in between with both certificates cannot pass on the proofs of the secret. */
  @Test
  void aManInTheMiddleWithBothCertificatesIsNoticed() throws Exception {
    Door door = door(Optional.of(one));
    try (ServerSocketChannel middle =
        ServerSocketChannel.open()
            .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
      Thread between =
          new Thread(() -> {
            try (SocketChannel guest = middle.accept();
                SocketChannel host =
                    SocketChannel.open(
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), door.port()))) {
              TlsFrames toGuest = new TlsFrames(one.engine(false));
              toGuest.connect(guest);
              TlsFrames toDoor = new TlsFrames(other.engine(true));
              toDoor.connect(host);
              passOn(toDoor, host, toGuest, guest, Handshake.OFFER_BYTES);
              passOn(toGuest, guest, toDoor, host, Handshake.ANSWER_BYTES);
              passOn(toDoor, host, toGuest, guest, Handshake.PROOF_BYTES);
            } catch (IOException e) {
              // one of both has hung up
            }
          });
      between.start();
      InetSocketAddress address = (InetSocketAddress) middle.getLocalAddress();
      assertThrows(
          WrongSecretException.class,
          () -> Connection.to(address, new Credentials(SECRET, Optional.of(other)), 7, PATIENCE));
      between.join();
    }
    neverLetIn();
  }

  private static void passOn(
      TlsFrames from, SocketChannel source, TlsFrames to, SocketChannel sink, int count)
      throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(count);
    while (bytes.hasRemaining()) {
      from.read(source, bytes);
    }
    to.write(sink, bytes.flip());
  }

  @Test
  void silentStrangersKeepNoGuestWaitingAndAreNeverTooMany() throws Exception {
    Door door = door(Optional.of(one));
    List<Socket> silent = new ArrayList<>();
    for (int i = 0; i <= Door.MOST_STRANGERS; i++) {
      silent.add(closing(new Socket(InetAddress.getLoopbackAddress(), door.port())));
    }
    assertEquals(0, silent.get(0).getInputStream().readAllBytes().length); // dropped for the last
    guest(door, SECRET, Optional.of(other));
    byte[] alert = silent.getLast().getInputStream().readAllBytes();
    assertArrayEquals(new byte[] {21, 3, 3, 0, 2, 2, 10}, alert); // fatal, unexpected message
  }

  @Test
  void strangersThatTalkNonsenseKeepNoGuestOut() throws Exception {
    SplittableRandom random = new SplittableRandom(1);
    Door door = door(Optional.of(one));
    for (int i = 0; i < 50; i++) {
      byte[] nonsense = new byte[random.nextInt(1, 300)];
      random.nextBytes(nonsense);
      nonsense[0] = i % 2 == 0 ? 22 : nonsense[0]; // as a handshake of TLS begins
      Socket stranger = closing(new Socket(InetAddress.getLoopbackAddress(), door.port()));
      stranger.getOutputStream().write(nonsense);
    }
    guest(door, SECRET, Optional.of(other));
    closing(guests.take());
    neverLetIn();
  }

  /** OpenSSL agrees on TLS 1.3, accepts the door's certificate and is asked for its own. */
  @Test
  void opensslConnectsWithACertificateOnly() throws Exception {
    Door door = door(Optional.of(one));
    String with = client(door, "-cert", "other.pem", "-key", "other.key");
    assertTrue(with.contains("New, TLSv1.3, Cipher is TLS_AES_256_GCM_SHA384"), with);
    assertTrue(with.contains("Verify return code: 0 (ok)"), with);
    assertTrue(with.contains("CN = authority"), with); // whom the door trusts
    assertTrue(!with.contains("alert"), with);
    String without = client(door);
    assertTrue(without.contains("alert certificate required"), without);
    authority.certificate("old", TestAuthority.EC, -1, "");
    String expired = client(door, "-cert", "old.pem", "-key", "old.key");
    assertTrue(expired.contains("alert certificate unknown"), expired);
    String older = client(door, "-cert", "other.pem", "-key", "other.key", "-no_tls1_3");
    assertTrue(older.contains("alert protocol version"), older);
    neverLetIn();
  }

  /** What a client of OpenSSL says until the door hangs up. */
  private static String client(Door door, String... more) {
    List<String> command =
        new ArrayList<>(List.of("s_client", "-connect", "127.0.0.1:" + door.port(), "-CAfile"));
    command.addAll(List.of("authority.pem", "-ign_eof"));
    command.addAll(List.of(more));
    return authority.said(command);
  }

  @Test
  void keysAreRenewedInTime() throws Exception {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Djavax.net.debug=ssl:handshake",
                "-cp",
                System.getProperty("java.class.path"),
                KeyUpdateMain.class.getName(),
                folder.resolve("one.pem").toString(),
                folder.resolve("one.key").toString(),
                folder.resolve("authority.pem").toString())
            .redirectErrorStream(true)
            .start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, process.waitFor(), said);
    assertTrue(said.contains(KeyUpdateMain.BYTES + " bytes arrived"), said);
    int renewed = said.split("read key updated", -1).length - 1;
    assertTrue(renewed >= KeyUpdateMain.BYTES >> 20, renewed + " times");
  }
}
