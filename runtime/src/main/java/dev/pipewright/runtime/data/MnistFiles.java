package dev.pipewright.runtime.data;

import dev.pipewright.model.Shape;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The IDX files of MNIST (Y. LeCun, C. Cortes, C. Burges, 1998) and of data sets in its form, also
 * compressed: a mark, the extents as 32-bit numbers with the highest byte first, and bytes.
 */
final class MnistFiles {
  private static final long MOST_BYTES = 1L << 40; // of a file
  private static final int BYTES = 8; // the mark's third byte: elements are bytes without sign
  private static final int AT_ONCE = 1 << 16; // bytes of labels

  private final Path folder;
  private long room = FileBytes.mostUnpacked(); // for what all compressed files unpack to

  private MnistFiles(Path folder) {
    this.folder = folder;
  }

  static TrainingData open(Path folder, Fit fit) {
    if (!Files.isDirectory(folder)) {
      throw FileBytes.wrong(folder, "no such folder; give the folder of train-images-idx3-ubyte");
    }
    MnistFiles files = new MnistFiles(folder);
    Dataset training = files.images("train", fit);
    return files.find("t10k-images", 3).isPresent()
        ? new TrainingData(training, files.images("t10k", fit))
        : Selection.everyTenthHeldOut(training);
  }

  private Dataset images(String set, Fit fit) {
    Idx images = idx(set + "-images", 3);
    Idx labels = idx(set + "-labels", 1);
    int samples = images.extents.get(0);
    if (labels.extents.get(0) != samples) {
      throw labels.file.wrong(
          "has "
              + labels.extents.get(0)
              + " classes, but there are "
              + samples
              + " images beside it; both files must be of the same set");
    }
    fit.classes(classes(labels));
    Shape image = Shape.of(1, images.extents.get(1), images.extents.get(2));
    Shape read = fit.images(image);
    int distance = Math.toIntExact(image.elements());
    return new ByteImages(
        List.of(
            new ByteImages.Part(
                new ByteImages.Run(images.file, images.begin, distance),
                new ByteImages.Run(labels.file, labels.begin, 1),
                samples)),
        image,
        read,
        PixelScale.MNIST);
  }

  /** How many there are by the largest, read piece by piece. */
  private static int classes(Idx labels) {
    long end = labels.file.size();
    int most = 0;
    for (long begin = labels.begin; begin < end; begin += AT_ONCE) {
      for (byte found : labels.file.read(begin, (int) Math.min(AT_ONCE, end - begin))) {
        most = Math.max(most, found & 0xff);
      }
    }
    return most + 1;
  }

  /** A file whose mark and extents agree with its size; elements begin at {@code begin}. */
  private record Idx(FileBytes file, List<Integer> extents, int begin) {}

  private Idx idx(String name, int axes) {
    Path path =
        find(name, axes)
            .orElseThrow(() ->
                FileBytes.wrong(
                    folder,
                    "has no "
                        + name
                        + "-idx"
                        + axes
                        + "-ubyte, plain or .gz; give the folder of MNIST's four files"));
    int begin = 4 + 4 * axes;
    byte[] first = FileBytes.head(path, begin); // before anything large is unpacked
    if (first.length < begin) {
      throw FileBytes.wrong(
          path, "is cut off after " + first.length + " bytes, within its head; fetch it again");
    }
    ByteBuffer head = ByteBuffer.wrap(first);
    if (head.getInt() != (BYTES << 8 | axes)) {
      throw FileBytes.wrong(
          path, "does not begin with the mark of IDX bytes over " + axes + " axes; fetch it again");
    }
    List<Integer> extents = new ArrayList<>();
    long size = 1;
    for (int axis = 0; axis < axes; axis++) {
      int extent = head.getInt();
      if (extent < 1 || size > MOST_BYTES / extent) {
        throw FileBytes.wrong(
            path,
            "byte "
                + (4 + 4 * axis)
                + ": the extent "
                + extent
                + " makes no sense; fetch it again");
      }
      extents.add(extent);
      size *= extent;
    }
    size += begin;
    FileBytes file = FileBytes.open(path, room);
    room -= file.held();
    if (file.size() != size) {
      throw file.wrong(
          "has " + file.size() + " bytes, but its head promises " + size + "; fetch it again");
    }
    return new Idx(file, List.copyOf(extents), begin);
  }

  /** The file by the names under which it is handed around. */
  private Optional<Path> find(String name, int axes) {
    for (String joint : List.of("-", ".")) {
      for (String ending : List.of("", ".gz")) {
        Path path = folder.resolve(name + joint + "idx" + axes + "-ubyte" + ending);
        if (Files.exists(path)) {
          return Optional.of(path);
        }
      }
    }
    return Optional.empty();
  }
}
