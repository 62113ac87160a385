package dev.pipewright.runtime.wire;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Sealed connections agree on keys that the run's secret alone does not give. */
class HandshakeTest {
  private static final Secret SECRET = Secret.ofText("0123456789abcdef");

  private final EphemeralKey key = EphemeralKey.random();
  private final byte[] offer = Handshake.offer(Optional.of(key));
  private final Handshake guest = Handshake.ofGuest(SECRET, offer, 7);

  private Handshake door(byte[] answer, EphemeralKey own) {
    return Handshake.ofDoor(SECRET, offer, answer, Optional.of(own));
  }

  @Test
  void bothEndsAgree() throws Exception {
    Handshake door = door(guest.answer(), key);
    assertTrue(door.proves(guest.answer()));
    assertTrue(guest.isProof(door.proof()));
    assertEquals(7, door.number());
    Handshake.Keys ofDoor = door.keys(true);
    Handshake.Keys ofGuest = guest.keys(false);
    assertEquals(ofDoor.door().hex(), ofGuest.door().hex());
    assertEquals(ofDoor.guest().hex(), ofGuest.guest().hex());
    assertNotEquals(ofDoor.guest().hex(), ofDoor.door().hex());
  }

  /** Whoever has recorded all and learns the token later has no ephemeral key. */
  @Test
  void theSecretAndWhatWasSaidDoNotGiveTheKeys() throws Exception {
    Handshake.Keys right = door(guest.answer(), key).keys(true);
    Handshake.Keys later = door(guest.answer(), EphemeralKey.random()).keys(true);
    assertNotEquals(right.door().hex(), later.door().hex());
    assertNotEquals(right.guest().hex(), later.guest().hex());
    Handshake.Keys next = door(Handshake.ofGuest(SECRET, offer, 7).answer(), key).keys(true);
    assertNotEquals(right.door().hex(), next.door().hex(), "of another connection");
  }

  @Test
  void anotherKeyOnTheWayIsNoticed() {
    byte[] answer = guest.answer();
    int key = answer.length - Secret.BYTES - EphemeralKey.BYTES;
    System.arraycopy(EphemeralKey.random().shown(), 0, answer, key, EphemeralKey.BYTES);
    assertFalse(door(answer, this.key).proves(answer));
    byte[] changed = offer.clone();
    changed[changed.length - 1] ^= 1;
    Handshake misled = Handshake.ofGuest(SECRET, changed, 7);
    Handshake door = door(misled.answer(), this.key);
    assertFalse(door.proves(misled.answer()));
    assertFalse(misled.isProof(door.proof()));
  }

  @Test
  void aKeyOfSmallOrderIsRefused() {
    byte[] none = new byte[EphemeralKey.BYTES];
    assertThrows(WrongFrameException.class, () -> key.agreed(none));
    none[0] = 1;
    assertThrows(WrongFrameException.class, () -> key.agreed(none));
  }

  @Test
  void onOneMachineThereAreNoKeys() {
    byte[] plain = Handshake.offer(Optional.empty());
    assertArrayEquals(
        new byte[EphemeralKey.BYTES],
        Arrays.copyOfRange(plain, plain.length - EphemeralKey.BYTES, plain.length));
    Handshake guest = Handshake.ofGuest(SECRET, plain, 1);
    assertFalse(guest.sealed());
    assertTrue(guest.own().isEmpty());
  }

  @Test
  void bothKeysGiveTheSame() throws Exception {
    for (int i = 0; i < 50; i++) { // some begin with zeros
      EphemeralKey other = EphemeralKey.random();
      assertEquals(EphemeralKey.BYTES, other.shown().length);
      assertArrayEquals(key.agreed(other.shown()), other.agreed(key.shown()));
    }
  }
}
