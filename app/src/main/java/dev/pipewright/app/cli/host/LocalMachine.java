package dev.pipewright.app.cli.host;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.machine.MachineClusters;
import dev.pipewright.formats.machine.UnnamedDevices;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * This machine as a cluster: its GPUs, or else its processor as one device.
 *
 * @param cluster a name that means the same everywhere, so that plan files can keep it
 * @param memory bytes of a device, where the name does not say
 */
public record LocalMachine(String cluster, OptionalLong memory) {
  /** What users call it. */
  public static final String NAME = "local";

  private static final List<String> GPUS =
      List.of("nvidia-smi", "--query-gpu=name,memory.total", "--format=csv,noheader,nounits");

  /**
   * As the machine says.
   *
   * @throws BadInputException where its GPUs are of several kinds
   */
  public static LocalMachine of(Host host) {
    List<String> gpus =
        host.run(GPUS).stream()
            .flatMap(String::lines)
            .map(String::strip)
            .filter(line -> !line.isEmpty())
            .toList();
    if (gpus.isEmpty()) {
      return new LocalMachine(
          UnnamedDevices.processor(host.processors()), OptionalLong.of(host.memory()));
    }
    if (gpus.stream().distinct().count() > 1) {
      throw new BadInputException(
          "--cluster local: the GPUs here differ (%s); describe them in a YAML file (docs/formats.md)"
              .formatted(String.join("; ", gpus)));
    }
    String gpu = gpus.get(0);
    return known(gpu, gpus.size())
        .map(name -> new LocalMachine(name, OptionalLong.empty()))
        .orElseGet(
            () -> new LocalMachine(UnnamedDevices.gpus(gpus.size()), OptionalLong.of(bytes(gpu))));
  }

  /** The name of a data sheet: one of the words that NVIDIA's name has. */
  private static Optional<String> known(String gpu, int count) {
    List<String> words = new ArrayList<>();
    for (String word : gpu.toLowerCase(Locale.ROOT).split("[^a-z0-9]+", -1)) {
      if (word.matches("[a-z]+\\d+")) {
        words.add(count + "x" + word);
      }
    }
    return words.stream().filter(name -> MachineClusters.find(name).isPresent()).findFirst();
  }

  /** What the driver reports, in MiB. */
  private static long bytes(String gpu) {
    String amount = gpu.substring(gpu.lastIndexOf(',') + 1).strip();
    try {
      return Long.parseLong(amount) << 20;
    } catch (NumberFormatException e) {
      throw new BadInputException(
          "--cluster local: nvidia-smi says '%s' of a GPU's memory; give --gpus and --memory"
              .formatted(amount));
    }
  }
}
