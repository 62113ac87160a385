package dev.pipewright.runtime.data;

import dev.pipewright.formats.file.BadInputException;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Iterator;
import javax.imageio.ImageIO;
import javax.imageio.ImageReader;
import javax.imageio.stream.ImageInputStream;

/** An image from a file: channels × height × width, 0 to 255. */
final class Image {
  /** About 0.2 GiB while one is decoded and scaled. */
  private static final int MOST_PIXELS = 10_000_000;

  private static final int END = 64; // bytes in which the end mark must lie

  private final float[] pixels;
  private final int channels;
  private final int height;
  private final int width;

  Image(float[] pixels, int channels, int height, int width) {
    this.pixels = pixels;
    this.channels = channels;
    this.height = height;
    this.width = width;
  }

  /** Finds files that are no images or are cut off, without decoding them. */
  static void check(Path path) {
    try (FileBytes file = FileBytes.open(path)) {
      int count = (int) Math.min(END, file.size());
      byte[] head = file.read(0, Math.min(count, 4));
      byte[] tail = file.read(file.size() - count, count);
      boolean png = begins(head, 0x89, 'P', 'N', 'G');
      boolean jpeg = begins(head, 0xff, 0xd8);
      if (!png && !jpeg && !begins(head, 'G', 'I', 'F') && !begins(head, 'B', 'M')) {
        throw damaged(path);
      }
      if ((png && !holds(tail, 'I', 'E', 'N', 'D')) || (jpeg && !holds(tail, 0xff, 0xd9))) {
        throw FileBytes.wrong(
            path, "the image is cut off after " + file.size() + " bytes; fetch or remove it");
      }
    }
  }

  private static BadInputException damaged(Path path) {
    return FileBytes.wrong(path, "is no png, jpg, gif or bmp, or damaged; fetch or remove it");
  }

  private static boolean begins(byte[] bytes, int... mark) {
    return bytes.length >= mark.length && matches(bytes, 0, mark);
  }

  private static boolean holds(byte[] bytes, int... mark) {
    for (int at = 0; at + mark.length <= bytes.length; at++) {
      if (matches(bytes, at, mark)) {
        return true;
      }
    }
    return false;
  }

  private static boolean matches(byte[] bytes, int at, int... mark) {
    for (int i = 0; i < mark.length; i++) {
      if ((bytes[at + i] & 0xff) != mark[i]) {
        return false;
      }
    }
    return true;
  }

  /**
   * Decodes a file.
   *
   * @param channels 3 for red, green and blue, 1 for their mean as the eye weighs them
   */
  static Image read(Path path, int channels) {
    BufferedImage image = decoded(path);
    int width = image.getWidth();
    int height = image.getHeight();
    int[] colours = image.getRGB(0, 0, width, height, null, 0, width);
    float[] pixels = new float[channels * colours.length];
    for (int i = 0; i < colours.length; i++) {
      int red = colours[i] >> 16 & 0xff;
      int green = colours[i] >> 8 & 0xff;
      int blue = colours[i] & 0xff;
      if (channels == 1) {
        pixels[i] = 0.299f * red + 0.587f * green + 0.114f * blue; // ITU-R BT.601
      } else {
        pixels[i] = red;
        pixels[colours.length + i] = green;
        pixels[2 * colours.length + i] = blue;
      }
    }
    return new Image(pixels, channels, height, width);
  }

  /** Its size is looked at before any pixel: a small file may say that it has billions. */
  private static BufferedImage decoded(Path path) {
    try (ImageInputStream in = ImageIO.createImageInputStream(path.toFile())) {
      Iterator<ImageReader> readers = ImageIO.getImageReaders(in);
      if (!readers.hasNext()) {
        throw damaged(path);
      }
      ImageReader reader = readers.next();
      try {
        reader.setInput(in, true, true);
        long pixels = (long) reader.getWidth(0) * reader.getHeight(0);
        if (pixels > MOST_PIXELS) {
          throw FileBytes.wrong(
              path,
              "the image has %d × %d pixels, more than %,d; scale it down"
                  .formatted(reader.getWidth(0), reader.getHeight(0), MOST_PIXELS));
        }
        return reader.read(0);
      } finally {
        reader.dispose();
      }
    } catch (BadInputException e) {
      throw e;
    } catch (IOException | RuntimeException e) { // decoders throw what they like on damaged files
      throw damaged(path);
    }
  }

  /**
   * The middle of the image at another size: as much as fits without distortion. Pixels are weighed
   * by a triangle, as wide as a new pixel where the image shrinks.
   */
  float[] covering(int rows, int columns) {
    double scale = Math.min((double) height / rows, (double) width / columns);
    double top = (height - scale * rows) / 2;
    double left = (width - scale * columns) / 2;
    float[] narrow = new float[channels * height * columns];
    for (int column = 0; column < columns; column++) {
      Weights weights = Weights.around(left + (column + 0.5) * scale, scale, width);
      for (int row = 0; row < channels * height; row++) {
        narrow[row * columns + column] = weights.sum(pixels, row * width, 1);
      }
    }
    float[] result = new float[channels * rows * columns];
    for (int row = 0; row < rows; row++) {
      Weights weights = Weights.around(top + (row + 0.5) * scale, scale, height);
      for (int channel = 0; channel < channels; channel++) {
        int from = channel * height * columns;
        int to = (channel * rows + row) * columns;
        for (int column = 0; column < columns; column++) {
          result[to + column] = weights.sum(narrow, from + column, columns);
        }
      }
    }
    return result;
  }

  /** How much each old pixel counts for a new one. */
  private record Weights(int first, float[] shares) {
    static Weights around(double centre, double scale, int extent) {
      double reach = Math.max(1, scale);
      int first = Math.max(0, (int) Math.floor(centre - reach));
      int last = Math.min(extent - 1, (int) Math.ceil(centre + reach));
      float[] shares = new float[last - first + 1];
      double sum = 0;
      for (int i = 0; i < shares.length; i++) {
        double share = Math.max(0, 1 - Math.abs(first + i + 0.5 - centre) / reach);
        shares[i] = (float) share;
        sum += share;
      }
      if (sum == 0) {
        Arrays.fill(shares, 1);
        sum = shares.length;
      }
      for (int i = 0; i < shares.length; i++) {
        shares[i] /= (float) sum;
      }
      return new Weights(first, shares);
    }

    float sum(float[] values, int from, int step) {
      float sum = 0;
      for (int i = 0; i < shares.length; i++) {
        sum += shares[i] * values[from + (first + i) * step];
      }
      return sum;
    }
  }
}
