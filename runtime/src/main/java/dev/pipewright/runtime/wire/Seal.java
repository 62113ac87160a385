package dev.pipewright.runtime.wire;

import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * Encrypts and authenticates the frames of one direction of a connection: AES-256 in Galois/Counter
 * mode (NIST SP 800-38D). A frame is the length of its text (4 bytes, authenticated), the
 * ciphertext and its tag (16 bytes). The nonce is the number of the frame, which is not sent: one
 * that is changed, left out, repeated or out of order does not open.
 */
final class Seal {
  /** The text of a frame, at most. */
  static final int TEXT_BYTES = 1 << 16;

  static final int LENGTH_BYTES = Integer.BYTES;
  static final int TAG_BYTES = 16;

  private static final int NONCE_BYTES = 12;

  private final SecretKeySpec key;
  private final Cipher cipher;
  private long frames;

  /**
   * @param key of this direction of this connection only
   */
  Seal(Secret key) {
    this.key = new SecretKeySpec(key.key(), "AES");
    try {
      this.cipher = Cipher.getInstance("AES/GCM/NoPadding");
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("this Java platform has no AES/GCM", e);
    }
  }

  /** Writes the next frame. */
  void close(ByteBuffer text, ByteBuffer frame) {
    int length = text.remaining();
    frame.putInt(length);
    try {
      begin(Cipher.ENCRYPT_MODE, length);
      cipher.doFinal(text, frame);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("a frame cannot be sealed", e);
    }
  }

  /**
   * Reads the next frame.
   *
   * @param length that the frame says it has
   * @param sealed the ciphertext and its tag
   */
  void open(int length, ByteBuffer sealed, ByteBuffer text) throws WrongFrameException {
    try {
      begin(Cipher.DECRYPT_MODE, length);
      cipher.doFinal(sealed, text);
    } catch (AEADBadTagException e) {
      throw new WrongFrameException();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("a frame cannot be opened", e);
    }
  }

  private void begin(int mode, int length) throws GeneralSecurityException {
    byte[] nonce = ByteBuffer.allocate(NONCE_BYTES).putLong(Integer.BYTES, frames++).array();
    cipher.init(mode, key, new GCMParameterSpec(8 * TAG_BYTES, nonce));
    cipher.updateAAD(ByteBuffer.allocate(LENGTH_BYTES).putInt(0, length));
  }
}
