package dev.pipewright.runtime.checkpoint;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.json.JsonText;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.zip.CRC32C;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A {@link Manifest} as {@code manifest.json}. Its last value is the checksum of the text, taken
 * with zeros in its own place.
 */
final class ManifestFile {
  static final String NAME = "manifest.json";
  private static final String FORMAT = "pipewright-checkpoint";
  private static final int VERSION = 1;
  private static final Pattern NAME_OF_SHARD = Pattern.compile("[A-Za-z0-9][-A-Za-z0-9._]{0,99}");
  private static final Pattern CHECKSUM = Pattern.compile("[0-9a-f]{8}");
  private static final int LONGEST = 16 << 20; // bytes: a hundred thousand shards
  private static final String ZEROS = "00000000";
  private static final String BEHIND = "\"\n}\n";

  private ManifestFile() {}

  static byte[] bytes(Manifest manifest) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("format", FORMAT);
    object.put("version", VERSION);
    object.put("step", manifest.step());
    object.put("samples", manifest.samples());
    object.put("seed", manifest.seed());
    object.put("model", manifest.model());
    object.put("plan", manifest.plan());
    object.put("settings", manifest.settings());
    List<Map<String, Object>> shards = new ArrayList<>();
    for (Manifest.Shard shard : manifest.shards()) {
      Map<String, Object> entry = new LinkedHashMap<>();
      entry.put("file", shard.file());
      entry.put("bytes", shard.bytes());
      entry.put("crc32c", hexadecimal(shard.checksum()));
      shards.add(entry);
    }
    object.put("shards", shards);
    object.put("crc32c", ZEROS);
    String text = JsonText.of(object);
    String head = text.substring(0, text.length() - ZEROS.length() - BEHIND.length());
    return (head + hexadecimal(checksum(text)) + BEHIND).getBytes(StandardCharsets.UTF_8);
  }

  private static String hexadecimal(int checksum) {
    return "%08x".formatted(checksum);
  }

  private static int checksum(String text) {
    CRC32C crc = new CRC32C();
    crc.update(text.getBytes(StandardCharsets.UTF_8));
    return (int) crc.getValue();
  }

  /** Throws {@link BadInputException} where the file is not what was written. */
  static Manifest read(Path folder) {
    Path file = folder.resolve(NAME);
    if (!Files.exists(file)) {
      throw new BadInputException(
          folder + ": is no checkpoint, as it has no manifest.json; give a folder step-…");
    }
    try {
      if (!Files.isRegularFile(file) || Files.size(file) > LONGEST) {
        throw new BadInputException(
            file + ": is no file of at most 16 MiB; go on from an earlier checkpoint");
      }
      byte[] bytes = Files.readAllBytes(file);
      String text = new String(bytes, StandardCharsets.UTF_8);
      check(file, text);
      return manifest(file, new JsonMapper().readTree(bytes));
    } catch (JacksonException e) {
      throw damaged(file);
    } catch (IOException e) {
      throw new BadInputException(file + ": cannot be read: " + e.getMessage());
    }
  }

  private static void check(Path file, String text) {
    int end = text.length() - BEHIND.length();
    int begin = end - ZEROS.length();
    if (begin < 0 || !text.endsWith(BEHIND)) {
      throw damaged(file);
    }
    String zeroed = text.substring(0, begin) + ZEROS + BEHIND;
    if (!text.substring(begin, end).equals(hexadecimal(checksum(zeroed)))) {
      throw damaged(file);
    }
  }

  static BadInputException damaged(Path file) {
    return new BadInputException(
        file + ": is damaged: its checksum does not fit; go on from an earlier checkpoint");
  }

  private static Manifest manifest(Path file, JsonNode root) {
    if (!FORMAT.equals(root.path("format").asString(""))) {
      throw new BadInputException(file + ": its format is not " + FORMAT + "; give a checkpoint");
    }
    long version = whole(file, root, "version", 1);
    if (version > VERSION) {
      throw new BadInputException(
          "%s: version %d of %s is newer than this program; update the program"
              .formatted(file, version, FORMAT));
    }
    Map<String, String> settings = new LinkedHashMap<>();
    for (Map.Entry<String, JsonNode> entry : root.path("settings").properties()) {
      settings.put(entry.getKey(), text(file, root.path("settings"), entry.getKey()));
    }
    List<Manifest.Shard> shards = new ArrayList<>();
    for (JsonNode shard : root.path("shards")) {
      shards.add(shard(file, shard));
    }
    return new Manifest(
        whole(file, root, "step", 0),
        whole(file, root, "samples", 0),
        whole(file, root, "seed", Long.MIN_VALUE),
        text(file, root, "model"),
        text(file, root, "plan"),
        settings,
        shards);
  }

  private static Manifest.Shard shard(Path file, JsonNode shard) {
    String name = text(file, shard, "file");
    if (!NAME_OF_SHARD.matcher(name).matches()) {
      throw wrong(
          file, "file", name, "the name of a file in this folder, like stage-0.safetensors");
    }
    String checksum = text(file, shard, "crc32c");
    if (!CHECKSUM.matcher(checksum).matches()) {
      throw wrong(file, "crc32c", checksum, "eight hexadecimal digits");
    }
    return new Manifest.Shard(
        name, whole(file, shard, "bytes", 0), Integer.parseUnsignedInt(checksum, 16));
  }

  private static String text(Path file, JsonNode object, String key) {
    JsonNode value = object.path(key);
    if (!value.isString()) {
      throw wrong(file, key, value.toString(), "text");
    }
    return value.asString();
  }

  private static long whole(Path file, JsonNode object, String key, long least) {
    JsonNode value = object.path(key);
    if (!value.isIntegralNumber() || !value.canConvertToLong() || value.asLong() < least) {
      throw wrong(file, key, value.toString(), "a whole number >= " + least);
    }
    return value.asLong();
  }

  private static BadInputException wrong(Path file, String key, String value, String right) {
    String shown = value.length() <= 60 ? value : value.substring(0, 57) + "...";
    return new BadInputException(
        "%s: %s is %s; expected %s, so go on from an earlier checkpoint"
            .formatted(file, key, shown.isEmpty() ? "missing" : shown, right));
  }
}
