package dev.pipewright.runtime.data;

import dev.pipewright.model.Shape;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;

/**
 * A folder with a folder of images for each class, classes in the order of their names. Where it
 * has the folders {@code train} and {@code val} (or {@code test}) instead, those have the classes.
 */
final class ImageFolder implements Dataset {
  private static final Set<String> ENDINGS = Set.of("png", "jpg", "jpeg", "gif", "bmp");
  private static final int COLOURS = 3;

  private final List<Path> files;
  private final int[] classes; // by file
  private final Shape shape;
  private final List<PixelScale> scale;

  private ImageFolder(List<Path> files, int[] classes, Shape shape) {
    this.files = files;
    this.classes = classes;
    this.shape = shape;
    this.scale = shape.extent(0) == COLOURS ? PixelScale.PHOTOGRAPHS : List.of(PixelScale.ANY);
  }

  static TrainingData open(Path folder, Fit fit) {
    Shape shape = fit.images();
    int channels = shape.extent(0);
    if (shape.extents().size() != 3 || (channels != 1 && channels != COLOURS)) {
      throw fit.misfit(
          "images have 1 or 3 channels and two extents, but "
              + fit.wanted().network()
              + " reads "
              + shape
              + "; take another network");
    }
    if (!Files.isDirectory(folder)) {
      throw FileBytes.wrong(folder, "no such folder; give a folder with a folder for each class");
    }
    Path train = folder.resolve("train");
    for (String heldOut : List.of("val", "test")) {
      if (Files.isDirectory(train) && Files.isDirectory(folder.resolve(heldOut))) {
        List<String> names = classNames(train);
        return new TrainingData(
            files(train, names, shape, fit), files(folder.resolve(heldOut), names, shape, fit));
      }
    }
    return Selection.everyTenthHeldOut(files(folder, classNames(folder), shape, fit));
  }

  private static List<String> classNames(Path folder) {
    List<String> names =
        entries(folder).stream()
            .filter(Files::isDirectory)
            .map(path -> path.getFileName().toString())
            .filter(name -> !name.startsWith("."))
            .toList();
    if (names.isEmpty()) {
      throw FileBytes.wrong(folder, "has no folders; put the images of each class into one");
    }
    return names;
  }

  private static List<Path> entries(Path folder) {
    try (Stream<Path> entries = Files.list(folder)) {
      return entries.sorted().toList();
    } catch (IOException e) {
      throw FileBytes.unreadable(folder, e);
    }
  }

  private static ImageFolder files(Path folder, List<String> names, Shape shape, Fit fit) {
    fit.classes(names.size());
    List<Path> files = new ArrayList<>();
    List<Integer> classes = new ArrayList<>();
    for (Path ofClass : entries(folder)) {
      String name = ofClass.getFileName().toString();
      if (!Files.isDirectory(ofClass) || name.startsWith(".")) {
        continue;
      }
      if (!names.contains(name)) {
        throw FileBytes.wrong(ofClass, "is a class that train does not have; remove it");
      }
      for (Path file : entries(ofClass)) {
        if (image(file)) {
          Image.check(file);
          files.add(file);
          classes.add(names.indexOf(name));
        }
      }
    }
    if (files.isEmpty()) {
      throw FileBytes.wrong(folder, "its folders hold no png, jpg, gif or bmp; put images there");
    }
    int[] ofFiles = classes.stream().mapToInt(Integer::intValue).toArray();
    return new ImageFolder(List.copyOf(files), ofFiles, shape);
  }

  private static boolean image(Path file) {
    String name = file.getFileName().toString().toLowerCase(Locale.ROOT);
    return !name.startsWith(".")
        && ENDINGS.contains(name.substring(name.lastIndexOf('.') + 1))
        && Files.isRegularFile(file);
  }

  @Override
  public long samples() {
    return files.size();
  }

  @Override
  public List<HostValues> inputs(long[] numbers) {
    int elements = Math.toIntExact(shape.elements());
    float[] values = new float[Math.multiplyExact(numbers.length, elements)];
    for (int i = 0; i < numbers.length; i++) {
      Image image = Image.read(files.get((int) numbers[i]), shape.extent(0));
      float[] pixels = image.covering(shape.extent(1), shape.extent(2));
      int places = elements / scale.size();
      for (int at = 0; at < elements; at++) {
        values[i * elements + at] = scale.get(at / places).of(pixels[at]);
      }
    }
    return List.of(new HostValues.Floating(values, Batches.shape(numbers.length, shape)));
  }

  @Override
  public HostValues target(long[] numbers) {
    return Batches.classes(numbers, number -> classes[(int) number]);
  }
}
