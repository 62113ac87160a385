package dev.pipewright.runtime.data;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.formats.file.BadInputException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.zip.CRC32;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;

/** Files that are damaged, cut off, of another kind, or larger than memory. */
class HostileFilesTest extends DataFiles {
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
  void aTextThatIsCutWhileItIsReadIsASentence() throws IOException {
    Path file = folder.resolve("a.txt");
    Files.writeString(file, "x".repeat(100));
    Dataset data = DatasetSpec.parse("text:" + file).open(text(9)).training();
    Files.write(file, Arrays.copyOf(Files.readAllBytes(file), 50));
    assertEquals(
        file + ": ends before byte 72; it was longer when training began, put it back",
        assertThrows(BadInputException.class, () -> data.inputs(new long[] {7})).getMessage());
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
