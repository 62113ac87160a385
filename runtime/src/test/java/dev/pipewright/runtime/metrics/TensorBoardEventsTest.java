package dev.pipewright.runtime.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TensorBoardEventsTest {
  @TempDir Path folder;

  /** A reader that has nothing in common with the writer: it follows the published formats. */
  private static final class Reader {
    private final ByteBuffer bytes;

    Reader(byte[] bytes) {
      this.bytes = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** The payloads of all records. */
    List<byte[]> records() {
      List<byte[]> records = new ArrayList<>();
      while (bytes.hasRemaining()) {
        byte[] length = new byte[8];
        bytes.get(length);
        assertEquals(masked(length), bytes.getInt(), "checksum of a length");
        int size =
            Math.toIntExact(ByteBuffer.wrap(length).order(ByteOrder.LITTLE_ENDIAN).getLong());
        byte[] payload = new byte[size];
        bytes.get(payload);
        assertEquals(masked(payload), bytes.getInt(), "checksum of a record");
        records.add(payload);
      }
      return records;
    }

    /** What is left, as a message. */
    Message message() {
      Map<Integer, List<Object>> fields = new TreeMap<>();
      while (bytes.hasRemaining()) {
        long key = variable();
        Object value =
            switch ((int) (key & 7)) {
              case 0 -> variable();
              case 1 -> bytes.getDouble();
              case 2 -> {
                byte[] inner = new byte[(int) variable()];
                bytes.get(inner);
                yield inner;
              }
              case 5 -> bytes.getFloat();
              default -> throw new AssertionError("no such kind: " + key);
            };
        fields.computeIfAbsent((int) (key >> 3), k -> new ArrayList<>()).add(value);
      }
      return new Message(fields);
    }

    private long variable() {
      long value = 0;
      for (int shift = 0; ; shift += 7) {
        byte next = bytes.get();
        value |= (long) (next & 0x7f) << shift;
        if (next >= 0) {
          return value;
        }
      }
    }

    /** Castagnoli's polynomial bit by bit, then TensorFlow's mask. */
    static int masked(byte[] data) {
      int crc = ~0;
      for (byte part : data) {
        crc ^= part & 0xff;
        for (int bit = 0; bit < 8; bit++) {
          crc = (crc >>> 1) ^ ((crc & 1) * 0x82f63b78);
        }
      }
      crc = ~crc;
      return ((crc >>> 15) | (crc << 17)) + 0xa282ead8;
    }
  }

  /** Fields of a message: numbers as they stand, messages and text as bytes. */
  private record Message(Map<Integer, List<Object>> fields) {
    List<Object> all(int field) {
      return fields.getOrDefault(field, List.of());
    }

    Object only(int field) {
      assertEquals(1, all(field).size(), "field " + field);
      return all(field).get(0);
    }

    String text(int field) {
      return new String((byte[]) only(field), StandardCharsets.UTF_8);
    }

    /** Of an event: the values of its summary. */
    Map<String, Object> values() {
      Map<String, Object> values = new TreeMap<>();
      for (Object value : new Reader((byte[]) only(5)).message().all(1)) {
        Message fields = new Reader((byte[]) value).message();
        values.put(fields.text(1), fields.only(2));
      }
      return values;
    }
  }

  private static StepMetrics metrics(long step, Object... namesAndValues) {
    Map<String, Double> values = new LinkedHashMap<>();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      values.put((String) namesAndValues[i], (Double) namesAndValues[i + 1]);
    }
    return new StepMetrics(step, step * 10, 1_700_000_000 + step, values);
  }

  @Test
  void anIndependentReaderFindsEveryValue() throws IOException {
    Path file;
    try (TensorBoardEvents events = new TensorBoardEvents(folder, 1_700_000_000.5)) {
      file = events.file();
      events.record(metrics(1, "loss", 2.5, "step_s", 0.125));
      events.record(metrics(300, "loss", Double.NaN));
    }
    assertEquals("events.out.tfevents.1700000000.0", file.getFileName().toString());
    List<byte[]> records = new Reader(Files.readAllBytes(file)).records();
    assertEquals(3, records.size());
    Message first = new Reader(records.get(0)).message();
    assertEquals(1_700_000_000.5, first.only(1));
    assertEquals("brain.Event:2", first.text(3));
    Message second = new Reader(records.get(1)).message();
    assertEquals(1_700_000_001.0, second.only(1));
    assertEquals(1L, second.only(2));
    assertEquals(Map.of("loss", 2.5f, "step_s", 0.125f), second.values());
    Message third = new Reader(records.get(2)).message();
    assertEquals(300L, third.only(2));
    assertEquals(Map.of("loss", Float.NaN), third.values());
  }

  /** Byte by byte: the first two records as the published formats give them. */
  @Test
  void theFileIsWhatTheFormatSays() throws IOException {
    try (TensorBoardEvents events = new TensorBoardEvents(folder, 1.0)) {
      events.record(metrics(2, "loss", 0.5));
      assertEquals(
          GOLDEN, HexFormat.of().formatHex(Files.readAllBytes(events.file())), "each is flushed");
    }
  }

  @Test
  void checksumsAreThePublishedOnes() {
    int crc = Reader.masked("123456789".getBytes(StandardCharsets.US_ASCII)) - 0xa282ead8;
    assertEquals(0xe3069283, (crc << 15) | (crc >>> 17)); // the check value of CRC-32C
  }

  @Test
  void runsThatBeginInTheSameSecondHaveFilesOfTheirOwn() {
    try (TensorBoardEvents one = new TensorBoardEvents(folder, 5);
        TensorBoardEvents other = new TensorBoardEvents(folder, 5)) {
      assertNotEquals(one.file(), other.file());
      assertTrue(Files.exists(one.file()));
    }
  }

  private static final String GOLDEN =
      "1800000000000000a37f4b2209000000000000f03f1a0d627261696e2e4576656e743a3286bf577a"
          + "1a00000000000000129bd82d0900008040fc54d94110022a0d0a0b0a046c6f7373150000003f28a9"
          + "7c5c";
}
