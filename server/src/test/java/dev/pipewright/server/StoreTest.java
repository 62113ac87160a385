package dev.pipewright.server;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.server.store.KeptStudy;
import dev.pipewright.server.store.StudyStore;
import java.io.BufferedReader;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is saved is there, in a file and in PostgreSQL, also after the program was killed. */
class StoreTest {
  private static final byte[] LARGE = new byte[3 << 20];

  @TempDir Path folder;

  private static KeptStudy study(int number) {
    return new KeptStudy(
        "id" + number,
        List.of("plan", "net_" + number, "--json"),
        "pipewright test",
        Instant.ofEpochMilli(number),
        number % 2 == 1,
        "headline",
        "{\"text\": \"ü \u2028 '\\\\\"}",
        "a remark\nanother");
  }

  private static void keeps(StudyStore store) {
    for (int i = 0; i < 5; i++) {
      store.save(study(i), Map.of("a.json", LARGE, "b.svg", new byte[] {(byte) i}));
    }
    assertEquals(Optional.of(study(3)), store.find("id3"));
    assertEquals(Optional.empty(), store.find("id9"));
    assertEquals(List.of("a.json", "b.svg"), store.files("id3"));
    assertArrayEquals(LARGE, store.file("id3", "a.json").orElseThrow());
    assertEquals(
        List.of("id4", "id3"), store.newest("", 0, 2).stream().map(StudyStore.Line::id).toList());
    assertEquals(
        List.of("id1"), store.newest("net_1", 0, 9).stream().map(StudyStore.Line::id).toList());
    assertEquals(List.of(), store.newest("net%", 0, 9), "% is no wildcard");
    store.save(study(3), Map.of("c.json", LARGE));
    assertEquals(List.of("c.json"), store.files("id3"));
    assertEquals(5, store.newest("", 0, 9).size());
  }

  @Test
  void aFileKeepsStudies() {
    try (StudyStore store = StudyStore.open(Optional.empty(), folder, Map.of())) {
      keeps(store);
    }
    try (StudyStore store = StudyStore.open(Optional.empty(), folder, Map.of())) {
      assertEquals(5, store.newest("", 0, 9).size());
    }
  }

  @Test
  void postgresqlKeepsStudies() throws Exception {
    assumeTrue(Postgresql.isHere(), "needs the package postgresql");
    try (Postgresql database = new Postgresql()) {
      Optional<String> url = Optional.of(database.url());
      try (StudyStore store = StudyStore.open(url, folder, database.user())) {
        keeps(store);
      }
      try (StudyStore store = StudyStore.open(url, folder, database.user())) {
        assertEquals(5, store.newest("", 0, 9).size());
      }
    }
  }

  @Test
  void aDatabaseThatIsNotThereIsASentenceWithoutThePassword() {
    Optional<String> nowhere = Optional.of("jdbc:postgresql://127.0.0.1:1/none");
    Map<String, String> environment =
        Map.of(
            "PIPEWRIGHT_DATABASE_USER", "someone", "PIPEWRIGHT_DATABASE_PASSWORD", "very-secret");
    String sentence =
        String.valueOf(
            assertThrows(
                    BadInputException.class, () -> StudyStore.open(nowhere, folder, environment))
                .getMessage());
    assertTrue(sentence.startsWith("--database: PostgreSQL cannot be used: "), sentence);
    assertFalse(sentence.contains("very-secret"), sentence);
  }

  /** Saves one study after the other and says so, until it is killed. */
  static final class Saving {
    public static void main(String[] args) {
      StudyStore store = StudyStore.open(Optional.empty(), Path.of(args[0]), Map.of());
      for (int i = 0; ; i++) {
        store.save(study(i), Map.of("a.json", LARGE));
        System.out.println(i);
      }
    }
  }

  @Test
  void killedWhileSavingItOpensWithAllFinishedStudies() throws Exception {
    for (int round = 1; round <= 3; round++) {
      Path data = folder.resolve("round" + round);
      Process process =
          new ProcessBuilder(
                  Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                  "-XX:+UseSerialGC",
                  "-cp",
                  System.getProperty("java.class.path"),
                  Saving.class.getName(),
                  data.toString())
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      int saved = -1;
      try (BufferedReader lines = process.inputReader()) {
        while (saved < 10 * round) {
          saved = Integer.parseInt(lines.readLine());
        }
        process.toHandle().destroyForcibly(); // which leaves what was printed
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
          saved = Integer.parseInt(line);
        }
      }
      process.waitFor();
      try (StudyStore store = StudyStore.open(Optional.empty(), data, Map.of())) {
        for (int i = 0; i <= saved; i++) {
          assertEquals(Optional.of(study(i)), store.find("id" + i));
          assertArrayEquals(LARGE, store.file("id" + i, "a.json").orElseThrow());
        }
        for (StudyStore.Line line : store.newest("", 0, 1000)) {
          assertEquals(List.of("a.json"), store.files(line.id()), "whole or not at all");
        }
      }
    }
  }
}
