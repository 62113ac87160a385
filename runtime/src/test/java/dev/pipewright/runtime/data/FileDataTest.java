package dev.pipewright.runtime.data;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.formats.BadInputException;
import dev.pipewright.model.Shape;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32;
import java.util.zip.GZIPOutputStream;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileDataTest {
  private static final int RECORD = 3073;

  @TempDir Path folder;

  private static DatasetRequirements images(int classes, Integer... shape) {
    return new DatasetRequirements(
        "net",
        List.of(new DatasetRequirements.Input.Field(Shape.of(shape))),
        new DatasetRequirements.Answer.Classes(classes));
  }

  private static DatasetRequirements text(int steps) {
    return new DatasetRequirements(
        "gpt",
        List.of(new DatasetRequirements.Input.Tokens(steps, 256)),
        new DatasetRequirements.Answer.Tokens(steps, 256));
  }

  private static float[] floats(Values values) {
    return ((Values.Floating) values).numbers();
  }

  private static long[] whole(Values values) {
    return ((Values.Whole) values).numbers();
  }

  private String mistake(String data, DatasetRequirements wanted) {
    String text = data.replace("DIR", folder.toString());
    String message =
        String.valueOf(
            assertThrows(BadInputException.class, () -> DatasetSpec.parse(text).open(wanted))
                .getMessage());
    assertEquals(1, message.lines().count(), message);
    return message.replace(folder.toString(), "DIR");
  }

  /** Records whose class is their number and whose pixels are class, class + 1, and so on. */
  private static byte[] cifar(int first, int records) {
    byte[] bytes = new byte[records * RECORD];
    for (int record = 0; record < records; record++) {
      bytes[record * RECORD] = (byte) ((first + record) % 10);
      for (int pixel = 0; pixel < RECORD - 1; pixel++) {
        bytes[record * RECORD + 1 + pixel] = (byte) (first + record + pixel);
      }
    }
    return bytes;
  }

  @Test
  void cifarIsReadOverItsFilesAndHoldsOutItsTestBatch() throws IOException {
    Files.write(folder.resolve("data_batch_1.bin"), cifar(0, 4));
    Files.write(folder.resolve("data_batch_2.bin"), cifar(4, 3));
    Files.write(folder.resolve("test_batch.bin"), cifar(8, 2));
    TrainingData data = DatasetSpec.parse("cifar10:" + folder).open(images(10, 3, 32, 32));
    assertEquals(7, data.training().samples());
    assertEquals(2, data.heldOut().samples());
    long[] numbers = {5, 0};
    assertArrayEquals(new long[] {5, 0}, whole(data.training().target(numbers)));
    assertArrayEquals(new long[] {8, 9}, whole(data.heldOut().target(new long[] {0, 1})));
    Values.Floating read = (Values.Floating) data.training().inputs(numbers).get(0);
    assertArrayEquals(new long[] {2, 3, 32, 32}, read.shape());
    assertEquals((5 / 255f - 0.4914f) / 0.2470f, read.numbers()[0], 1e-6); // red
    int green = (5 + 1024) & 0xff;
    assertEquals((green / 255f - 0.4822f) / 0.2435f, read.numbers()[1024], 1e-6);
    assertEquals((0 / 255f - 0.4914f) / 0.2470f, read.numbers()[3072], 1e-6);
  }

  @Test
  void oneFileOfCifarHoldsOutEveryTenthAndARowOfFeaturesMayReadIt() throws IOException {
    Path file = Files.write(folder.resolve("x.bin"), cifar(0, 30));
    TrainingData data = DatasetSpec.parse("cifar10:" + file).open(images(10, 3072));
    assertEquals(27, data.training().samples());
    assertArrayEquals(new long[] {9, 9, 9}, whole(data.heldOut().target(new long[] {0, 1, 2})));
    assertArrayEquals(new long[] {8, 0}, whole(data.training().target(new long[] {8, 9})));
    assertArrayEquals(
        new long[] {1, 3072},
        ((Values.Floating) data.training().inputs(new long[] {0}).get(0)).shape());
  }

  @Test
  void whatIsWrongWithCifarIsSaidBeforeTraining() throws IOException {
    DatasetRequirements net = images(10, 3, 32, 32);
    assertEquals(
        "DIR/x: no such folder; give the folder of data_batch_1.bin",
        mistake("cifar10:DIR/x", net));
    assertEquals(
        "DIR: has no data_batch_1.bin; give the folder of CIFAR-10's binary version",
        mistake("cifar10:DIR", net));
    Path file = folder.resolve("data_batch_1.bin");
    Files.write(file, Arrays.copyOf(cifar(0, 3), 3 * RECORD - 1));
    assertEquals(
        "DIR/data_batch_1.bin: has 9218 bytes, which is no multiple of the 3073 of a picture and"
            + " its class; it ends within picture 2, fetch it again",
        mistake("cifar10:DIR", net));
    byte[] damaged = cifar(0, 3);
    damaged[RECORD] = (byte) 200;
    Files.write(file, damaged);
    assertEquals(
        "DIR/data_batch_1.bin: byte 3073 holds class 200, and CIFAR-10 has 0 to 9; it is damaged"
            + " or of another data set, fetch it again",
        mistake("cifar10:DIR", net));
    assertEquals(
        "--data cifar10:DIR: these images are 3×32×32, but net reads 3×224×224; take a network of"
            + " their size, or images:DIR, which resizes",
        mistake("cifar10:DIR", images(10, 3, 224, 224)));
    assertEquals(
        "--data cifar10:DIR: the data have 10 classes, but net tells 9 apart; take a network with"
            + " classes=10 or more",
        mistake("cifar10:DIR", images(9, 3, 32, 32)));
  }

  private static byte[] idx(int mark, int[] extents, int bytes) throws IOException {
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

  private static byte[] packed(byte[] bytes) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(out)) {
      gzip.write(bytes);
    }
    return out.toByteArray();
  }

  private void mnist(boolean packed) throws IOException {
    String ending = packed ? ".gz" : "";
    byte[] images = idx(0x803, new int[] {12, 5, 4}, 240);
    byte[] labels = idx(0x801, new int[] {12}, 12);
    Files.write(
        folder.resolve("train-images-idx3-ubyte" + ending), packed ? packed(images) : images);
    Files.write(
        folder.resolve("train-labels-idx1-ubyte" + ending), packed ? packed(labels) : labels);
  }

  @Test
  void mnistIsReadPlainAndCompressed() throws IOException {
    for (boolean packed : new boolean[] {true, false}) { // the plain one is found first
      mnist(packed);
      TrainingData data = DatasetSpec.parse("mnist:" + folder).open(images(10, 1, 5, 4));
      assertEquals(11, data.training().samples());
      assertArrayEquals(new long[] {2}, whole(data.training().target(new long[] {2})));
      assertArrayEquals(new long[] {9}, whole(data.heldOut().target(new long[] {0})));
      float[] read = floats(data.training().inputs(new long[] {2}).get(0));
      assertEquals((41 / 255f - 0.1307f) / 0.3081f, read[1], 1e-6);
    }
    Files.write(folder.resolve("t10k-images.idx3-ubyte"), idx(0x803, new int[] {3, 5, 4}, 60));
    Files.write(folder.resolve("t10k-labels.idx1-ubyte"), idx(0x801, new int[] {3}, 3));
    TrainingData data = DatasetSpec.parse("mnist:" + folder).open(images(10, 20));
    assertEquals(12, data.training().samples());
    assertEquals(3, data.heldOut().samples());
  }

  @Test
  void whatIsWrongWithMnistIsSaidBeforeTraining() throws IOException {
    DatasetRequirements net = images(10, 1, 5, 4);
    assertEquals(
        "DIR: has no train-images-idx3-ubyte, plain or .gz; give the folder of MNIST's four files",
        mistake("mnist:DIR", net));
    mnist(true);
    Path images = folder.resolve("train-images-idx3-ubyte.gz");
    byte[] whole = Files.readAllBytes(images);
    Files.write(images, Arrays.copyOf(whole, whole.length - 20));
    assertEquals(
        "DIR/train-images-idx3-ubyte.gz: the compressed file is cut off after "
            + (whole.length - 20)
            + " bytes; fetch it again",
        mistake("mnist:DIR", net));
    whole[whole.length - 6] ^= 1; // in the checksum
    Files.write(images, whole);
    assertEquals(
        "DIR/train-images-idx3-ubyte.gz: is no gzip file, or damaged: Corrupt GZIP trailer; fetch"
            + " it again",
        mistake("mnist:DIR", net));
    Files.write(images, packed(idx(0x803, new int[] {12, 5, 4}, 239)));
    assertEquals(
        "DIR/train-images-idx3-ubyte.gz: has 255 bytes, but its head promises 256; fetch it again",
        mistake("mnist:DIR", net));
    Files.write(images, packed(idx(0x802, new int[] {12, 5, 4}, 240)));
    assertEquals(
        "DIR/train-images-idx3-ubyte.gz: does not begin with the mark of IDX bytes over 3 axes;"
            + " fetch it again",
        mistake("mnist:DIR", net));
    Files.write(images, packed(idx(0x803, new int[] {13, 5, 4}, 260)));
    assertEquals(
        "DIR/train-labels-idx1-ubyte.gz: has 12 classes, but there are 13 images beside it; both"
            + " files must be of the same set",
        mistake("mnist:DIR", net));
  }

  @Test
  void aHeadThatPromisesTheImpossibleIsRefusedBeforeAnythingIsUnpacked() throws IOException {
    mnist(false);
    int huge = Integer.MAX_VALUE;
    Files.write(
        folder.resolve("train-images-idx3-ubyte"), idx(0x803, new int[] {huge, huge, huge}, 100));
    assertEquals(
        "DIR/train-images-idx3-ubyte: byte 8: the extent 2147483647 makes no sense; fetch it again",
        mistake("mnist:DIR", images(10, 1, 5, 4)));
  }

  /** A file of one head whose remaining bytes are zero and take no room on the disk. */
  private void sparse(String name, int mark, int... extents) throws IOException {
    byte[] head = idx(mark, extents, 0);
    long size = 1;
    for (int extent : extents) {
      size *= extent;
    }
    try (RandomAccessFile file = new RandomAccessFile(folder.resolve(name).toFile(), "rw")) {
      file.write(head);
      file.setLength(head.length + size);
    }
  }

  @Test
  void labelsThatAreMoreThanMemoryCouldHoldAreReadPieceByPiece() throws IOException {
    int most = Integer.MAX_VALUE; // no array of Java is as long
    sparse("train-images-idx3-ubyte", 0x803, most, 1, 1);
    sparse("train-labels-idx1-ubyte", 0x801, most);
    TrainingData data = DatasetSpec.parse("mnist:" + folder).open(images(10, 1, 1, 1));
    assertEquals(most, data.training().samples() + data.heldOut().samples());
    long[] last = {data.training().samples() - 1};
    assertArrayEquals(new long[] {0}, whole(data.training().target(last)));
    assertEquals(-0.1307f / 0.3081f, floats(data.training().inputs(last).get(0))[0], 1e-6);
  }

  @Test
  void anImageThatIsLargerThanMemoryIsRefusedByItsHead() throws IOException {
    sparse("train-images-idx3-ubyte", 0x803, 1, 1 << 16, 1 << 16);
    sparse("train-labels-idx1-ubyte", 0x801, 1);
    assertEquals(
        "--data mnist:DIR: these images are 1×65536×65536, but net reads 1×5×4; take a network of"
            + " their size, or images:DIR, which resizes",
        mistake("mnist:DIR", images(10, 1, 5, 4)));
  }

  @Test
  void compressedFilesOfOneSetShareTheMemoryTheyMayTake() throws IOException {
    Path file = Files.write(folder.resolve("data.gz"), packed(new byte[100]));
    try (FileBytes fits = FileBytes.open(file, 100)) {
      assertEquals(100, fits.held());
    }
    String refusal =
        String.valueOf(
            assertThrows(BadInputException.class, () -> FileBytes.open(file, 99)).getMessage());
    assertTrue(
        refusal.startsWith(file + ": unpacks, with the data's other files, to more than "),
        refusal);
  }

  @Test
  void whatUnpacksToMoreThanMemoryAllowsIsRefused() throws IOException {
    Path bomb = folder.resolve("data.gz");
    long most = Runtime.getRuntime().maxMemory() / 4;
    byte[] zeros = new byte[1 << 20];
    try (GZIPOutputStream gzip = new GZIPOutputStream(Files.newOutputStream(bomb))) {
      for (long written = 0; written <= most; written += zeros.length) {
        gzip.write(zeros);
      }
    }
    String refusal =
        String.valueOf(
            assertThrows(BadInputException.class, () -> FileBytes.open(bomb)).getMessage());
    assertTrue(refusal.startsWith(bomb + ": unpacks to more than "), refusal);
  }

  @Test
  void textIsCutIntoWindowsWhoseAnswersAreTheNextBytes() throws IOException {
    Path file = folder.resolve("a.txt");
    Files.writeString(file, "abcdefghijklmnopqrstuvwxyz".repeat(10) + "é");
    TrainingData data = DatasetSpec.parse("text:" + file).open(text(8));
    assertEquals(32, data.training().samples() + data.heldOut().samples());
    assertEquals(3, data.heldOut().samples());
    long[] numbers = {1, 0};
    assertEquals("ijklmnopabcdefgh", ascii(whole(data.training().inputs(numbers).get(0))));
    assertEquals("jklmnopqbcdefghi", ascii(whole(data.training().target(numbers))));
    long[] last = whole(data.heldOut().target(new long[] {2}));
    assertEquals("yzabcdef".length(), last.length);
    assertEquals(0, Arrays.stream(last).filter(byteOf -> byteOf < 0 || byteOf > 255).count());
    Files.writeString(file, "short");
    assertEquals(
        "DIR/a.txt: has 5 bytes, fewer than the 9 of one sequence; give a longer text or a network"
            + " with a shorter sequence",
        mistake("text:DIR/a.txt", text(8)));
    assertEquals(
        "DIR/b.txt: no such file; give the path of an existing file",
        mistake("text:DIR/b.txt", text(8)));
    assertEquals(
        "DIR: is a directory; give the path of a file in it", mistake("text:DIR", text(8)));
  }

  @Test
  void aTextThatIsCutWhileItIsReadIsASentence() throws IOException {
    Path file = folder.resolve("a.txt");
    Files.writeString(file, "x".repeat(100));
    Dataset data = DatasetSpec.parse("text:" + file).open(text(9)).training();
    Files.write(file, Arrays.copyOf(Files.readAllBytes(file), 50));
    assertEquals(
        file + ": ends before byte 72; it was longer when training began, put it back",
        assertThrows(BadInputException.class, () -> data.inputs(new long[] {7})).getMessage());
  }

  private static String ascii(long[] tokens) {
    byte[] bytes = new byte[tokens.length];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) tokens[i];
    }
    return new String(bytes, StandardCharsets.US_ASCII);
  }

  private Path image(String path, int width, int height, int left, int right) throws IOException {
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

  @Test
  void foldersOfImagesAreClassesAndPicturesAreResized() throws IOException {
    for (int i = 0; i < 6; i++) {
      image("cats/c" + i + ".png", 60, 40, 0xff0000, 0xff0000);
      image("ants/a" + i + ".png", 40, 40, 0x000000, 0xffffff);
    }
    Files.writeString(folder.resolve("ants/readme.txt"), "no image");
    TrainingData data = DatasetSpec.parse("images:" + folder).open(images(2, 3, 8, 8));
    assertEquals(11, data.training().samples());
    assertEquals(1, data.heldOut().samples());
    assertArrayEquals(
        new long[] {0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1},
        whole(data.training().target(new long[] {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10})));
    float[] ant = floats(data.training().inputs(new long[] {0}).get(0));
    float black = (0 - 0.485f) / 0.229f;
    float white = (1 - 0.485f) / 0.229f;
    for (int row = 0; row < 8; row++) {
      assertEquals(black, ant[row * 8], 1e-4);
      assertEquals(black, ant[row * 8 + 2], 1e-4);
      assertEquals(white, ant[row * 8 + 5], 1e-4);
      assertEquals(white, ant[row * 8 + 7], 1e-4);
    }
    float[] cat = floats(data.training().inputs(new long[] {6}).get(0));
    for (int place = 0; place < 64; place++) {
      assertEquals(white, cat[place], 1e-4);
      assertEquals((0 - 0.456f) / 0.224f, cat[64 + place], 1e-4);
    }
  }

  @Test
  void trainAndValidationFoldersAreKeptApart() throws IOException {
    image("train/a/1.png", 9, 9, 0x808080, 0x808080);
    image("train/b/1.jpg", 9, 9, 0x808080, 0x808080);
    image("val/b/2.gif", 5, 9, 0x808080, 0x808080);
    TrainingData data = DatasetSpec.parse("images:" + folder).open(images(5, 1, 4, 4));
    assertEquals(2, data.training().samples());
    assertArrayEquals(new long[] {1}, whole(data.heldOut().target(new long[] {0})));
    for (float grey : floats(data.heldOut().inputs(new long[] {0}).get(0))) {
      assertEquals((0x80 / 255f - 0.5f) / 0.25f, grey, 1e-4);
    }
    image("val/c/2.png", 5, 9, 0, 0);
    assertEquals(
        "DIR/val/c: is a class that train does not have; remove it",
        mistake("images:DIR", images(5, 1, 4, 4)));
  }

  @Test
  void whatIsWrongWithImagesIsSaidBeforeTraining() throws IOException {
    DatasetRequirements net = images(2, 3, 8, 8);
    assertEquals(
        "DIR: has no folders; put the images of each class into one", mistake("images:DIR", net));
    Path file = image("a/1.png", 30, 30, 1, 2);
    byte[] whole = Files.readAllBytes(file);
    Files.write(file, Arrays.copyOf(whole, whole.length - 13));
    assertEquals(
        "DIR/a/1.png: the image is cut off after "
            + (whole.length - 13)
            + " bytes; fetch or remove it",
        mistake("images:DIR", net));
    Files.writeString(file, "not an image");
    assertEquals(
        "DIR/a/1.png: is no png, jpg, gif or bmp, or damaged; fetch or remove it",
        mistake("images:DIR", net));
    Files.delete(file);
    assertEquals(
        "DIR: its folders hold no png, jpg, gif or bmp; put images there",
        mistake("images:DIR", net));
    assertEquals(
        "--data images:DIR: images have 1 or 3 channels and two extents, but net reads 4×8×8×8;"
            + " take another network",
        mistake("images:DIR", images(2, 4, 8, 8, 8)));
    Files.createDirectories(folder.resolve("b"));
    Files.createDirectories(folder.resolve("c"));
    assertEquals(
        "--data images:DIR: the data have 3 classes, but net tells 2 apart; take a network with"
            + " classes=3 or more",
        mistake("images:DIR", net));
  }

  @Test
  void aPictureOfMorePixelsThanMemoryAllowsIsRefusedByItsHead() throws IOException {
    Path file = image("a/1.png", 30, 30, 1, 2);
    byte[] bytes = Files.readAllBytes(file);
    ByteBuffer head = ByteBuffer.wrap(bytes);
    head.putInt(16, 20_000).putInt(20, 20_000);
    CRC32 crc = new CRC32();
    crc.update(bytes, 12, 17);
    head.putInt(29, (int) crc.getValue());
    Files.write(file, bytes);
    Dataset data = DatasetSpec.parse("images:" + folder).open(images(2, 3, 8, 8)).training();
    assertEquals(
        file + ": the image has 20000 × 20000 pixels, more than 10,000,000; scale it down",
        assertThrows(BadInputException.class, () -> data.inputs(new long[] {0})).getMessage());
  }

  @Test
  void aDamagedPictureIsASentenceWhenItIsReached() throws IOException {
    Path file = image("a/1.png", 30, 30, 1, 2);
    byte[] bytes = Files.readAllBytes(file);
    bytes[bytes.length / 2] ^= 0x55;
    bytes[24] ^= 0x55; // the depth of its colours
    Files.write(file, bytes);
    Dataset data = DatasetSpec.parse("images:" + folder).open(images(2, 3, 8, 8)).training();
    assertEquals(
        file + ": is no png, jpg, gif or bmp, or damaged; fetch or remove it",
        assertThrows(BadInputException.class, () -> data.inputs(new long[] {0})).getMessage());
  }
}
