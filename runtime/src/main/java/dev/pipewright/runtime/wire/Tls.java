package dev.pipewright.runtime.wire;

import dev.pipewright.execution.CertificateFiles;
import dev.pipewright.formats.file.BadInputException;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.CertPathBuilderException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;
import java.security.cert.X509Certificate;
import java.util.Date;
import java.util.List;
import java.util.Set;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;

/**
 * TLS 1.3 between machines that know each other by certificates: both ends show one that an
 * authority of the run has signed. Names in certificates are not compared with addresses, since the
 * authorities are the run's own.
 */
public final class Tls {
  private static final String VERSION = "TLSv1.3";
  private static final String ANY = "UNKNOWN"; // the way of authentication in TLS 1.3
  private static final char[] NO_PASSWORD = {};

  /** Types of TLS's records, each of which begins with its type. */
  private static final Set<Integer> RECORDS = Set.of(20, 21, 22, 23);

  private final SSLContext context;

  private Tls(SSLContext context) {
    this.context = context;
  }

  /**
   * Reads and checks the files.
   *
   * @throws BadInputException with a sentence that names the flag where another machine would not
   *     accept what they hold
   */
  public static Tls of(CertificateFiles files) {
    Path certificate = Path.of(files.certificate());
    Path authorities = Path.of(files.authorities());
    List<X509Certificate> chain = Pem.certificates(CertificateFiles.CERTIFICATE, certificate);
    PrivateKey key = Pem.key(CertificateFiles.KEY, Path.of(files.key()), chain.get(0));
    List<X509Certificate> trusted = Pem.certificates(CertificateFiles.AUTHORITIES, authorities);
    try {
      TrustManagerFactory trust = TrustManagerFactory.getInstance("PKIX");
      trust.init(store(trusted));
      check(chain, (X509TrustManager) trust.getTrustManagers()[0], certificate, authorities);
      KeyStore own = store(List.of());
      own.setKeyEntry("own", key, NO_PASSWORD, chain.toArray(X509Certificate[]::new));
      KeyManagerFactory keys =
          KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      keys.init(own, NO_PASSWORD);
      SSLContext context = SSLContext.getInstance(VERSION);
      context.init(keys.getKeyManagers(), trust.getTrustManagers(), null);
      return new Tls(context);
    } catch (GeneralSecurityException | IOException e) {
      throw new IllegalStateException("this Java platform has no " + VERSION, e);
    }
  }

  private static KeyStore store(List<X509Certificate> trusted)
      throws GeneralSecurityException, IOException {
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, NO_PASSWORD);
    for (int i = 0; i < trusted.size(); i++) {
      store.setCertificateEntry("authority " + i, trusted.get(i));
    }
    return store;
  }

  /** What another machine checks, where a mistake can be said better. */
  private static void check(
      List<X509Certificate> chain, X509TrustManager trust, Path certificate, Path authorities) {
    X509Certificate[] certificates = chain.toArray(X509Certificate[]::new);
    String flag = CertificateFiles.CERTIFICATE + ": " + certificate;
    Date end = chain.get(0).getNotAfter();
    Date begin = chain.get(0).getNotBefore();
    try {
      chain.get(0).checkValidity();
      trust.checkServerTrusted(certificates, ANY);
    } catch (CertificateExpiredException e) {
      throw new BadInputException(
          "%s has expired (%s); give one that is valid".formatted(flag, end.toInstant()));
    } catch (CertificateNotYetValidException e) {
      throw new BadInputException(
          "%s is valid from %s on; set this machine's clock or give another one"
              .formatted(flag, begin.toInstant()));
    } catch (CertificateException e) {
      throw new BadInputException(
          isUnknown(e)
              ? "%s is not signed by an authority in %s; give its authority in %s"
                  .formatted(flag, authorities, CertificateFiles.AUTHORITIES)
              : "%s is not accepted of a server: %s; give another one"
                  .formatted(flag, e.getMessage()));
    }
    try {
      trust.checkClientTrusted(certificates, ANY);
    } catch (CertificateException e) {
      throw new BadInputException(
          "%s is not accepted of a client: %s; give one for both, with extendedKeyUsage serverAuth"
                  .formatted(flag, e.getMessage())
              + " and clientAuth or without");
    }
  }

  private static boolean isUnknown(Throwable failure) {
    return has(failure, CertPathBuilderException.class);
  }

  private static boolean has(Throwable failure, Class<? extends Throwable> kind) {
    for (Throwable e = failure; e != null; e = e.getCause()) {
      if (kind.isInstance(e)) {
        return true;
      }
    }
    return false;
  }

  /** One end of a connection. */
  SSLEngine engine(boolean guest) {
    SSLEngine engine = context.createSSLEngine(); // without an address: no session is resumed
    engine.setUseClientMode(guest);
    engine.setNeedClientAuth(!guest);
    engine.setEnabledProtocols(new String[] {VERSION});
    return engine;
  }

  /**
   * Throws where the other end speaks something else.
   *
   * @param first byte of what it says
   */
  static void requireTls(byte first) throws WrongCertificateException {
    if (!RECORDS.contains((int) first)) {
      throw new WrongCertificateException(
          "uses no certificates; give --tls-cert, --tls-key and --tls-ca there, too, or leave them"
              + " out here");
    }
  }

  /** Why there is no connection: as a sentence where certificates do not fit. */
  static IOException refusal(SSLException failure) {
    String what = String.valueOf(failure.getMessage());
    if (has(failure, CertificateExpiredException.class)) {
      return wrong("has a certificate that has expired; renew it there", failure);
    }
    if (isUnknown(failure)) {
      return wrong(
          "has a certificate that no authority of this machine has signed; give both ends the same"
              + " --tls-ca",
          failure);
    }
    if (has(failure, CertificateException.class)) {
      return wrong("has a certificate that is not accepted here: " + what, failure);
    }
    if (what.contains("certificate") || what.contains("unknown_ca")) { // an alert
      return wrong(
          "does not accept this machine's certificate (%s); give both ends the same --tls-ca"
              .formatted(what),
          failure);
    }
    return failure;
  }

  private static IOException wrong(String what, SSLException cause) {
    WrongCertificateException wrong = new WrongCertificateException(what);
    wrong.initCause(cause);
    return wrong;
  }
}
