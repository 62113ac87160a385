package dev.pipewright.runtime.wire;

import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.Arrays;

/**
 * How both ends of a new connection prove that they know the secret, without telling it:
 *
 * <pre>
 * door   → guest   OFFER   whether frames are sealed (1 byte), a nonce (16)
 * guest  → door    ANSWER  its number (4), a nonce (16), a proof over all of these (32)
 * door   → guest   PROOF   of the door, over the same (32); zeros where the guest's was wrong
 * </pre>
 *
 * <p>Both nonces are in the keys of the connection, so that nothing of one connection is of use in
 * another.
 *
 * @param transcript what both have said: sealed, the door's nonce, the guest's number and nonce
 */
record Handshake(Secret secret, byte[] transcript) {
  static final int OFFER_BYTES = 1 + Handshake.NONCE_BYTES;
  static final int ANSWER_BYTES = Integer.BYTES + Handshake.NONCE_BYTES + Secret.BYTES;
  static final int PROOF_BYTES = Secret.BYTES;

  private static final int NONCE_BYTES = 16;
  private static final int SAID_BYTES =
      ANSWER_BYTES - Secret.BYTES; // of an answer, before its proof
  private static final String GUEST = "pipewright guest";
  private static final String DOOR = "pipewright door";

  /** What a door begins with. */
  static byte[] offer(boolean sealed) {
    return ByteBuffer.allocate(OFFER_BYTES).put((byte) (sealed ? 1 : 0)).put(nonce()).array();
  }

  /** The guest's part, after the offer. */
  static Handshake ofGuest(Secret secret, byte[] offer, int number) {
    byte[] said = ByteBuffer.allocate(SAID_BYTES).putInt(number).put(nonce()).array();
    return new Handshake(secret, joined(offer, said));
  }

  /** The door's part, after the answer. */
  static Handshake ofDoor(Secret secret, byte[] offer, byte[] answer) {
    return new Handshake(secret, joined(offer, Arrays.copyOf(answer, SAID_BYTES)));
  }

  private static byte[] nonce() {
    byte[] nonce = new byte[NONCE_BYTES];
    new SecureRandom().nextBytes(nonce);
    return nonce;
  }

  private static byte[] joined(byte[] first, byte[] second) {
    byte[] both = Arrays.copyOf(first, first.length + second.length);
    System.arraycopy(second, 0, both, first.length, second.length);
    return both;
  }

  byte[] answer() {
    byte[] said = Arrays.copyOfRange(transcript, OFFER_BYTES, transcript.length);
    return joined(said, secret.proof(GUEST, transcript));
  }

  boolean proves(byte[] answer) {
    return secret.proves(Arrays.copyOfRange(answer, SAID_BYTES, answer.length), GUEST, transcript);
  }

  byte[] proof() {
    return secret.proof(DOOR, transcript);
  }

  boolean isProof(byte[] proof) {
    return secret.proves(proof, DOOR, transcript);
  }

  boolean sealed() {
    return transcript[0] != 0;
  }

  int number() {
    return ByteBuffer.wrap(transcript).getInt(OFFER_BYTES);
  }

  /** The key of what the guest sends. */
  Secret guestKey() {
    return secret.derived("pipewright frames of the guest", transcript);
  }

  /** The key of what the door sends. */
  Secret doorKey() {
    return secret.derived("pipewright frames of the door", transcript);
  }
}
