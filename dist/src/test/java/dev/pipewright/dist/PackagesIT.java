package dev.pipewright.dist;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Each package is installed and used where no JDK is on the path. */
@EnabledOnOs(OS.LINUX)
class PackagesIT {
  private static final String PATH = "/usr/sbin:/usr/bin:/sbin:/bin";
  private static final String[] PLAN = {
    "plan", "bert-48", "--cluster", "dapple-a", "--global-batch", "64"
  };

  @TempDir Path folder;

  /** What a process said, and its status. */
  private record Said(int status, String output, String errors) {
    String lines() {
      assertEquals(0, status, errors);
      return output;
    }
  }

  private Said run(List<String> line) throws IOException, InterruptedException {
    Path output = Files.createTempFile(folder, "output", "");
    Path errors = Files.createTempFile(folder, "errors", "");
    ProcessBuilder builder = new ProcessBuilder(line).directory(folder.toFile());
    builder.environment().clear();
    builder.environment().put("PATH", PATH);
    builder.environment().put("LANG", "en_US.UTF-8"); // sorts otherwise than by bytes
    builder.environment().put("LD_LIBRARY_PATH", libraries(line));
    Process process =
        builder.redirectOutput(output.toFile()).redirectError(errors.toFile()).start();
    assertTrue(process.waitFor(5, TimeUnit.MINUTES), "no answer: " + line);
    return new Said(process.exitValue(), Files.readString(output), Files.readString(errors));
  }

  /** A container has /proc, by which Java finds its own libraries; a mere chroot has none. */
  private static String libraries(List<String> line) {
    return line.get(0).equals("chroot") ? "/opt/pipewright/runtime/lib" : "";
  }

  private Said run(String... line) throws IOException, InterruptedException {
    return run(List.of(line));
  }

  private static Path made(String start, String end) throws IOException {
    try (Stream<Path> files = Files.list(Path.of("target"))) {
      List<Path> found =
          files
              .filter(file -> file.getFileName().toString().startsWith(start))
              .filter(file -> file.getFileName().toString().endsWith(end))
              .toList();
      assertEquals(1, found.size(), start + "*" + end + ": " + found);
      return found.get(0).toAbsolutePath();
    }
  }

  private Path unpacked() throws IOException, InterruptedException {
    run("tar", "xf", made("pipewright-", "64.tar.gz").toString()).lines();
    try (Stream<Path> files = Files.list(folder)) {
      return files.filter(Files::isDirectory).findFirst().orElseThrow();
    }
  }

  /** The pages start, answer a request and end with the program. */
  @Test
  void theArchiveServesPages() throws Exception {
    String program = unpacked().toRealPath().resolve("bin/pipewright").toString();
    Path said = folder.resolve("said");
    ProcessBuilder builder =
        new ProcessBuilder(program, "serve", "--port", "0", "--data", folder + "/studies");
    builder.environment().clear();
    builder.environment().put("PATH", PATH);
    Process server = builder.redirectErrorStream(true).redirectOutput(said.toFile()).start();
    try {
      while (server.isAlive() && !Files.readString(said).contains("Ctrl-C ends it.")) {
        Thread.sleep(100);
      }
      String at = Files.readString(said).replaceFirst("(?s)^Pipewright is at (\\S+).*", "$1");
      String page =
          new String(URI.create(at).toURL().openStream().readAllBytes(), StandardCharsets.UTF_8);
      assertTrue(page.contains("How should this network train?"), page);
    } finally {
      server.destroy();
      assertTrue(server.waitFor(1, TimeUnit.MINUTES));
    }
    assertTrue(Files.exists(folder.resolve("studies/studies.mv.db")));
  }

  /** One command for each library that the package brings. */
  @Test
  void theArchiveAnswersWithoutAJdk() throws Exception {
    Path image = unpacked().toRealPath();
    String program = image.resolve("bin/pipewright").toString();
    assertTrue(run(program, "--version").lines().startsWith("pipewright "));
    assertTrue(plan(program).lines().contains("bert-48 on dapple-a"));
    Path cluster =
        Files.writeString(folder.resolve("c.yaml"), run(program, "clusters", "dapple-a").lines());
    assertTrue(
        run(
                program,
                "plan",
                "vgg-16",
                "--cluster",
                cluster.toString(),
                "--global-batch",
                "64",
                "--json")
            .lines()
            .startsWith("{"));
    assertTrue(
        run(program, "schedule", "optimal", "--stages", "2", "--micro-batches", "2")
            .lines()
            .contains("makespan 7"));
    assertTrue(
        run(
                program,
                "plan",
                "bert-24",
                "--cluster",
                "dapple-a",
                "--global-batch",
                "64",
                "--planner",
                "mcap-bo")
            .lines()
            .contains("peak"));
    assertTrue(run(program, "doctor").lines().contains("a package in " + image));
    Said wrong = run(program, "plan", "bert-48", "--cluster", "nowhere", "--global-batch", "64");
    assertEquals(2, wrong.status());
    assertEquals(1, wrong.errors().lines().count(), wrong.errors());
  }

  /** The archive of reference data is what `reproduce` reads, where the build has the data. */
  @Test
  void theArchiveReproduces() throws Exception {
    String program = unpacked().resolve("bin/pipewright").toString();
    assertTrue(run(program, "reproduce").lines().contains("figure3 "));
    String[] line = {"reproduce", "hand-made-layouts", "--out", "found"};
    Said wrong = run(Stream.concat(Stream.of(program), Stream.of(line)).toList());
    assertEquals(2, wrong.status());
    assertTrue(wrong.errors().contains("needs measured of the reference data"), wrong.errors());
    assertTrue(run(program, "reproduce", "table6").lines().startsWith("# DAPPLE, table VI"));
    try (Stream<Path> files = Files.list(Path.of("target"))) {
      assumeTrue(files.anyMatch(file -> file.toString().contains("pipewright-reference-")));
    }
    Path data = made("pipewright-reference-", ".tar.gz");
    assertTrue(
        run(program, "reproduce", "transformer-accuracy", "--data", data.toString())
            .lines()
            .startsWith("# "));
  }

  private Said plan(String program) throws IOException, InterruptedException {
    return run(Stream.concat(Stream.of(program), Stream.of(PLAN)).toList());
  }

  @Test
  void everyLibraryHasItsLicence() throws Exception {
    Path image = unpacked();
    String listed = Files.readString(image.resolve("licences/THIRD-PARTY.txt"));
    String bill = Files.readString(image.resolve("licences/sbom.json"));
    for (String jar : AppImage.jars(image.resolve("lib"))) {
      if (!jar.startsWith("pipewright-")) {
        String name = jar.replaceFirst("-[0-9][0-9.]*\\.jar$", "");
        assertTrue(listed.contains(":" + name + ":"), name);
        assertTrue(bill.contains("\"name\" : \"" + name + "\""), name);
      }
    }
    assertTrue(Files.exists(image.resolve("runtime/legal/java.base/LICENSE")), "of the runtime");
  }

  @Test
  void theArchiveOfClassesFitsWhereverItIs() throws Exception {
    startsFromArchive(unpacked());
  }

  /**
   * With these flags Java refuses to start where the archive of classes does not fit. The archive
   * holds the classes of libraries, too.
   */
  private void startsFromArchive(Path image) throws IOException, InterruptedException {
    Path lib = image.resolve("lib");
    String jars =
        String.join(
            ":", AppImage.jars(lib).stream().map(jar -> lib.resolve(jar).toString()).toList());
    Stream<String> start = Stream.of(image.resolve("runtime/bin/java").toString());
    Stream<String> flags = AppImage.flags(lib.resolve("classes.archive").toString()).stream();
    String strict = AppImage.CACHED ? "-XX:AOTMode=on" : "-Xshare:on";
    Stream<String> rest =
        Stream.of(strict, "-Xlog:class+load", "-cp", jars, AppImage.MAIN, "--version");
    String loaded = run(Stream.of(start, flags, rest).flatMap(each -> each).toList()).lines();
    List<String> picocli = loaded.lines().filter(line -> line.contains(" picocli.")).toList();
    assertTrue(picocli.size() > 100, loaded);
    assertEquals(
        List.of(), picocli.stream().filter(line -> !line.contains("shared objects file")).toList());
  }

  @Test
  void theWheelAnswersPython() throws Exception {
    Path wheel = made("pipewright-", ".whl");
    assumeTrue(run("python3", "-c", "import venv, ensurepip").status() == 0, "no python3-venv");
    Path python = folder.resolve("venv/bin/python");
    run("python3", "-m", "venv", "venv").lines();
    run(python.toString(), "-m", "pip", "install", "--quiet", "--no-index", wheel.toString())
        .lines();
    assertTrue(plan(folder.resolve("venv/bin/pipewright").toString()).lines().contains("bert-48"));
    String where = "import os, pipewright; print(os.path.dirname(pipewright.__file__))";
    startsFromArchive(Path.of(run(python.toString(), "-c", where).lines().strip(), "image"));
    String script =
        """
        import pipewright
        answer = pipewright.plan("bert-48", cluster="dapple-a", global_batch=64)
        print(answer["objective"]["name"], len(answer["plan"]["stages"]) > 0)
        try:
            pipewright.plan("bert-48", cluster="nowhere", global_batch=64)
        except pipewright.PipewrightError as e:
            print(e.status, "nowhere" in str(e))
        """;
    assertEquals("step_s True\n2 True\n", run(python.toString(), "-c", script).lines());
    Said profile = run(folder.resolve("venv/bin/pipewright-profile").toString(), "--help");
    assertTrue(
        profile.status() == 0 || profile.errors().contains("PyTorch is not installed"),
        profile.errors());
  }

  @Test
  void theDebianPackageIsInstalledAndRemoved() throws Exception {
    Path link = Path.of("/usr/bin/pipewright");
    Path page = Path.of("/usr/share/man/man1/pipewright-plan.1");
    assumeTrue(
        Files.isWritable(link.getParent()) && Files.exists(Path.of("/usr/bin/dpkg")),
        "needs an administrator");
    assumeTrue(!Files.exists(link), "Pipewright is installed here");
    run("dpkg", "--install", made("pipewright_", ".deb").toString()).lines();
    try {
      assertTrue(plan("pipewright").lines().contains("bert-48 on dapple-a"));
      assertTrue(Files.exists(page), "a manual page");
      String asked = "source /usr/share/bash-completion/completions/pipewright; complete -p";
      assertTrue(run("bash", "-c", asked).lines().contains(" pipewright"), "completions");
    } finally {
      run("dpkg", "--purge", "pipewright").lines();
    }
    assertFalse(Files.exists(link));
    assertFalse(Files.exists(page));
    assertFalse(Files.exists(Path.of("/usr/lib/pipewright")));
  }

  /** Its layers, one over the other, hold all that the program needs. */
  @Test
  void theContainerHoldsAllThatItNeeds() throws Exception {
    assumeTrue(Files.exists(Path.of("/etc/debian_version")), "needs Debian's libraries");
    assumeTrue(run("chroot", "/", "true").status() == 0, "needs an administrator");
    run("tar", "xf", made("pipewright-", "-oci.tar").toString()).lines();
    Path root = Files.createDirectory(folder.resolve("root"));
    String unpack =
        """
        import json, tarfile
        read = lambda digest: open("blobs/" + digest.replace(":", "/"), "rb")
        manifest = json.load(read(json.load(open("index.json"))["manifests"][0]["digest"]))
        for layer in manifest["layers"]:
            tarfile.open(fileobj=read(layer["digest"])).extractall("root")
        print("\\n".join(json.load(read(manifest["config"]["digest"]))["config"]["Entrypoint"]))
        """;
    List<String> start = run("python3", "-c", unpack).lines().lines().toList();
    List<String> line =
        Stream.of(
                Stream.of("chroot", "--userspec=65532:65532", root.toString()),
                start.stream(),
                Stream.of(PLAN))
            .flatMap(each -> each)
            .toList();
    assertTrue(run(line).lines().contains("bert-48 on dapple-a"));
  }
}
