package dev.pipewright.runtime.wire;

import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Optional;

/**
 * How both ends of a new connection prove that they know the secret, without telling it:
 *
 * <pre>
 * door   → guest   OFFER   whether frames are sealed (1 byte), a nonce (16), a public key (32)
 * guest  → door    ANSWER  its number (4), a nonce (16), a public key (32), a proof over all (32)
 * door   → guest   PROOF   of the door, over the same (32); zeros where the guest's was wrong
 * </pre>
 *
 * <p>Both nonces are in the keys of the connection, so that nothing of one connection is of use in
 * another. Where frames are sealed, so is what the ends agree on with their {@link EphemeralKey}s,
 * as in TLS 1.3 with a pre-shared key and (EC)DHE (E. Rescorla, RFC 8446, 2018, §2.2); otherwise
 * public keys are zeros.
 *
 * @param transcript what both have said: sealed, the door's nonce and key, the guest's number,
 *     nonce and key
 * @param own of this end, where frames are sealed
 */
record Handshake(Secret secret, byte[] transcript, Optional<EphemeralKey> own) {
  static final int OFFER_BYTES = 1 + Handshake.NONCE_BYTES + EphemeralKey.BYTES;
  static final int ANSWER_BYTES =
      Integer.BYTES + Handshake.NONCE_BYTES + EphemeralKey.BYTES + Secret.BYTES;
  static final int PROOF_BYTES = Secret.BYTES;

  private static final int NONCE_BYTES = 16;
  private static final int SAID_BYTES =
      ANSWER_BYTES - Secret.BYTES; // of an answer, before its proof
  private static final String GUEST = "pipewright guest";
  private static final String DOOR = "pipewright door";

  /**
   * What a door begins with.
   *
   * @param own the door's key; frames are sealed where it has one
   */
  static byte[] offer(Optional<EphemeralKey> own) {
    return ByteBuffer.allocate(OFFER_BYTES)
        .put((byte) (own.isPresent() ? 1 : 0))
        .put(nonce())
        .put(shown(own))
        .array();
  }

  private static byte[] shown(Optional<EphemeralKey> own) {
    return own.map(EphemeralKey::shown).orElseGet(() -> new byte[EphemeralKey.BYTES]);
  }

  /** The guest's part, after the offer. */
  static Handshake ofGuest(Secret secret, byte[] offer, int number) {
    Optional<EphemeralKey> own =
        offer[0] == 0 ? Optional.empty() : Optional.of(EphemeralKey.random());
    byte[] said =
        ByteBuffer.allocate(SAID_BYTES).putInt(number).put(nonce()).put(shown(own)).array();
    return new Handshake(secret, joined(offer, said), own);
  }

  /** The door's part, after the answer. */
  static Handshake ofDoor(Secret secret, byte[] offer, byte[] answer, Optional<EphemeralKey> own) {
    return new Handshake(secret, joined(offer, Arrays.copyOf(answer, SAID_BYTES)), own);
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

  /** The keys of a connection's frames, by the end that sends them. */
  record Keys(Secret door, Secret guest) {}

  /**
   * The keys that both ends find.
   *
   * @param atDoor at which end
   * @throws WrongFrameException where the other end's public key is none
   */
  Keys keys(boolean atDoor) throws WrongFrameException {
    int at = atDoor ? transcript.length - EphemeralKey.BYTES : OFFER_BYTES - EphemeralKey.BYTES;
    byte[] others = Arrays.copyOfRange(transcript, at, at + EphemeralKey.BYTES);
    Secret both = secret.derived("pipewright agreed", own.orElseThrow().agreed(others));
    return new Keys(
        both.derived("pipewright frames of the door", transcript),
        both.derived("pipewright frames of the guest", transcript));
  }
}
