package dev.pipewright.runtime.tensor;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
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

  private static ProcessBuilder java(Class<?> main, List<String> options, String... arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("--enable-native-access=ALL-UNNAMED");
    command.addAll(options);
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    command.addAll(List.of(arguments));
    return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD);
  }

  private static List<String> output(Process process) throws IOException {
    return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
        .lines()
        .toList();
  }

  /** Fails where the system has a PyTorch and its files are mixed with ours. */
  @Test
  void firstUseLoadsItsOwnFilesOnly(@TempDir Path cache) throws Exception {
    Process process =
        java(
                Loaded.class,
                List.of(
                    "-XX:ErrorFile=" + cache.resolve("crash.log"),
                    "-Dorg.bytedeco.javacpp.cachedir=" + cache.resolve("unpacked")))
            .start();
    List<String> loaded = output(process);
    try (Stream<Path> files = Files.walk(cache)) {
      assertEquals(
          files.filter(file -> file.endsWith(LARGEST)).map(Path::toString).toList(), loaded);
    }
    assertEquals(0, process.waitFor());
  }
}
