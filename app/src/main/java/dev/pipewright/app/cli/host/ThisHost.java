package dev.pipewright.app.cli.host;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The machine that this runs on. */
public final class ThisHost implements Host {
  private static final int PATIENCE_S = 20;

  @Override
  public Optional<String> run(List<String> command) {
    @Nullable Path output = null;
    @Nullable Process process = null;
    try {
      output = Files.createTempFile("pipewright-host", ".txt");
      process =
          new ProcessBuilder(command)
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .redirectOutput(output.toFile())
              .start();
      process.getOutputStream().close();
      boolean ended = process.waitFor(PATIENCE_S, TimeUnit.SECONDS);
      return ended && process.exitValue() == 0
          ? Optional.of(Files.readString(output).strip())
          : Optional.empty();
    } catch (IOException e) {
      return Optional.empty(); // not installed
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    } finally {
      if (process != null) {
        process.destroyForcibly();
      }
      if (output != null) {
        output.toFile().delete();
      }
    }
  }

  @Override
  public int processors() {
    return Runtime.getRuntime().availableProcessors();
  }

  @Override
  public long memory() {
    return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getTotalMemorySize();
  }

  @Override
  public Java java() {
    String name = Runtime.version() + " of " + System.getProperty("java.vendor");
    return new Java(Runtime.version().feature(), name, Path.of(System.getProperty("java.home")));
  }

  @Override
  public Optional<Path> jar() {
    CodeSource source = ThisHost.class.getProtectionDomain().getCodeSource();
    return Optional.ofNullable(source)
        .map(found -> Path.of(URI.create(found.getLocation().toString())));
  }

  @Override
  public boolean exists(Path file) {
    return Files.exists(file);
  }
}
