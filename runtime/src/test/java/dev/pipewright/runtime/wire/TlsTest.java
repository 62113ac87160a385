package dev.pipewright.runtime.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.execution.CertificateFiles;
import dev.pipewright.formats.file.BadInputException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Files of certificates and keys, as OpenSSL writes them, and the sentences for wrong ones. */
class TlsTest {
  @TempDir static Path folder;
  private static TestAuthority authority;
  private static CertificateFiles good;

  @BeforeAll
  static void sign() {
    authority = TestAuthority.in(folder, "authority");
    good = authority.certificate("good");
  }

  private static String file(String name) {
    return folder.resolve(name).toString();
  }

  private static CertificateFiles withKey(String key) {
    return new CertificateFiles(good.certificate(), key, good.authorities());
  }

  private static void refuses(String sentence, CertificateFiles files) {
    BadInputException mistake = assertThrows(BadInputException.class, () -> Tls.of(files));
    assertEquals(sentence, mistake.getMessage());
  }

  private static String written(String name, String text) throws IOException {
    Path file = Files.writeString(folder.resolve(name), text);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    return file.toString();
  }

  @ParameterizedTest
  @CsvSource({"ec,ec_paramgen_curve:P-384", "rsa,rsa_keygen_bits:2048", "ed25519,"})
  void keysOfEachKindAreReadInBothFormats(String kind, String option) throws IOException {
    List<String> how =
        option == null
            ? List.of("-newkey", kind, "-nodes")
            : List.of("-newkey", kind, "-pkeyopt", option, "-nodes");
    CertificateFiles files = authority.certificate(kind, how, 1, "");
    Tls.of(files);
    if (option == null) { // which the older formats do not know
      return;
    }
    authority.said(
        List.of("pkey", "-in", kind + ".key", "-traditional", "-out", kind + "-old.key"));
    String older = file(kind + "-old.key");
    assertTrue(Files.readString(Path.of(older)).contains("EC PRIVATE KEY") == kind.equals("ec"));
    assertFalse(Files.readString(Path.of(older)).contains("BEGIN PRIVATE KEY"));
    Tls.of(new CertificateFiles(files.certificate(), older, files.authorities()));
  }

  @Test
  void anAuthorityInBetweenIsPartOfTheChain() throws IOException {
    TestAuthority.in(folder, "other");
    String all =
        Files.readString(folder.resolve("other.pem"))
            + Files.readString(folder.resolve("authority.pem"));
    Tls.of(new CertificateFiles(good.certificate(), good.key(), written("all.pem", all)));
    refuses(
        "--tls-cert: %s is not signed by an authority in %s; give its authority in --tls-ca"
            .formatted(good.certificate(), file("other.pem")),
        new CertificateFiles(good.certificate(), good.key(), file("other.pem")));
  }

  @Test
  void filesThatAreMissingOrHoldSomethingElseAreNamed() throws IOException {
    refuses(
        "--tls-key: no such file: %s; give one in PEM format".formatted(file("none")),
        withKey(file("none")));
    refuses(
        "--tls-cert: no such file: %s; give one in PEM format".formatted(file("none")),
        new CertificateFiles(file("none"), good.key(), good.authorities()));
    String text = written("text", "no PEM\n");
    refuses(
        "--tls-ca: %s holds no certificate in PEM format; give a file with -----BEGIN CERTIFICATE-----"
            .formatted(text),
        new CertificateFiles(good.certificate(), good.key(), text));
    refuses(
        "--tls-key: %s holds no private key in PEM format; give a file with -----BEGIN PRIVATE KEY-----"
            .formatted(text),
        withKey(text));
    String damaged =
        written("damaged", "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n");
    refuses(
        "--tls-cert: %s is damaged; copy it again".formatted(damaged),
        new CertificateFiles(damaged, good.key(), good.authorities()));
  }

  @Test
  void aKeyOfAnotherCertificateIsRefused() {
    authority.certificate("another");
    refuses(
        "--tls-key: %s does not fit the certificate; give the key that the certificate was made for"
            .formatted(file("another.key")),
        withKey(file("another.key")));
  }

  @Test
  void aKeyThatOthersCanReadIsRefused() throws IOException {
    Path open = Path.of(written("open.key", Files.readString(Path.of(good.key()))));
    Tls.of(withKey(open.toString()));
    Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rw-r--r--"));
    refuses(
        "--tls-key: %s can be read or changed by other users; run chmod 600 on it".formatted(open),
        withKey(open.toString()));
  }

  @Test
  void anEncryptedKeyIsRefused() throws IOException {
    authority.said(
        List.of("pkey", "-in", "good.key", "-aes256", "-passout", "pass:word", "-out", "shut.key"));
    refuses(
        "--tls-key: %s is encrypted; write the key as `openssl pkey -in FILE` prints it"
            .formatted(file("shut.key")),
        withKey(file("shut.key")));
  }

  @Test
  void aCertificateThatHasExpiredIsRefused() {
    CertificateFiles old = authority.certificate("old", TestAuthority.EC, -1, "");
    BadInputException mistake = assertThrows(BadInputException.class, () -> Tls.of(old));
    assertTrue(
        String.valueOf(mistake.getMessage())
            .matches("--tls-cert: .*old\\.pem has expired \\(20.*Z\\); give one that is valid"),
        mistake::getMessage);
  }

  @ParameterizedTest
  @CsvSource({"serverAuth,client", "clientAuth,server"})
  void aCertificateForOneEndOnlyIsRefused(String usage, String end) {
    CertificateFiles half = authority.certificate(usage, TestAuthority.EC, 1, usage);
    BadInputException mistake = assertThrows(BadInputException.class, () -> Tls.of(half));
    assertTrue(
        String.valueOf(mistake.getMessage()).contains("is not accepted of a " + end),
        mistake::getMessage);
  }

  @Test
  void bothUsesTogetherAreAccepted() {
    Tls.of(authority.certificate("both", TestAuthority.EC, 1, "serverAuth,clientAuth"));
  }
}
