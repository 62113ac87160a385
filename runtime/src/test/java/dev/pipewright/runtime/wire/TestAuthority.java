package dev.pipewright.runtime.wire;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.pipewright.execution.CertificateFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** An authority that OpenSSL makes in a folder, and the certificates that it signs. */
public final class TestAuthority {
  static final List<String> EC =
      List.of("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes");

  private final Path folder;
  private final String name;

  private TestAuthority(Path folder, String name) {
    this.folder = folder;
    this.name = name;
  }

  /** A new one, whose certificate is the file of its name. */
  public static TestAuthority in(Path folder, String name) {
    assumeTrue(hasOpenssl(), "OpenSSL is not installed");
    TestAuthority authority = new TestAuthority(folder, name);
    List<String> command = new ArrayList<>(List.of("req", "-x509", "-days", "2"));
    command.addAll(EC);
    command.addAll(
        List.of("-subj", "/CN=" + name, "-keyout", name + ".key", "-out", name + ".pem"));
    authority.openssl(command);
    return authority;
  }

  private static boolean hasOpenssl() {
    try {
      return new ProcessBuilder("openssl", "version").start().waitFor() == 0;
    } catch (IOException e) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** A certificate for a key of its own, valid from now on. */
  public CertificateFiles certificate(String subject) {
    return certificate(subject, EC, 1, "");
  }

  /**
   * A certificate.
   *
   * @param key how OpenSSL makes the key
   * @param days for which it is valid; negative for one that has expired
   * @param usage its {@code extendedKeyUsage}; empty for any
   */
  CertificateFiles certificate(String subject, List<String> key, int days, String usage) {
    List<String> request = new ArrayList<>(List.of("req", "-new", "-subj", "/CN=" + subject));
    request.addAll(key);
    if (!usage.isEmpty()) {
      request.addAll(List.of("-addext", "extendedKeyUsage=" + usage));
    }
    request.addAll(List.of("-keyout", subject + ".key", "-out", subject + ".csr"));
    openssl(request);
    openssl(
        List.of(
            "x509",
            "-req",
            "-in",
            subject + ".csr",
            "-copy_extensions",
            "copy",
            "-CA",
            name + ".pem",
            "-CAkey",
            name + ".key",
            "-days",
            Integer.toString(days),
            "-out",
            subject + ".pem"));
    return new CertificateFiles(
        file(subject + ".pem"), file(subject + ".key"), file(name + ".pem"));
  }

  private String file(String file) {
    return folder.resolve(file).toString();
  }

  private void openssl(List<String> arguments) {
    run(arguments, true);
  }

  /** What a command of OpenSSL prints in the folder, however it ends. */
  String said(List<String> arguments) {
    return run(arguments, false);
  }

  private String run(List<String> arguments, boolean successful) {
    List<String> command = new ArrayList<>(List.of("openssl"));
    command.addAll(arguments);
    try {
      Process process =
          new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true).start();
      process.getOutputStream().close();
      String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      int status = process.waitFor();
      assertTrue(status == 0 || !successful, said);
      return said;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }
}
