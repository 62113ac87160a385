package dev.pipewright.runtime.wire;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DoorTest {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final Secret secret = Secret.random();
  private final BlockingQueue<Connection> guests = new LinkedBlockingQueue<>();
  private final List<AutoCloseable> open = new ArrayList<>();

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

  private Door door(boolean sealed) throws IOException {
    Door door =
        closing(
            Door.open(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                sealed,
                Credentials.of(secret)));
    door.receive("door", guests::add);
    return door;
  }

  private Socket stranger(Door door) throws IOException {
    return closing(new Socket(InetAddress.getLoopbackAddress(), door.port()));
  }

  private Connection guest(Door door, Secret known) throws IOException {
    InetSocketAddress address =
        new InetSocketAddress(InetAddress.getLoopbackAddress(), door.port());
    return closing(Connection.to(address, Credentials.of(known), 7, PATIENCE));
  }

  private void bothTalk(Connection guest) throws Exception {
    Connection host = closing(guests.take());
    assertEquals(7, host.peer());
    bytesArrive(guest, host, 3);
    bytesArrive(host, guest, 3);
  }

  private static void bytesArrive(Connection from, Connection to, int count) throws Exception {
    byte[] sent = new byte[count];
    new SplittableRandom(count).nextBytes(sent);
    Thread writer =
        new Thread(() -> {
          ByteBuffer buffer = ByteBuffer.wrap(sent);
          try {
            while (!from.write(buffer)) {
              Thread.onSpinWait();
            }
          } catch (IOException e) {
            throw new AssertionError(e);
          }
        });
    writer.start();
    byte[] got = new byte[count];
    to.fill(ByteBuffer.wrap(got));
    writer.join();
    assertArrayEquals(sent, got);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void whoeverKnowsTheSecretIsLetInAndHeard(boolean sealed) throws Exception {
    Connection guest = guest(door(sealed), secret);
    bothTalk(guest);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void muchMoreThanAFrameArrives(boolean sealed) throws Exception {
    Connection guest = guest(door(sealed), secret);
    Connection host = closing(guests.take());
    bytesArrive(guest, host, 5 * Seal.TEXT_BYTES + 1);
    bytesArrive(host, guest, 3 * Seal.TEXT_BYTES);
  }

  @Test
  void whoeverKnowsAnotherSecretIsTurnedAway() throws Exception {
    Door door = door(true);
    assertThrows(WrongSecretException.class, () -> guest(door, Secret.random()));
    bothTalk(guest(door, secret));
  }

  @Test
  void silentStrangersKeepNobodyWaitingAndAreNeverTooMany() throws Exception {
    Door door = door(false);
    Socket first = stranger(door);
    for (int i = 0; i < Door.MOST_STRANGERS; i++) {
      stranger(door);
    }
    assertEquals(
        Handshake.OFFER_BYTES, first.getInputStream().readAllBytes().length); // then it was dropped
    bothTalk(guest(door, secret));
  }

  @Test
  void aSilentStrangerIsDroppedAfterAWhile() throws Exception {
    Socket silent = stranger(door(false));
    assertEquals(Handshake.OFFER_BYTES, silent.getInputStream().readAllBytes().length);
  }

  @Test
  void strangersThatTalkNonsenseKeepNobodyOut() throws Exception {
    SplittableRandom random = new SplittableRandom(1);
    Door door = door(true);
    for (int i = 0; i < 50; i++) {
      byte[] nonsense = new byte[random.nextInt(1, 300)];
      random.nextBytes(nonsense);
      Socket stranger = stranger(door);
      if (i % 3 == 0) {
        stranger.setSoLinger(true, 0); // ends with a reset
      }
      try {
        stranger.getOutputStream().write(nonsense);
      } catch (IOException e) {
        // it was turned away before it had said all
      }
      if (i % 2 == 0) {
        stranger.close();
      }
    }
    bothTalk(guest(door, secret));
    assertTrue(guests.isEmpty());
  }

  /** What one guest has said lets nobody else in: the door's nonce is another one. */
  @Test
  void anAnswerThatWasListenedToIsOfNoUse() throws Exception {
    Door door = door(false);
    Socket honest = stranger(door);
    byte[] offer = honest.getInputStream().readNBytes(Handshake.OFFER_BYTES);
    byte[] answer = Handshake.ofGuest(secret, offer, 7).answer();
    honest.getOutputStream().write(answer);
    closing(guests.take());
    Socket other = stranger(door);
    other.getInputStream().readNBytes(Handshake.OFFER_BYTES);
    other.getOutputStream().write(answer);
    assertArrayEquals(new byte[Handshake.PROOF_BYTES], other.getInputStream().readAllBytes());
    assertTrue(guests.isEmpty());
  }
}
