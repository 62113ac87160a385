package dev.pipewright.runtime.profiler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How {@code tools/pipewright_profile.py} writes, which needs no PyTorch: any object stands in. */
class ProfileToolSaveTest {
  private static final String SCRIPT =
      """
      import importlib.util, os, sys
      from unittest.mock import MagicMock

      torch = MagicMock()
      torch.overrides.TorchFunctionMode = object
      sys.modules["torch"] = torch
      found = importlib.util.spec_from_file_location("tool", sys.argv[1])
      tool = importlib.util.module_from_spec(found)
      found.loader.exec_module(tool)

      def full(file):
          raise OSError(28, "No space left on device")

      tool.save("profile.json", "old")
      os.symlink("profile.json", "link.json")
      real, os.fsync = os.fsync, full
      try:
          tool.save("profile.json", "new")
      except tool.Mistake as mistake:
          print(mistake)
      print(open("profile.json").read(), sorted(os.listdir(".")))
      os.fsync = real
      tool.save("link.json", "newer")
      print(open("profile.json").read(), os.path.islink("link.json"))
      """;

  private static final Path TOOL =
      Path.of(System.getProperty("basedir", "."), "..", "tools", "pipewright_profile.py")
          .toAbsolutePath()
          .normalize();

  @TempDir Path folder;

  private Process python(String... arguments) throws IOException {
    ProcessBuilder builder = new ProcessBuilder(arguments).directory(folder.toFile());
    return builder.redirectErrorStream(true).start();
  }

  private boolean thereIsPython() throws InterruptedException {
    try {
      return python("python3", "--version").waitFor() == 0;
    } catch (IOException e) {
      return false;
    }
  }

  @Test
  void aFullDiskLeavesTheOldProfileAndNothingElse() throws IOException, InterruptedException {
    assumeTrue(thereIsPython(), "there is no python3 here");
    Process run = python("python3", "-c", SCRIPT, TOOL.toString());
    String said = new String(run.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(
        """
        profile.json: cannot be written: No space left on device; give another file
        old ['link.json', 'profile.json']
        newer True
        """,
        said);
    assertEquals(0, run.waitFor());
  }
}
