package dev.pipewright.runtime.wire;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * A key that only the processes of a run know. Proofs that one knows it, and keys derived from it,
 * are HMAC-SHA256: H. Krawczyk, M. Bellare, R. Canetti, RFC 2104 (1997). It is written out here
 * because {@code javax.crypto} takes 0.2 s to load, in every process.
 */
public final class Secret {
  /** Length of a proof and of a derived key. */
  static final int BYTES = 32;

  private static final int BLOCK = 64; // of SHA-256
  private static final byte INNER = 0x36;
  private static final byte OUTER = 0x5c;

  private final byte[] key;

  private Secret(byte[] key) {
    this.key = key;
  }

  /** A new secret, from nothing predictable. */
  public static Secret random() {
    byte[] key = new byte[BYTES];
    new SecureRandom().nextBytes(key);
    return new Secret(key);
  }

  /** One that people pass on. */
  public static Secret ofText(String text) {
    return new Secret(text.getBytes(StandardCharsets.UTF_8));
  }

  /** One that {@link #hex} has written. */
  public static Secret ofHex(String hex) {
    return new Secret(HexFormat.of().parseHex(hex));
  }

  /** The secret as hexadecimal digits, for an authenticated connection only. */
  public String hex() {
    return HexFormat.of().formatHex(key);
  }

  /**
   * Proves knowledge of the key.
   *
   * @param purpose no two proofs of different meaning share one
   * @param what always as long for the same purpose
   */
  byte[] proof(String purpose, byte[] what) {
    byte[] block = Arrays.copyOf(key.length > BLOCK ? sha256(key) : key, BLOCK);
    byte[] text = (purpose + "\n").getBytes(StandardCharsets.UTF_8);
    return sha256(masked(block, OUTER), sha256(masked(block, INNER), text, what));
  }

  /** Whether it proves so; takes as long for a nearly right one as for any other. */
  boolean proves(byte[] proof, String purpose, byte[] what) {
    return MessageDigest.isEqual(proof, proof(purpose, what));
  }

  /** Another key, from which this one cannot be found. */
  Secret derived(String purpose, byte[] what) {
    return new Secret(proof(purpose, what));
  }

  /** The key itself. */
  byte[] key() {
    return key.clone();
  }

  private static byte[] masked(byte[] block, byte mask) {
    byte[] masked = new byte[block.length];
    for (int i = 0; i < block.length; i++) {
      masked[i] = (byte) (block[i] ^ mask);
    }
    return masked;
  }

  private static byte[] sha256(byte[]... parts) {
    MessageDigest digest = digest();
    for (byte[] part : parts) {
      digest.update(part);
    }
    return digest.digest();
  }

  /** A digest of SHA-256, of nothing yet. */
  static MessageDigest digest() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }

  @Override
  public String toString() {
    return "a secret";
  }
}
