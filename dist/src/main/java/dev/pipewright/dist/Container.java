package dev.pipewright.dist;

import com.google.cloud.tools.jib.api.Containerizer;
import com.google.cloud.tools.jib.api.Jib;
import com.google.cloud.tools.jib.api.JibContainerBuilder;
import com.google.cloud.tools.jib.api.TarImage;
import com.google.cloud.tools.jib.api.buildplan.AbsoluteUnixPath;
import com.google.cloud.tools.jib.api.buildplan.FileEntriesLayer;
import com.google.cloud.tools.jib.api.buildplan.FilePermissions;
import com.google.cloud.tools.jib.api.buildplan.ImageFormat;
import com.google.cloud.tools.jib.api.buildplan.Platform;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Writes a container image as an archive in the layout of the Open Container Initiative. It has no
 * shell: nothing but the image, the C library of the machine that builds it with its licences, and
 * a folder for temporary files.
 */
public final class Container {
  private static final String HOME = "/opt/pipewright/";
  private static final String USER = "65532"; // not the administrator
  private static final List<String> LIBRARIES =
      List.of(
          "libc.so.6",
          "libm.so.6",
          "libdl.so.2",
          "libpthread.so.0",
          "librt.so.1",
          "libstdc++.so.6",
          "libgcc_s.so.1");
  private static final List<String> LICENCES = List.of("libc6", "libstdc++6", "libgcc-s1");

  private final Path image;
  private final Instant time;

  private Container(Path image, Instant time) {
    this.image = image;
    this.time = time;
  }

  /**
   * Writes the archive; only says so where the system is not like Debian.
   *
   * @param args the image, the archive, its tag, and the time of all files
   */
  public static void main(String[] args) throws Exception {
    boolean arm = System.getProperty("os.arch").equals("aarch64");
    Path library = Path.of(machine(arm), "libc.so.6");
    if (!Files.exists(library)) {
      System.out.println("no container image: there is no " + library + " here, as on Debian");
      return;
    }
    Container made = new Container(Path.of(args[0]), Instant.parse(args[3]));
    JibContainerBuilder builder =
        Jib.fromScratch()
            .setFormat(ImageFormat.OCI)
            .setPlatforms(Set.of(new Platform(arm ? "arm64" : "amd64", "linux")))
            .addFileEntriesLayer(made.system(arm))
            .addFileEntriesLayer(made.program())
            .setCreationTime(made.time)
            .setUser(USER)
            .setWorkingDirectory(AbsoluteUnixPath.get("/work"))
            .setEntrypoint(made.start());
    builder.containerize(
        Containerizer.to(TarImage.at(Path.of(args[1])).named("pipewright:" + args[2]))
            .setOfflineMode(true)
            .setToolName("pipewright"));
  }

  /** What the launcher would start, without a shell to find out about the terminal. */
  private List<String> start() throws IOException {
    List<String> line = new ArrayList<>(List.of(HOME + "runtime/bin/java"));
    line.addAll(AppImage.flags(HOME + "lib/classes.archive"));
    line.addAll(List.of("-XX:TieredStopAtLevel=1", "--enable-native-access=ALL-UNNAMED"));
    line.add("-cp");
    String server = AppImage.SERVER + "/"; // last: the archive fits what comes before
    List<String> jars = new ArrayList<>(AppImage.jars(image.resolve("lib")));
    AppImage.jars(image.resolve("lib/" + server)).forEach(jar -> jars.add(server + jar));
    line.add(String.join(":", jars.stream().map(jar -> HOME + "lib/" + jar).toList()));
    line.add(AppImage.MAIN);
    return line;
  }

  private FileEntriesLayer program() throws IOException {
    FileEntriesLayer.Builder layer = FileEntriesLayer.builder().setName("pipewright");
    try (Stream<Path> files = Files.walk(image)) {
      for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
        add(layer, file, HOME + image.relativize(file));
      }
    }
    return layer.build();
  }

  /** Where Debian has the libraries of a processor. */
  private static String machine(boolean arm) {
    return "/lib/" + (arm ? "aarch64" : "x86_64") + "-linux-gnu";
  }

  private FileEntriesLayer system(boolean arm) throws IOException {
    String loader = arm ? "/lib/ld-linux-aarch64.so.1" : "/lib64/ld-linux-x86-64.so.2";
    FileEntriesLayer.Builder layer = FileEntriesLayer.builder().setName("c-library");
    add(layer, Path.of(loader), loader);
    for (String library : LIBRARIES) {
      String name = machine(arm) + "/" + library;
      add(layer, Path.of(name), name);
    }
    for (String part : LICENCES) {
      String name = "/usr/share/doc/" + part + "/copyright";
      add(layer, Path.of(name), name);
    }
    Path empty = Files.createDirectories(image.resolveSibling("empty"));
    for (String folder : List.of("/tmp", "/work")) {
      layer.addEntry(
          empty, AbsoluteUnixPath.get(folder), FilePermissions.fromOctalString("777"), time);
    }
    return layer.build();
  }

  private void add(FileEntriesLayer.Builder layer, Path file, String name) throws IOException {
    Path real = file.toRealPath(); // layers have no links
    String mode = Files.isExecutable(real) ? "755" : "644";
    layer.addEntry(real, AbsoluteUnixPath.get(name), FilePermissions.fromOctalString(mode), time);
  }
}
