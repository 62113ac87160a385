package dev.pipewright.runtime.wire;

import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PublicKey;
import java.security.interfaces.XECPublicKey;
import java.security.spec.NamedParameterSpec;
import java.security.spec.XECPublicKeySpec;
import java.util.Arrays;
import javax.crypto.KeyAgreement;

/**
 * A key pair of X25519 (A. Langley, M. Hamburg, S. Turner, RFC 7748, 2016) that is never stored:
 * what two ends agree on with theirs cannot be found later, also not with the run's token.
 */
final class EphemeralKey {
  /** Length of a public key and of what is agreed on. */
  static final int BYTES = 32;

  private static final String CURVE = "X25519";

  private final KeyPair pair;

  private EphemeralKey(KeyPair pair) {
    this.pair = pair;
  }

  static EphemeralKey random() {
    try {
      return new EphemeralKey(KeyPairGenerator.getInstance(CURVE).generateKeyPair());
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("this Java platform has no X25519", e);
    }
  }

  /** The public key, lowest byte first. */
  byte[] shown() {
    byte[] highestFirst = ((XECPublicKey) pair.getPublic()).getU().toByteArray();
    byte[] shown = new byte[BYTES];
    for (int i = 0; i < Math.min(BYTES, highestFirst.length); i++) {
      shown[i] = highestFirst[highestFirst.length - 1 - i];
    }
    return shown;
  }

  /**
   * What both ends agree on.
   *
   * @param shown by the other end
   * @throws WrongFrameException where it is no key with which any two ends would agree
   */
  byte[] agreed(byte[] shown) throws WrongFrameException {
    byte[] highestFirst = new byte[BYTES];
    for (int i = 0; i < BYTES; i++) {
      highestFirst[i] = shown[BYTES - 1 - i];
    }
    highestFirst[0] &= 0x7f; // as RFC 7748, §5, has it
    BigInteger u = new BigInteger(1, highestFirst);
    try {
      PublicKey other =
          KeyFactory.getInstance(CURVE)
              .generatePublic(new XECPublicKeySpec(NamedParameterSpec.X25519, u));
      KeyAgreement agreement = KeyAgreement.getInstance(CURVE);
      agreement.init(pair.getPrivate());
      agreement.doPhase(other, true);
      return Arrays.copyOf(agreement.generateSecret(), BYTES);
    } catch (GeneralSecurityException e) { // of small order
      throw new WrongFrameException();
    }
  }
}
