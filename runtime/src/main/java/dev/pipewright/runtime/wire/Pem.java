package dev.pipewright.runtime.wire;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.PrivateFile;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Certificates and private keys in PEM format (S. Josefsson, S. Leonard, RFC 7468, 2015). */
final class Pem {
  private static final int MOST_BYTES = 1 << 20;
  private static final Pattern BLOCK =
      Pattern.compile("-----BEGIN ([A-Z0-9 ]+)-----([^-]*)-----END \\1-----");
  private static final String PKCS8 = "PRIVATE KEY";

  /** OpenSSL's older formats: the key alone, whose kind the label names. */
  private static final Set<String> BARE = Set.of("EC PRIVATE KEY", "RSA PRIVATE KEY");

  /** Algorithms of signatures by those of keys, to try a key. */
  private static final Map<String, String> SIGNATURES =
      Map.of("EC", "SHA256withECDSA", "RSA", "SHA256withRSA", "EdDSA", "EdDSA");

  private static final byte SEQUENCE = 0x30;
  private static final byte OCTETS = 0x04;
  private static final byte[] VERSION_0 = {2, 1, 0};

  private Pem() {}

  private record Block(String label, String body) {}

  private static List<Block> blocks(String flag, Path file) {
    try {
      if (!Files.isRegularFile(file)) {
        throw new BadInputException(
            "%s: no such file: %s; give one in PEM format".formatted(flag, file));
      }
      if (Files.size(file) > MOST_BYTES) {
        throw new BadInputException(
            "%s: %s is larger than 1 MiB; give a file in PEM format".formatted(flag, file));
      }
      Matcher found =
          BLOCK.matcher(new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1));
      List<Block> blocks = new ArrayList<>();
      while (found.find()) {
        blocks.add(new Block(found.group(1), found.group(2)));
      }
      return blocks;
    } catch (IOException e) {
      throw new BadInputException(
          "%s: %s cannot be read; check its permissions".formatted(flag, file));
    }
  }

  /** All certificates of a file, at least one. */
  static List<X509Certificate> certificates(String flag, Path file) {
    List<X509Certificate> certificates = new ArrayList<>();
    try {
      CertificateFactory factory = CertificateFactory.getInstance("X.509");
      for (Block block : blocks(flag, file)) {
        if (block.label.equals("CERTIFICATE")) {
          ByteArrayInputStream bytes = new ByteArrayInputStream(bytes(flag, file, block));
          certificates.add((X509Certificate) factory.generateCertificate(bytes));
        }
      }
    } catch (CertificateException e) {
      throw damaged(flag, file);
    }
    if (certificates.isEmpty()) {
      throw new BadInputException(
          "%s: %s holds no certificate in PEM format; give a file with -----BEGIN CERTIFICATE-----"
              .formatted(flag, file));
    }
    return certificates;
  }

  private static byte[] bytes(String flag, Path file, Block block) {
    try {
      return Base64.getMimeDecoder().decode(block.body);
    } catch (IllegalArgumentException e) {
      throw damaged(flag, file);
    }
  }

  private static BadInputException damaged(String flag, Path file) {
    return new BadInputException("%s: %s is damaged; copy it again".formatted(flag, file));
  }

  /** The private key of a certificate, from a file that only its owner can read. */
  static PrivateKey key(String flag, Path file, X509Certificate certificate) {
    PrivateFile.require(flag, file);
    PublicKey shown = certificate.getPublicKey();
    for (Block block : blocks(flag, file)) {
      if (block.label.startsWith("ENCRYPTED") || block.body.contains("ENCRYPTED")) {
        throw new BadInputException(
            "%s: %s is encrypted; write the key as `openssl pkey -in FILE` prints it"
                .formatted(flag, file));
      }
      if (block.label.equals(PKCS8)) {
        return fitting(flag, file, bytes(flag, file, block), shown);
      }
      if (BARE.contains(block.label)) {
        return fitting(flag, file, pkcs8(shown, bytes(flag, file, block)), shown);
      }
    }
    throw new BadInputException(
        "%s: %s holds no private key in PEM format; give a file with -----BEGIN PRIVATE KEY-----"
            .formatted(flag, file));
  }

  private static PrivateKey fitting(String flag, Path file, byte[] pkcs8, PublicKey shown) {
    String kind = shown.getAlgorithm();
    String algorithm = SIGNATURES.get(kind);
    if (algorithm == null) {
      throw new BadInputException(
          "%s: the certificate has a key of kind %s; make one with a key of RSA, EC or Ed25519"
              .formatted(flag, kind));
    }
    try {
      PrivateKey key = KeyFactory.getInstance(kind).generatePrivate(new PKCS8EncodedKeySpec(pkcs8));
      byte[] text = shown.getEncoded();
      Signature signing = Signature.getInstance(algorithm);
      signing.initSign(key);
      signing.update(text);
      Signature verifying = Signature.getInstance(algorithm);
      verifying.initVerify(shown);
      verifying.update(text);
      if (verifying.verify(signing.sign())) {
        return key;
      }
    } catch (GeneralSecurityException e) {
      // of another kind, or damaged
    }
    throw new BadInputException(
        "%s: %s does not fit the certificate; give the key that the certificate was made for"
            .formatted(flag, file));
  }

  /**
   * A key alone as PKCS #8 (B. Kaliski, RFC 5208, 2008): version, algorithm, key. The algorithm is
   * that of the certificate's public key, which begins with it.
   */
  private static byte[] pkcs8(PublicKey shown, byte[] bare) {
    ByteBuffer encoded = ByteBuffer.wrap(shown.getEncoded());
    enter(encoded);
    int begin = encoded.position();
    int length = enter(encoded);
    byte[] algorithm = new byte[encoded.position() - begin + length];
    encoded.get(begin, algorithm);
    return value(SEQUENCE, VERSION_0, algorithm, value(OCTETS, bare));
  }

  /** Reads tag and length of a value of DER, and returns the length. */
  private static int enter(ByteBuffer der) {
    der.get();
    int length = der.get() & 0xff;
    if (length < 0x80) {
      return length;
    }
    int longer = 0;
    for (int i = 0; i < (length & 0x7f); i++) {
      longer = (longer << 8) | (der.get() & 0xff);
    }
    return longer;
  }

  /** A value of DER, up to 64 KiB. */
  private static byte[] value(byte tag, byte[]... parts) {
    int length = 0;
    for (byte[] part : parts) {
      length += part.length;
    }
    ByteBuffer value = ByteBuffer.allocate(4 + length).put(tag);
    if (length >= 0x100) {
      value.put((byte) 0x82).putShort((short) length);
    } else if (length >= 0x80) {
      value.put((byte) 0x81).put((byte) length);
    } else {
      value.put((byte) length);
    }
    for (byte[] part : parts) {
      value.put(part);
    }
    return Arrays.copyOf(value.array(), value.position());
  }
}
