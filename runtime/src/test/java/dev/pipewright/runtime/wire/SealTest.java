package dev.pipewright.runtime.wire;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;

class SealTest {
  private final Secret key = Secret.random();
  private final Seal reader = new Seal(key);

  private static List<byte[]> frames(Seal seal, String... texts) {
    List<byte[]> frames = new ArrayList<>();
    for (String text : texts) {
      ByteBuffer frame = ByteBuffer.allocate(100);
      seal.close(ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)), frame);
      byte[] bytes = new byte[frame.flip().remaining()];
      frame.get(bytes);
      frames.add(bytes);
    }
    return frames;
  }

  private String open(byte[] frame) throws WrongFrameException {
    ByteBuffer all = ByteBuffer.wrap(frame);
    ByteBuffer text = ByteBuffer.allocate(100);
    reader.open(all.getInt(), all, text);
    return StandardCharsets.UTF_8.decode(text.flip()).toString();
  }

  @Test
  void framesOpenInTheirOrder() throws Exception {
    List<byte[]> frames = frames(new Seal(key), "one", "two", "three");
    assertEquals("one", open(frames.get(0)));
    assertEquals("two", open(frames.get(1)));
    assertEquals("three", open(frames.get(2)));
  }

  @Test
  void aFrameOfWhichAnyBitIsChangedDoesNotOpen() {
    int bits = 8 * frames(new Seal(key), "one").get(0).length;
    for (int bit = 8 * Seal.LENGTH_BYTES; bit < bits; bit++) {
      byte[] frame = frames(new Seal(key), "one").get(0);
      frame[bit / 8] ^= (byte) (1 << (bit % 8));
      Seal fresh = new Seal(key);
      ByteBuffer all = ByteBuffer.wrap(frame);
      assertThrows(
          WrongFrameException.class, () -> fresh.open(all.getInt(), all, ByteBuffer.allocate(100)));
    }
  }

  @Test
  void aFrameThatSaysAnotherLengthDoesNotOpen() {
    ByteBuffer all = ByteBuffer.wrap(frames(new Seal(key), "one").get(0)).position(4);
    assertThrows(WrongFrameException.class, () -> reader.open(4, all, ByteBuffer.allocate(100)));
  }

  @Test
  void aRepeatedFrameDoesNotOpen() throws Exception {
    List<byte[]> frames = frames(new Seal(key), "one", "two");
    open(frames.get(0));
    assertThrows(WrongFrameException.class, () -> open(frames.get(0)));
  }

  @Test
  void aFrameAfterOneThatIsLeftOutDoesNotOpen() {
    List<byte[]> frames = frames(new Seal(key), "one", "two");
    assertThrows(WrongFrameException.class, () -> open(frames.get(1)));
  }

  @Test
  void aFrameOfAnotherConnectionDoesNotOpen() {
    List<byte[]> frames = frames(new Seal(Secret.random()), "one");
    assertThrows(WrongFrameException.class, () -> open(frames.get(0)));
  }

  /** Which {@code javax.crypto} computes as well, but takes long to load. */
  @Test
  void proofsAreTheHmacOfTheStandard() throws Exception {
    for (int length : new int[] {1, 32, 64, 65, 200}) {
      String text = "k".repeat(length);
      byte[] what = {1, 2, 3};
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(text.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
      mac.update("purpose\n".getBytes(StandardCharsets.UTF_8));
      assertArrayEquals(mac.doFinal(what), Secret.ofText(text).proof("purpose", what));
    }
  }
}
