package dev.pipewright.runtime.checkpoint;

import dev.pipewright.formats.json.JsonText;
import dev.pipewright.runtime.tensor.Tensor;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.stream.Collectors;

/**
 * The head of a file of safetensors: 64 bits, lowest byte first, that say its length, and an object
 * in JSON with the dtype, extents and position of each tensor (<a
 * href="https://huggingface.co/docs/safetensors">format</a>).
 */
final class TensorHead {
  static final String METADATA = "__metadata__";
  private static final int ALIGNMENT = 8;

  private TensorHead() {}

  /**
   * A tensor without its values.
   *
   * @param dtype such as {@code F32}
   */
  record Kind(String dtype, long... shape) {
    static final String SINGLE = "F32";
    static final String WHOLE = "I64";

    /** Whether training holds tensors of this dtype. */
    boolean isTrained() {
      return dtype.equals(SINGLE) || dtype.equals(WHOLE);
    }

    static Kind of(Tensor tensor) {
      return new Kind(tensor.whole() ? WHOLE : SINGLE, tensor.shape());
    }

    /** Extents, for a message. */
    static String words(long... shape) {
      return shape.length == 0
          ? "a number"
          : Arrays.stream(shape).mapToObj(Long::toString).collect(Collectors.joining("×"));
    }

    /** Numbers that it has. Throws {@link ArithmeticException} where these are no long. */
    long elements() {
      long elements = 1;
      for (long extent : shape) {
        elements = Math.multiplyExact(elements, extent);
      }
      return elements;
    }

    /** Bytes that it takes, of a dtype that is trained with. */
    long bytes() {
      return Math.multiplyExact(elements(), dtype.equals(WHOLE) ? Long.BYTES : Float.BYTES);
    }
  }

  /**
   * The bytes of a head whose tensors follow each other.
   *
   * @param metadata about the file; none is written where it is empty
   */
  static ByteBuffer of(SequencedMap<String, Kind> tensors, Map<String, String> metadata) {
    Map<String, Object> head = new LinkedHashMap<>();
    if (!metadata.isEmpty()) {
      head.put(METADATA, metadata);
    }
    long at = 0;
    for (Map.Entry<String, Kind> tensor : tensors.entrySet()) {
      Kind kind = tensor.getValue();
      Map<String, Object> entry = new LinkedHashMap<>();
      entry.put("dtype", kind.dtype());
      entry.put("shape", Arrays.stream(kind.shape()).boxed().toList());
      entry.put("data_offsets", List.of(at, at + kind.bytes()));
      head.put(tensor.getKey(), entry);
      at += kind.bytes();
    }
    String text = head.isEmpty() ? "{}" : JsonText.of(head);
    byte[] json = text.getBytes(StandardCharsets.UTF_8);
    int padded = (json.length + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    byte[] aligned = Arrays.copyOf(json, padded);
    Arrays.fill(aligned, json.length, padded, (byte) ' ');
    return ByteBuffer.allocate(Long.BYTES + padded)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putLong(padded)
        .put(aligned)
        .flip();
  }
}
