package dev.pipewright.runtime.data;

import dev.pipewright.model.Shape;
import java.util.List;
import java.util.function.Function;

/**
 * Images stored byte by byte in files, channels first, at equal distances.
 *
 * @param parts the files in order
 * @param given channels and extents of an image
 * @param read the shape that the network reads: the same, or as a row
 * @param scale of the bytes of each channel
 */
record ByteImages(List<Part> parts, Shape given, Shape read, List<PixelScale> scale)
    implements Dataset {
  /**
   * The images of a file.
   *
   * @param pixels where they lie, at distances of at least an image
   * @param classes where they lie, a byte for each image
   * @param images how many there are
   */
  record Part(Run pixels, Run classes, long images) {}

  /**
   * Records at equal distances in a file, read on demand: a file may be larger than the memory.
   *
   * @param first the position of the first place
   * @param distance from one place to the next
   */
  record Run(FileBytes file, long first, int distance) {
    byte[] read(long number, int bytes) {
      return file.read(first + number * distance, bytes);
    }
  }

  @Override
  public long samples() {
    return parts.stream().mapToLong(Part::images).sum();
  }

  @Override
  public List<HostValues> inputs(long[] numbers) {
    int elements = Math.toIntExact(given.elements());
    int places = elements / scale.size();
    float[] values = new float[Math.multiplyExact(numbers.length, elements)];
    int at = 0;
    for (long number : numbers) {
      byte[] bytes = image(number);
      for (int i = 0; i < elements; i++) {
        values[at++] = scale.get(i / places).of(bytes[i] & 0xff);
      }
    }
    return List.of(new HostValues.Floating(values, Batches.shape(numbers.length, read)));
  }

  private byte[] image(long number) {
    return read(number, Part::pixels, Math.toIntExact(given.elements()));
  }

  @Override
  public HostValues target(long[] numbers) {
    return Batches.classes(numbers, number -> read(number, Part::classes, 1)[0] & 0xff);
  }

  private byte[] read(long number, Function<Part, Run> what, int bytes) {
    long left = number;
    for (Part part : parts) {
      if (left < part.images) {
        return what.apply(part).read(left, bytes);
      }
      left -= part.images;
    }
    throw new IndexOutOfBoundsException("number=" + number + ", samples=" + samples());
  }
}
