package dev.pipewright.app.cli.launch;

import dev.pipewright.execution.CertificateFiles;
import dev.pipewright.formats.file.BadInputException;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Certificates with which the machines of a run know each other. */
public final class TlsFlags {
  @Option(
      names = CertificateFiles.CERTIFICATE,
      paramLabel = "FILE",
      description =
          "This machine's certificate, in PEM format: connections between machines use TLS 1.3, and"
              + " both ends show theirs. Default: keys that the token authenticates.")
  private @Nullable Path certificate;

  @Option(
      names = CertificateFiles.KEY,
      paramLabel = "FILE",
      description =
          "The private key of --tls-cert, in PEM format, in a file that only its owner can read.")
  private @Nullable Path key;

  @Option(
      names = CertificateFiles.AUTHORITIES,
      paramLabel = "FILE",
      description =
          "Certificates of the authorities that have signed those of all machines, in PEM format.")
  private @Nullable Path authorities;

  /** The files; none without the flags. They are read where a run starts. */
  public Optional<CertificateFiles> files() {
    if (certificate == null && key == null && authorities == null) {
      return Optional.empty();
    }
    return Optional.of(
        new CertificateFiles(
            path(CertificateFiles.CERTIFICATE, certificate),
            path(CertificateFiles.KEY, key),
            path(CertificateFiles.AUTHORITIES, authorities)));
  }

  private static String path(String flag, @Nullable Path file) {
    if (file == null) {
      throw new BadInputException(
          "%s is missing; give --tls-cert, --tls-key and --tls-ca together".formatted(flag));
    }
    return file.toString();
  }
}
