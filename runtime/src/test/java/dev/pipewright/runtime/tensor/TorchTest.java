package dev.pipewright.runtime.tensor;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TorchTest {
  private static final String LARGEST = "libtorch_cpu.so";

  /** Of where the largest of the library's files lies that this process has loaded. */
  static final class Loaded {
    public static void main(String[] unused) throws IOException {
      Torch.start(1);
      Path maps = Path.of("/proc/self/maps");
      System.out.println(
          Files.readAllLines(maps).stream()
              .filter(line -> line.contains(LARGEST))
              .map(line -> line.substring(line.indexOf('/')))
              .distinct()
              .collect(Collectors.joining("\n")));
    }
  }

  /** Fails where the system has a PyTorch and its files are mixed with ours. */
  @Test
  void firstUseLoadsItsOwnFilesOnly(@TempDir Path cache) throws Exception {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-XX:ErrorFile=" + cache.resolve("crash.log"),
                "-Dorg.bytedeco.javacpp.cachedir=" + cache.resolve("unpacked"),
                "-cp",
                System.getProperty("java.class.path"),
                Loaded.class.getName())
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    List<String> loaded =
        new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
            .lines()
            .toList();
    try (Stream<Path> files = Files.walk(cache)) {
      assertEquals(
          files.filter(file -> file.endsWith(LARGEST)).map(Path::toString).toList(), loaded);
    }
    assertEquals(0, process.waitFor());
  }
}
