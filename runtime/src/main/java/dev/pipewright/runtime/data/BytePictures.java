package dev.pipewright.runtime.data;

import dev.pipewright.model.Shape;
import java.util.List;

/**
 * Pictures that lie in files byte by byte, channels first, at equal distances.
 *
 * @param parts the files in order
 * @param given channels and extents of a picture
 * @param read the shape that the network reads: the same, or as a row
 * @param scale of the bytes of each channel
 */
record BytePictures(List<Part> parts, Shape given, Shape read, List<PixelScale> scale)
    implements Dataset {
  /**
   * The pictures of a file.
   *
   * @param first where the first picture begins
   * @param distance from one picture's begin to the next one's
   */
  record Part(FileBytes file, long first, int distance, byte[] classes) {}

  @Override
  public long samples() {
    return parts.stream().mapToLong(part -> part.classes.length).sum();
  }

  @Override
  public List<Values> inputs(long[] numbers) {
    int elements = Math.toIntExact(given.elements());
    int places = elements / scale.size();
    float[] values = new float[Math.multiplyExact(numbers.length, elements)];
    int at = 0;
    for (long number : numbers) {
      byte[] bytes = picture(number);
      for (int i = 0; i < elements; i++) {
        values[at++] = scale.get(i / places).of(bytes[i] & 0xff);
      }
    }
    return List.of(new Values.Floating(values, Batches.shape(numbers.length, read)));
  }

  private byte[] picture(long number) {
    long left = number;
    int part = 0;
    while (left >= parts.get(part).classes.length) {
      left -= parts.get(part++).classes.length;
    }
    Part found = parts.get(part);
    return found.file.read(found.first + left * found.distance, Math.toIntExact(given.elements()));
  }

  @Override
  public Values target(long[] numbers) {
    return Batches.classes(numbers, this::classOf);
  }

  private int classOf(long number) {
    long left = number;
    for (Part part : parts) {
      if (left < part.classes.length) {
        return part.classes[(int) left] & 0xff;
      }
      left -= part.classes.length;
    }
    throw new IndexOutOfBoundsException("number=" + number + ", samples=" + samples());
  }
}
