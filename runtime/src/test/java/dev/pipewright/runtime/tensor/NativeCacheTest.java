package dev.pipewright.runtime.tensor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NativeCacheTest {
  @TempDir Path root;
  private Path home;
  private Path temporary;

  @BeforeEach
  void folders() throws IOException {
    assumeTrue(root.getFileSystem().supportedFileAttributeViews().contains("posix"));
    root = root.toRealPath();
    home = Files.createDirectory(root.resolve("home"));
    temporary = Files.createDirectory(root.resolve("tmp"));
  }

  private Path chosen(Map<String, String> environment) {
    return NativeCache.chosen(Optional.empty(), environment, home, temporary, "ann");
  }

  private String refusal(Map<String, String> environment) {
    return String.valueOf(
        assertThrows(UncheckedIOException.class, () -> chosen(environment)).getMessage());
  }

  private static void mode(Path path, String permissions) throws IOException {
    Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(permissions));
  }

  private static String mode(Path path) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
  }

  /** The folder around it when the home cannot be written, whoever runs the test. */
  private Path inTemporary() throws IOException {
    Files.createFile(home.resolve(".cache"));
    return temporary.resolve("pipewright-cache-ann");
  }

  @Test
  void isMadeForItsOwnerAlone() throws IOException {
    Path folder = chosen(Map.of());
    assertEquals(home.resolve(".cache/pipewright/native"), folder);
    assertEquals("rwx------", mode(folder));
    assertEquals(folder, chosen(Map.of()));
  }

  @Test
  void liesWhereItsUserSays() {
    Path there = root.resolve("there");
    assertEquals(
        root.resolve("caches/pipewright/native"),
        chosen(Map.of("XDG_CACHE_HOME", root.resolve("caches").toString())));
    Map<String, String> named = Map.of(NativeCache.VARIABLE, there.toString());
    assertEquals(there.resolve("native"), chosen(named));
    assertEquals(
        root.resolve("property"),
        NativeCache.chosen(
            Optional.of(root.resolve("property").toString()), named, home, temporary, "ann"));
  }

  @Test
  void liesAmongTemporaryFilesWhereTheHomeCannotBeWritten() throws IOException {
    Path around = inTemporary();
    mode(temporary, "rwxrwxrwx");
    assertTrue(refusal(Map.of()).contains("all can write to " + temporary), refusal(Map.of()));
    mode(temporary, "rwx------");
    assertEquals(around.resolve("native"), chosen(Map.of()));
    assertEquals("rwx------", mode(around));
  }

  @ParameterizedTest
  @ValueSource(strings = {"rwxrwxrwx", "rwxrwx---", "rwx-----x"})
  void aPreparedFolderThatOthersCanEnterIsRefused(String permissions) throws IOException {
    Path prepared = Files.createDirectories(inTemporary().resolve("native"));
    Files.createFile(prepared.resolve("libtorch_cpu.so"));
    mode(prepared, permissions);
    String sentence = refusal(Map.of());
    assertTrue(sentence.startsWith(prepared + ": native libraries cannot be"), sentence);
    assertTrue(sentence.contains("others can enter it, " + permissions), sentence);
    assertTrue(sentence.endsWith("set PIPEWRIGHT_CACHE to a folder that only you can write"));
  }

  @Test
  void aFolderInOneThatAllCanWriteIsRefused() throws IOException {
    Path around = Files.createDirectory(inTemporary());
    mode(around, "rwxrwxrwx");
    String sentence = refusal(Map.of());
    assertTrue(sentence.contains("all can write to " + around), sentence);
  }

  @Test
  void aFileInItsPlaceIsRefused() throws IOException {
    Files.createFile(inTemporary());
    assertTrue(refusal(Map.of()).contains("is no folder"), refusal(Map.of()));
  }

  /** Only root can give a folder away. */
  @Test
  void aFolderOfAnotherUserIsRefused() throws IOException {
    Path around = inTemporary();
    Path prepared = Files.createDirectories(around.resolve("native"));
    mode(prepared, "rwx------");
    assumeTrue(System.getProperty("user.name").equals("root"));
    Files.setAttribute(around, "unix:uid", 12_345);
    String sentence = refusal(Map.of());
    assertTrue(sentence.contains(around + " belongs to 12345"), sentence);
    Files.setAttribute(prepared, "unix:uid", 12_345);
    sentence = refusal(Map.of());
    assertTrue(sentence.contains("it belongs to 12345"), sentence);
  }

  @Test
  void aLinkOfAnotherUserIsRefused() throws IOException {
    Path link = inTemporary();
    Files.createSymbolicLink(link, Files.createDirectory(root.resolve("elsewhere")));
    assertEquals(root.resolve("elsewhere/native"), chosen(Map.of())); // his own
    assumeTrue(System.getProperty("user.name").equals("root"));
    new ProcessBuilder("chown", "-h", "12345", link.toString()).start().onExit().join();
    assertTrue(refusal(Map.of()).contains(link + " belongs to 12345"), refusal(Map.of()));
  }

  @Test
  void aNamedFolderThatCannotBeHadIsNotReplacedByAnother() throws IOException {
    Path file = Files.createFile(root.resolve("file"));
    assertTrue(
        refusal(Map.of(NativeCache.VARIABLE, file.toString())).startsWith(file + "/native: "));
  }
}
