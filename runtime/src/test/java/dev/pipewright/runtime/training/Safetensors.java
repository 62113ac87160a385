package dev.pipewright.runtime.training;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Reads files of safetensors by the published format alone, for tests. */
final class Safetensors {
  private Safetensors() {}

  static JsonNode head(Path file) throws IOException {
    ByteBuffer bytes = bytes(file);
    byte[] json = new byte[Math.toIntExact(bytes.getLong())];
    bytes.get(json);
    return new JsonMapper().readTree(new String(json, StandardCharsets.UTF_8));
  }

  private static ByteBuffer bytes(Path file) throws IOException {
    return ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** The values of all tensors, which are of 32-bit floats, by name. */
  static Map<String, float[]> read(Path file) throws IOException {
    ByteBuffer bytes = bytes(file);
    int first = Math.toIntExact(Long.BYTES + bytes.getLong());
    Map<String, float[]> tensors = new TreeMap<>();
    for (Map.Entry<String, JsonNode> entry : head(file).properties()) {
      if (!entry.getKey().equals("__metadata__")) {
        assertEquals("F32", entry.getValue().get("dtype").asString(), entry.getKey());
        int begin = entry.getValue().at("/data_offsets/0").asInt();
        int end = entry.getValue().at("/data_offsets/1").asInt();
        float[] values = new float[(end - begin) / Float.BYTES];
        bytes
            .position(first + begin)
            .slice()
            .order(ByteOrder.LITTLE_ENDIAN)
            .asFloatBuffer()
            .get(values);
        tensors.put(entry.getKey(), values);
      }
    }
    return tensors;
  }
}
