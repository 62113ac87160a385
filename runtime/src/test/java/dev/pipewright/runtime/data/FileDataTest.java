package dev.pipewright.runtime.data;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** Data sets of files: what is read from them. */
class FileDataTest extends DataFiles {
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
    HostValues.Floating read = (HostValues.Floating) data.training().inputs(numbers).get(0);
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
        ((HostValues.Floating) data.training().inputs(new long[] {0}).get(0)).shape());
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

  private static String ascii(long[] tokens) {
    byte[] bytes = new byte[tokens.length];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) tokens[i];
    }
    return new String(bytes, StandardCharsets.US_ASCII);
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
}
