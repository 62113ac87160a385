package dev.pipewright.runtime.data;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.model.Shape;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * CIFAR-10's binary version (A. Krizhevsky, 2009): files of records, each a byte for the class and
 * 3,072 for the red, green and blue channel of an image of 32 × 32. A folder has {@code
 * data_batch_1.bin} and so on to train on, and {@code test_batch.bin} to hold out.
 */
final class Cifar10Files {
  private static final Shape IMAGE = Shape.of(3, 32, 32);
  private static final int RECORD = 1 + 3 * 32 * 32;
  private static final int CLASSES = 10;
  private static final int AT_ONCE = 500; // records that are read at a time to check them
  private static final String UNPACKED = "cifar-10-batches-bin"; // the archive's only folder

  private final Shape read;

  private Cifar10Files(Shape read) {
    this.read = read;
  }

  static TrainingData open(Path path, Fit fit) {
    Cifar10Files files = new Cifar10Files(fit.images(IMAGE));
    fit.classes(CLASSES);
    if (!Files.exists(path)) {
      throw FileBytes.wrong(path, "no such folder; give the folder of data_batch_1.bin");
    }
    if (!Files.isDirectory(path)) {
      return Selection.everyTenthHeldOut(files.images(List.of(path)));
    }
    Path inner = path.resolve(UNPACKED);
    Path folder = Files.isDirectory(inner) ? inner : path;
    Dataset training = files.images(batches(folder));
    Path test = folder.resolve("test_batch.bin");
    return Files.exists(test)
        ? new TrainingData(training, files.images(List.of(test)))
        : Selection.everyTenthHeldOut(training);
  }

  private static List<Path> batches(Path folder) {
    try (Stream<Path> entries = Files.list(folder)) {
      List<Path> batches =
          entries
              .filter(file -> file.getFileName().toString().matches("data_batch_\\d+\\.bin"))
              .sorted()
              .toList();
      if (batches.isEmpty()) {
        throw FileBytes.wrong(
            folder, "has no data_batch_1.bin; give the folder of CIFAR-10's binary version");
      }
      return batches;
    } catch (IOException e) {
      throw FileBytes.unreadable(folder, e);
    }
  }

  private Dataset images(List<Path> files) {
    List<ByteImages.Part> parts = new ArrayList<>();
    for (Path path : files) {
      FileBytes file = FileBytes.open(path);
      parts.add(
          new ByteImages.Part(
              new ByteImages.Run(file, 1, RECORD),
              new ByteImages.Run(file, 0, RECORD),
              images(file)));
    }
    return new ByteImages(parts, IMAGE, read, PixelScale.CIFAR10);
  }

  /** How many a file has, all of whose classes there are. */
  private static long images(FileBytes file) {
    long records = file.size() / RECORD;
    if (file.size() != records * RECORD || records == 0) {
      throw file.wrong(
          "has "
              + file.size()
              + " bytes, which is no multiple of the "
              + RECORD
              + " of a picture and its class; it ends within picture "
              + records
              + ", fetch it again");
    }
    for (long first = 0; first < records; first += AT_ONCE) {
      int count = (int) Math.min(AT_ONCE, records - first);
      byte[] read = file.read(first * RECORD, count * RECORD);
      for (int i = 0; i < count; i++) {
        int found = read[i * RECORD] & 0xff;
        if (found >= CLASSES) {
          throw damaged(file, (first + i) * RECORD, found);
        }
      }
    }
    return records;
  }

  private static BadInputException damaged(FileBytes file, long position, int found) {
    return file.wrong(
        "byte "
            + position
            + " holds class "
            + found
            + ", and CIFAR-10 has 0 to 9; it is damaged or of another data set, fetch it again");
  }
}
