package dev.pipewright.formats.file;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class PipedInputTest {
  /** Readers that stop anywhere, or want more than there is. */
  @RepeatedTest(30)
  void everyReaderGetsAllFromTheBeginning(RepetitionInfo seed) throws IOException {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    byte[] bytes = new byte[random.nextInt(50_000)];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) random.nextInt();
    }
    PipedInput pipe = new PipedInput(new ByteArrayInputStream(bytes));
    for (int reader = 0; reader < 5; reader++) {
      int wanted = random.nextInt(60_000);
      try (InputStream in = pipe.open()) {
        assertEquals(bytes.length == 0 ? -1 : bytes[0] & 0xFF, in.read());
        byte[] rest = in.readNBytes(wanted);
        int end = Math.min(bytes.length, wanted + 1);
        assertArrayEquals(Arrays.copyOfRange(bytes, Math.min(1, end), end), rest);
        assertEquals(end == bytes.length, in.read() < 0);
      }
    }
  }

  @Test
  void anEndlessPipeIsReadNoFartherThanWanted() throws IOException {
    InputStream endless =
        new InputStream() {
          @Override
          public int read() {
            return 7;
          }
        };
    try (InputStream in = new PipedInput(endless).open()) {
      assertEquals(100_000, in.readNBytes(100_000).length);
    }
  }
}
