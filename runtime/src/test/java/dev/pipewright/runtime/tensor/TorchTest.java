package dev.pipewright.runtime.tensor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
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

  /**
   * Two threads that come to new convolutions at once, with as many shapes as the argument says.
   * Prints those for which they found different gradients.
   */
  static final class TwoThreads {
    private static final long SEED = 41;
    private static final long[] ONE = {1, 1};

    private record Shape(int samples, int channels, int filters, int height, int width) {
      private static Shape of(SplittableRandom random) {
        return new Shape(
            random.nextInt(1, 9),
            16 * random.nextInt(1, 17),
            16 * random.nextInt(1, 17),
            random.nextInt(2, 8),
            random.nextInt(2, 8));
      }

      private float[] inputGradient() {
        try (Scope scope = new Scope();
            RandomSource random = new RandomSource(SEED)) {
          Tensor input = random.normal(1, samples, channels, height, width).packed().withGradient();
          Tensor weight = random.normal(1, filters, channels, 3, 3);
          Tensor gradient = random.normal(1, samples, filters, height, width).packed();
          Tensor output = Functions.convolution(input, weight, Optional.empty(), ONE, ONE, ONE, 1);
          Gradients.add(List.of(output), List.of(gradient));
          return input.gradient().orElseThrow().toFloats();
        }
      }
    }

    public static void main(String[] arguments) throws Exception {
      Torch.startForSeveral(1);
      SplittableRandom random = new SplittableRandom(SEED);
      CyclicBarrier together = new CyclicBarrier(2);
      try (ExecutorService threads = Executors.newFixedThreadPool(2)) {
        for (int i = Integer.parseInt(arguments[0]); i > 0; i--) {
          Shape shape = Shape.of(random);
          Callable<float[]> once =
              () -> {
                together.await();
                return shape.inputGradient();
              };
          Future<float[]> first = threads.submit(once);
          Future<float[]> second = threads.submit(once);
          if (!Arrays.equals(first.get(), second.get())) {
            System.out.println("different: " + shape);
          }
        }
      }
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

  /** It says what it computes with. */
  private static List<String> convolutions(Process process) throws Exception {
    List<String> lines = output(process);
    assertEquals(0, process.waitFor());
    assertEquals(List.of(), lines.stream().filter(line -> line.startsWith("different")).toList());
    return lines.stream().filter(line -> line.contains(",exec,cpu,convolution,")).toList();
  }

  /**
   * Without that, two threads find different gradients for 7 of 20,000 shapes on a Zen 4; here the
   * few shapes only show that they compute.
   */
  @Test
  void severalThreadsComputeWithInstructionsOf256Bits() throws Exception {
    ProcessBuilder threads = java(TwoThreads.class, List.of(), "20");
    threads.environment().put("ONEDNN_VERBOSE", "profile_exec");
    threads.environment().remove(Torch.INSTRUCTIONS);
    List<String> wide = convolutions(threads.start());
    assertFalse(wide.isEmpty());
    assertEquals(List.of(), wide.stream().filter(line -> line.contains("avx512")).toList());

    threads.environment().put(Torch.INSTRUCTIONS, "SSE41");
    List<String> narrow = convolutions(threads.start());
    assertEquals(List.of(), narrow.stream().filter(line -> line.contains("avx")).toList());
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
