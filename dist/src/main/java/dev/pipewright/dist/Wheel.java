package dev.pipewright.dist;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.util.Base64;
import java.util.stream.Stream;
import org.apache.commons.compress.archivers.zip.ZipArchiveEntry;
import org.apache.commons.compress.archivers.zip.ZipArchiveOutputStream;

/**
 * Writes a Python wheel: the image, a package that starts it, and the profiler of PyTorch modules.
 * The format is that of the Python Packaging User Guide, "Binary distribution format".
 */
public final class Wheel implements AutoCloseable {
  private static final int FILE = 0100644;
  private static final int PROGRAM = 0100755;

  private final ZipArchiveOutputStream zip;
  private final long time;
  private final StringBuilder record = new StringBuilder();

  private Wheel(Path file, Instant time) throws IOException {
    this.zip = new ZipArchiveOutputStream(file);
    this.time = time.toEpochMilli();
  }

  /**
   * Writes {@code pipewright-VERSION-py3-none-PLATFORM.whl}.
   *
   * @param args this module's folder, the image, the folder of the wheel, the version, and the time
   *     of all files
   */
  public static void main(String[] args) throws IOException {
    Path module = Path.of(args[0]);
    String version = version(args[3]);
    Path folder = Files.createDirectories(Path.of(args[2]));
    Path file = folder.resolve("pipewright-%s-py3-none-%s.whl".formatted(version, platform()));
    String info = "pipewright-" + version + ".dist-info/";
    try (Wheel wheel = new Wheel(file, Instant.parse(args[4]))) {
      wheel.addAll(module.resolve("src/main/python/pipewright"), "pipewright/");
      wheel.addAll(Path.of(args[1]), "pipewright/image/");
      wheel.add(module.resolveSibling("tools/pipewright_profile.py"), "pipewright_profile.py");
      wheel.add(module.resolveSibling("LICENSE"), info + "licenses/LICENSE");
      wheel.add(info + "METADATA", metadata(version, module.resolveSibling("README.md")));
      wheel.add(
          info + "WHEEL",
          """
          Wheel-Version: 1.0
          Generator: pipewright-dist
          Root-Is-Purelib: false
          Tag: py3-none-%s
          """
              .formatted(platform()));
      wheel.add(
          info + "entry_points.txt",
          """
          [console_scripts]
          pipewright = pipewright._start:main
          pipewright-profile = pipewright._start:profile
          """);
      wheel.addRecord(info + "RECORD");
    }
  }

  /** Python's spelling of a version: {@code 0.1.0.dev0} for Maven's {@code 0.1.0-SNAPSHOT}. */
  static String version(String maven) {
    return maven.replace("-SNAPSHOT", ".dev0");
  }

  /**
   * The machines that the image runs on: those with this one's processor and a C library of 2.28.
   */
  private static String platform() {
    String processor = System.getProperty("os.arch").replace("amd64", "x86_64");
    String system = System.getProperty("os.name");
    return switch (system) {
      case "Linux" -> "manylinux_2_28_" + processor;
      case "Mac OS X" -> "macosx_11_0_" + processor.replace("aarch64", "arm64");
      default -> throw new IllegalStateException("no wheel is known for " + system);
    };
  }

  private static String metadata(String version, Path readme) throws IOException {
    return """
    Metadata-Version: 2.4
    Name: pipewright
    Version: %s
    Summary: Plans, predicts and simulates the training of deep neural networks on many devices
    License-Expression: Apache-2.0
    License-File: LICENSE
    Requires-Python: >=3.8
    Description-Content-Type: text/markdown

    %s\
    """
        .formatted(version, Files.readString(readme));
  }

  private void addAll(Path folder, String under) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
        if (!file.toString().contains("__pycache__")) {
          add(file, under + folder.relativize(file).toString().replace('\\', '/'));
        }
      }
    }
  }

  private void add(Path file, String name) throws IOException {
    write(name, Files.readAllBytes(file), Files.isExecutable(file) ? PROGRAM : FILE);
  }

  private void add(String name, String text) throws IOException {
    write(name, text.getBytes(StandardCharsets.UTF_8), FILE);
  }

  private void write(String name, byte[] content, int mode) throws IOException {
    ZipArchiveEntry entry = new ZipArchiveEntry(name);
    entry.setTime(time);
    entry.setUnixMode(mode);
    zip.putArchiveEntry(entry);
    zip.write(content);
    zip.closeArchiveEntry();
    record.append(name).append(",sha256=").append(hash(content)).append(',');
    record.append(content.length).append('\n');
  }

  /** The list of all files with their hashes, itself without. */
  private void addRecord(String name) throws IOException {
    record.append(name).append(",,\n");
    add(name, record.toString());
  }

  private static String hash(byte[] content) {
    try {
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(content);
      return Base64.getUrlEncoder().withoutPadding().encodeToString(digest);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() throws IOException {
    zip.close();
  }
}
