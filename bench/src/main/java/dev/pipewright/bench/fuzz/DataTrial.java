package dev.pipewright.bench.fuzz;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.model.Shape;
import dev.pipewright.runtime.data.Dataset;
import dev.pipewright.runtime.data.DatasetRequirements;
import dev.pipewright.runtime.data.DatasetSpec;
import dev.pipewright.runtime.data.HostValues;
import dev.pipewright.runtime.data.TrainingData;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.zip.GZIPOutputStream;
import javax.imageio.ImageIO;

/**
 * Data sets of which one file is damaged: refused in a sentence that names the file, or read, every
 * sample of it, to numbers.
 *
 * @param files that are right, by name within the folder; one that is damaged is their first
 */
record DataTrial(
    String name,
    String spec,
    DatasetRequirements wanted,
    List<Map.Entry<String, byte[]>> files,
    Path folder)
    implements Trial {
  private static final int SAMPLES = 12;
  private static final int CLASSES = 10;

  /** One for each format that training reads. */
  static List<DataTrial> all(Path folder) {
    DatasetRequirements digits = images(Shape.of(1, 6, 5));
    byte[] pictures = idx(3, 6, 5);
    byte[] labels = idx(1);
    return List.of(
        trial(folder, "IDX images", "mnist:", digits, mnist("images", 3, pictures, labels)),
        trial(folder, "IDX labels", "mnist:", digits, mnist("labels", 1, labels, pictures)),
        trial(
            folder,
            "compressed images",
            "mnist:",
            digits,
            List.of(
                Map.entry("train-images-idx3-ubyte.gz", gzip(pictures)),
                Map.entry("train-labels-idx1-ubyte", labels))),
        trial(
            folder,
            "CIFAR-10",
            "cifar10:",
            images(Shape.of(3, 32, 32)),
            List.of(Map.entry("data_batch_1.bin", new byte[SAMPLES * 3073]))),
        picture(folder, "png"),
        picture(folder, "gif"),
        picture(folder, "bmp"),
        picture(folder, "jpg"));
  }

  private static DataTrial trial(
      Path folder,
      String name,
      String kind,
      DatasetRequirements wanted,
      List<Map.Entry<String, byte[]>> files) {
    Path own = folder.resolve(name.replace(' ', '-'));
    return new DataTrial("data: " + name, kind + own, wanted, files, own);
  }

  private static DatasetRequirements images(Shape shape) {
    return new DatasetRequirements(
        "net",
        List.of(new DatasetRequirements.Input.Field(shape)),
        new DatasetRequirements.Answer.Classes(CLASSES));
  }

  private static List<Map.Entry<String, byte[]>> mnist(
      String damaged, int axes, byte[] bytes, byte[] others) {
    String other = damaged.equals("images") ? "train-labels-idx1-ubyte" : "train-images-idx3-ubyte";
    return List.of(
        Map.entry("train-%s-idx%d-ubyte".formatted(damaged, axes), bytes),
        Map.entry(other, others));
  }

  private static DataTrial picture(Path folder, String format) {
    return trial(
        folder,
        format,
        "images:",
        images(Shape.of(3, 8, 8)),
        List.of(Map.entry("cat/one." + format, image(format))));
  }

  private static byte[] idx(int axes, int... extents) {
    int size = SAMPLES;
    ByteBuffer head = ByteBuffer.allocate(4 + 4 * axes).putInt(8 << 8 | axes).putInt(SAMPLES);
    for (int extent : extents) {
      head.putInt(extent);
      size *= extent;
    }
    ByteBuffer whole = ByteBuffer.allocate(head.capacity() + size).put(head.flip());
    while (whole.hasRemaining()) {
      whole.put((byte) (whole.remaining() % CLASSES));
    }
    return whole.array();
  }

  private static byte[] gzip(byte[] bytes) {
    ByteArrayOutputStream packed = new ByteArrayOutputStream();
    try (GZIPOutputStream out = new GZIPOutputStream(packed)) {
      out.write(bytes);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return packed.toByteArray();
  }

  private static byte[] image(String format) {
    BufferedImage image = new BufferedImage(12, 9, BufferedImage.TYPE_INT_RGB);
    for (int at = 0; at < 12 * 9; at++) {
      image.setRGB(at % 12, at / 12, at * 0x20503);
    }
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try {
      ImageIO.write(image, format, out);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return out.toByteArray();
  }

  @Override
  public Optional<Campaign.Finding> one(Runner runner, int number, long seed) {
    for (Map.Entry<String, byte[]> file : files) {
      FileTrial.write(folder.resolve(file.getKey()), file.getValue());
    }
    Path file = folder.resolve(files.get(0).getKey());
    byte[] damaged = files.get(0).getValue();
    Mutation mutation = new Mutation(seed);
    for (int count = new SplittableRandom(seed).nextInt(1, 4); count > 0; count--) {
      damaged = mutation.ofBytes(damaged);
    }
    FileTrial.write(file, damaged);
    Optional<Campaign.Finding> finding = runner.judged(name, number, spec, () -> read(file));
    if (finding.isPresent()) {
      FileTrial.write(
          folder.resolveSibling("finding-%d-%s".formatted(number, file.getFileName())), damaged);
    }
    return finding;
  }

  private void read(Path file) {
    try {
      TrainingData data = DatasetSpec.parse(spec).open(wanted);
      read(data.training());
      read(data.heldOut());
    } catch (BadInputException e) {
      String said = String.valueOf(e.getMessage());
      if (!said.contains(folder.toString()) || !said.contains("; ") || said.lines().count() > 1) {
        throw new IllegalStateException("says of " + file + ": " + said, e);
      }
    }
  }

  private static void read(Dataset data) {
    for (long sample = 0; sample < Math.min(data.samples(), SAMPLES); sample++) {
      for (HostValues values : data.inputs(new long[] {sample})) {
        if (values instanceof HostValues.Floating floating) {
          for (float value : floating.numbers()) {
            if (!Float.isFinite(value)) {
              throw new IllegalStateException("a pixel is " + value);
            }
          }
        }
      }
      data.target(new long[] {sample});
    }
  }
}
