package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.zip.GZIPOutputStream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Of the results there is only that of the tests, {@code CopiedText}. */
class ReproduceCommandTest {
  private static final String TEXT = "# one\n" + "x".repeat(700) + "\n"; // more than a block of tar

  @TempDir Path folder;

  private static byte[] zip(String name) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ZipOutputStream zip = new ZipOutputStream(bytes)) {
      zip.putNextEntry(new ZipEntry(name));
      zip.write(TEXT.getBytes(StandardCharsets.UTF_8));
    }
    return bytes.toByteArray();
  }

  /** One file, as tar writes it. */
  private static byte[] tar(String name) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (OutputStream tar = new GZIPOutputStream(bytes)) {
      byte[] content = TEXT.getBytes(StandardCharsets.UTF_8);
      byte[] head = new byte[512];
      byte[] label = name.getBytes(StandardCharsets.UTF_8);
      System.arraycopy(label, 0, head, 0, label.length);
      byte[] size = "%011o".formatted(content.length).getBytes(StandardCharsets.UTF_8);
      System.arraycopy(size, 0, head, 124, size.length);
      head[156] = '0';
      tar.write(head);
      tar.write(Arrays.copyOf(content, 1024));
      tar.write(new byte[1024]);
    }
    return bytes.toByteArray();
  }

  private Cli reproduce(Path data) {
    return Cli.run("reproduce", "copied-text", "--data", data.toString());
  }

  @Test
  void namesAreListedWithWhatTheyNeed() {
    assertEquals(
        "copied-text              A text of the data. (needs texts)",
        Cli.run("reproduce").ends(0).out().strip());
    assertEquals(
        "{\"results\":[{\"name\":\"copied-text\",\"summary\":\"A text of the data.\",\"needs\":[\"texts\"]}]}",
        Cli.run("reproduce", "--json").ends(0).json().toString());
  }

  @Test
  void aFolderAndBothKindsOfArchiveAreData() throws IOException {
    Path texts = Files.createDirectories(folder.resolve("data/texts"));
    Files.writeString(texts.resolve("one.txt"), TEXT);
    assertEquals(TEXT, reproduce(folder.resolve("data")).ends(0).out());
    for (String top : new String[] {"", "reference/"}) {
      String name = top + "texts/one.txt";
      assertEquals(TEXT, reproduce(Cli.file(folder, "d.zip", zip(name))).ends(0).out(), name);
      assertEquals(TEXT, reproduce(Cli.file(folder, "d.tar.gz", tar(name))).ends(0).out(), name);
    }
    Path out = folder.resolve("out");
    Cli.run(
            "reproduce",
            "copied-text",
            "--data",
            folder.resolve("data").toString(),
            "--out",
            out.toString())
        .ends(0);
    assertEquals(TEXT, Files.readString(out.resolve("copied-text.md")));
    assertEquals("<svg/>", Files.readString(out.resolve("copied-text.svg")));
  }

  @Test
  void whatIsMissingIsSaid() {
    Cli.run("reproduce", "copied-text").refusal(2, "--data", "needs texts", "not given");
    reproduce(folder).refusal(2, "needs texts", folder + " does not have");
    Cli.run("reproduce", "copied-tex").refusal(2, "did you mean \"copied-text\"?");
  }

  @Test
  void whatIsNoArchiveIsRefused() throws IOException {
    reproduce(folder.resolve("absent")).refusal(2, "neither a folder nor a .tar.gz or .zip");
    reproduce(Cli.file(folder, "text.md", TEXT)).refusal(2, "neither a folder nor");
    reproduce(Cli.file(folder, "bad.tar.gz", TEXT)).refusal(2, "cannot be unpacked");
    byte[] cut = tar("texts/one.txt");
    reproduce(Cli.file(folder, "cut.tar.gz", Arrays.copyOf(cut, cut.length / 2)))
        .refusal(2, "cannot be unpacked");
  }

  @Test
  void anArchiveWritesNothingOutsideOfItsFolder() throws IOException {
    String outside = "../" + folder.getFileName().toString().toLowerCase(Locale.ROOT) + "-outside";
    reproduce(Cli.file(folder, "d.zip", zip(outside))).refusal(2, "lies outside of it");
    reproduce(Cli.file(folder, "d.tar.gz", tar(outside))).refusal(2, "lies outside of it");
    Path temporary = Path.of(System.getProperty("java.io.tmpdir"));
    assertFalse(Files.exists(temporary.resolve(outside.substring(3))));
    assertTrue(Files.isDirectory(folder));
  }
}
