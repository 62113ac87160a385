package dev.pipewright.runtime.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.formats.file.BadInputException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Damaged manifests whose checksum fits. More cases: {@code -Dfuzz.cases=10000}. */
class ManifestFuzzTest {
  private static final int CASES = Integer.getInteger("fuzz.cases", 2_000);
  private static final Pattern VALUE = Pattern.compile("-?\\d+|\"[^\"]*\"");
  private static final List<String> VALUES =
      List.of(
          "-1",
          "0",
          "1e308",
          "1e400",
          "9223372036854775808",
          "1.5",
          "null",
          "true",
          "[]",
          "{}",
          "\"\"",
          "\"x\"",
          "\"57e-1acc\"",
          "\"fffffffff\"",
          "\"../other\"",
          "\"/dev/zero\"",
          "\"a\\u0000b\"",
          "\"-\"",
          "\"٣\"");

  @TempDir Path folder;

  private String text() {
    Manifest manifest =
        new Manifest(
            3,
            24,
            -7,
            "mlp",
            "2 stages, 1f1b",
            Map.of("optimizer", "adam"),
            List.of(
                new Manifest.Shard("stage-0.safetensors", 4256, 0x57e01acc),
                new Manifest.Shard("stage-1.safetensors", 64, -1)));
    return new String(ManifestFile.bytes(manifest), StandardCharsets.UTF_8);
  }

  private void write(String text) throws IOException {
    int end = text.length() - "\"\n}\n".length();
    String zeroed = text.substring(0, end - 8) + "00000000\"\n}\n";
    CRC32C crc = new CRC32C();
    crc.update(zeroed.getBytes(StandardCharsets.UTF_8));
    String whole = zeroed.substring(0, end - 8) + "%08x\"\n}\n".formatted(crc.getValue());
    Files.writeString(folder.resolve(ManifestFile.NAME), whole);
  }

  private static String changed(String text, SplittableRandom random) {
    String head = text.substring(0, text.lastIndexOf(','));
    List<MatchResult> all = VALUE.matcher(head).results().toList();
    MatchResult one = all.get(random.nextInt(all.size()));
    String value = VALUES.get(random.nextInt(VALUES.size()));
    return text.substring(0, one.start()) + value + text.substring(one.end());
  }

  @Test
  void everyChangedManifestIsReadOrRefusedInASentence() throws IOException {
    int refused = 0;
    for (int seed = 0; seed < CASES; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      String text = text();
      for (int count = random.nextInt(1, 4); count > 0; count--) {
        text = changed(text, random);
      }
      write(text);
      try {
        Manifest read = ManifestFile.read(folder);
        read.shards()
            .forEach(shard -> assertEquals(folder, folder.resolve(shard.file()).getParent()));
      } catch (BadInputException e) {
        refused++;
        assertTrue(String.valueOf(e.getMessage()).contains("manifest.json: "), e.getMessage());
      }
    }
    assertTrue(refused > CASES / 2, "refused " + refused);
  }

  @Test
  void aChecksumThatIsNoneIsRefused() throws IOException {
    write(text().replace("57e01acc", "57e-1acc"));
    assertEquals(
        folder.resolve("manifest.json")
            + ": crc32c is 57e-1acc; expected eight hexadecimal digits, so go on from an earlier"
            + " checkpoint",
        assertThrows(BadInputException.class, () -> ManifestFile.read(folder)).getMessage());
  }
}
