package dev.pipewright.execution;

/**
 * Files in PEM format with which the machines of a run know each other, by TLS.
 *
 * @param certificate of this machine, followed by those of intermediate authorities
 * @param key the private key of this certificate
 * @param authorities certificates of those who sign the certificates of the run's machines
 */
public record CertificateFiles(String certificate, String key, String authorities) {
  /** Names of the flags, by which mistakes are said. */
  public static final String CERTIFICATE = "--tls-cert";

  public static final String KEY = "--tls-key";
  public static final String AUTHORITIES = "--tls-ca";
}
