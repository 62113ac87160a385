package dev.pipewright.runtime.data;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.model.Shape;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.io.TempDir;

/** Files of all kinds of data sets, in a folder of their own, for tests. */
abstract class DataFiles {
  static final int RECORD = 3073;

  @TempDir Path folder;

  static DatasetRequirements images(int classes, Integer... shape) {
    return new DatasetRequirements(
        "net",
        List.of(new DatasetRequirements.Input.Field(Shape.of(shape))),
        new DatasetRequirements.Answer.Classes(classes));
  }

  static DatasetRequirements text(int steps) {
    return new DatasetRequirements(
        "gpt",
        List.of(new DatasetRequirements.Input.Tokens(steps, 256)),
        new DatasetRequirements.Answer.Tokens(steps, 256));
  }

  static float[] floats(HostValues values) {
    return ((HostValues.Floating) values).numbers();
  }

  static long[] whole(HostValues values) {
    return ((HostValues.Whole) values).numbers();
  }

  String mistake(String data, DatasetRequirements wanted) {
    String text = data.replace("DIR", folder.toString());
    String message =
        String.valueOf(
            assertThrows(BadInputException.class, () -> DatasetSpec.parse(text).open(wanted))
                .getMessage());
    assertEquals(1, message.lines().count(), message);
    return message.replace(folder.toString(), "DIR");
  }

  /** Records whose class is their number and whose pixels are class, class + 1, and so on. */
  static byte[] cifar(int first, int records) {
    byte[] bytes = new byte[records * RECORD];
    for (int record = 0; record < records; record++) {
      bytes[record * RECORD] = (byte) ((first + record) % 10);
      for (int pixel = 0; pixel < RECORD - 1; pixel++) {
        bytes[record * RECORD + 1 + pixel] = (byte) (first + record + pixel);
      }
    }
    return bytes;
  }

  static byte[] idx(int mark, int[] extents, int bytes) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    DataOutputStream data = new DataOutputStream(out);
    data.writeInt(mark);
    for (int extent : extents) {
      data.writeInt(extent);
    }
    for (int i = 0; i < bytes; i++) {
      data.writeByte(extents.length == 1 ? i % 10 : i);
    }
    return out.toByteArray();
  }

  static byte[] packed(byte[] bytes) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(out)) {
      gzip.write(bytes);
    }
    return out.toByteArray();
  }

  void mnist(boolean packed) throws IOException {
    String ending = packed ? ".gz" : "";
    byte[] images = idx(0x803, new int[] {12, 5, 4}, 240);
    byte[] labels = idx(0x801, new int[] {12}, 12);
    Files.write(
        folder.resolve("train-images-idx3-ubyte" + ending), packed ? packed(images) : images);
    Files.write(
        folder.resolve("train-labels-idx1-ubyte" + ending), packed ? packed(labels) : labels);
  }

  Path image(String path, int width, int height, int left, int right) throws IOException {
    BufferedImage image = new BufferedImage(width, height, BufferedImage.TYPE_INT_RGB);
    for (int x = 0; x < width; x++) {
      for (int y = 0; y < height; y++) {
        image.setRGB(x, y, x < width / 2 ? left : right);
      }
    }
    Path file = folder.resolve(path);
    Files.createDirectories(file.getParent());
    ImageIO.write(image, path.substring(path.lastIndexOf('.') + 1), file.toFile());
    return file;
  }
}
