package dev.pipewright.formats.file;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The folder that a command writes its files into, for as long as it is open. Two runs never share
 * one: it is locked, and the system releases the lock however the run ends. The folder itself may
 * be a symbolic link to another one; what lies in it must not be, so that nothing outside is ever
 * written or deleted. Each file is written whole or not at all, and never over one that Pipewright
 * did not write: the folder's {@code .pipewright} lists those that it did.
 *
 * <p>A command without a result leaves nothing: a folder made for it is deleted again.
 *
 * <p>Where the file system has no locks, runs are not kept apart.
 */
public final class OutputFolder implements AutoCloseable {
  private static final String LIST = ".pipewright";
  private static final String LOCK = ".pipewright.lock";

  private final Path named; // as the user did
  private final Path folder; // that links lead to
  private final List<Path> made; // for this run, the innermost first
  private final FileChannel lock;
  private final List<String> ours;
  private boolean used;

  private OutputFolder(Path named, List<Path> made, FileChannel lock) throws IOException {
    this.named = named;
    this.folder = named.toRealPath();
    this.made = made;
    this.lock = lock;
    Path list = folder.resolve(LIST);
    ours = new ArrayList<>(Files.exists(list) ? Files.readAllLines(list) : List.of());
  }

  /**
   * Makes and locks a folder for the named files; nothing is open where no folder is wanted.
   *
   * @throws BadInputException where another run writes there, or one of the files would replace
   *     what Pipewright did not write
   */
  public static @Nullable OutputFolder of(@Nullable Path folder, String... names) {
    if (folder == null) {
      return null;
    }
    checkWritable(folder);
    List<Path> made = new ArrayList<>();
    for (Path path = folder.toAbsolutePath().normalize();
        path != null && !Files.exists(path);
        path = path.getParent()) {
      made.add(path);
    }
    FileChannel lock = null;
    try {
      Files.createDirectories(Files.isDirectory(folder) ? folder.toRealPath() : folder);
      inside(folder, LIST);
      lock = lock(folder);
      OutputFolder open = new OutputFolder(folder, made, lock);
      open.check(names);
      return open;
    } catch (IOException e) {
      forget(folder, made, lock);
      String reason = OutputFile.reason(e);
      throw new UncheckedIOException(
          "--out: " + folder + " cannot be written" + (reason.isEmpty() ? "" : ": " + reason), e);
    } catch (BadInputException e) {
      forget(folder, made, lock);
      throw e;
    }
  }

  private static void checkWritable(Path folder) {
    if (Files.isSymbolicLink(folder) && !Files.exists(folder)) {
      throw new BadInputException(
          "--out: " + folder + " is a symbolic link that leads nowhere; name a folder");
    }
    Path there = folder.toAbsolutePath();
    while (there.getParent() != null && !Files.exists(there)) {
      there = there.getParent();
    }
    if (!Files.isDirectory(there)) {
      throw new BadInputException("--out: " + there + " is a file; name a folder");
    }
    if (!Files.isWritable(there)) {
      throw new BadInputException(
          "--out: " + there + " cannot be written; name a folder where you may write");
    }
  }

  private void check(String... names) {
    for (String name : names) {
      Path file = inside(name);
      if (Files.isDirectory(file)) {
        throw new BadInputException("--out: " + shown(name) + " is a folder; name another folder");
      }
      if (Files.exists(file, LinkOption.NOFOLLOW_LINKS) && !ours.contains(name)) {
        throw new BadInputException(
            "--out: " + shown(name) + " exists and is not Pipewright's; name another folder");
      }
    }
  }

  private static FileChannel lock(Path folder) throws IOException {
    Path file = inside(folder, LOCK);
    FileChannel channel =
        FileChannel.open(
            file,
            StandardOpenOption.CREATE,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE,
            LinkOption.NOFOLLOW_LINKS);
    try {
      if (channel.tryLock() == null) {
        String owner = owner(channel);
        channel.close();
        throw new BadInputException(
            "--out: another run%s writes to %s; wait for its end or name another folder"
                .formatted(owner.isEmpty() ? "" : ", process " + owner + ",", folder));
      }
      byte[] own = Long.toString(ProcessHandle.current().pid()).getBytes(StandardCharsets.UTF_8);
      channel.truncate(0).write(ByteBuffer.wrap(own), 0);
    } catch (OverlappingFileLockException e) {
      channel.close();
      throw new BadInputException(
          "--out: this process already writes to " + folder + "; name another folder");
    } catch (IOException e) {
      // No locks here, or no room for the number, which only helps a reader.
    }
    return channel;
  }

  /** Who has locked it; empty where that is not said. */
  private static String owner(FileChannel channel) {
    try {
      ByteBuffer text = ByteBuffer.allocate(20);
      channel.read(text, 0);
      String said = new String(text.array(), 0, text.position(), StandardCharsets.UTF_8);
      return said.matches("\\d+") ? said : "";
    } catch (IOException e) {
      return "";
    }
  }

  private static Path inside(Path folder, String name) {
    Path path = folder.resolve(name);
    if (Files.isSymbolicLink(path)) {
      throw new BadInputException(
          "--out: "
              + path
              + " is a symbolic link, which is not followed; remove it or name another folder");
    }
    return path;
  }

  private Path inside(String name) {
    inside(named, name); // words it as the user did
    return folder.resolve(name);
  }

  private Path shown(String name) {
    return named.resolve(name);
  }

  /** Throws {@link BadInputException} where one of these is a link, before any work. */
  public void requireInside(String... names) {
    for (String name : names) {
      inside(name);
    }
  }

  /** Writes a file, whole or not at all. */
  public void write(String name, String text) {
    write(name, out -> out.append(text));
  }

  /** Writes a file of the folder piece by piece. */
  public void write(String name, OutputFile.Text text) {
    Path file = inside(name);
    if (!ours.contains(name)) {
      ours.add(name);
      list();
    }
    used = true;
    OutputFile.write(file, text);
  }

  /**
   * Deletes a file that Pipewright wrote and that is no longer right; says whether there was one.
   */
  public boolean remove(String name) {
    Path file = inside(name);
    if (!ours.remove(name)) {
      return false;
    }
    try {
      boolean there = Files.deleteIfExists(file);
      list();
      return there;
    } catch (IOException e) {
      throw OutputFile.failed(file, "cannot be removed", e);
    }
  }

  private void list() {
    OutputFile.write(folder.resolve(LIST), String.join("\n", ours) + "\n");
  }

  /** A folder in it, made where it is missing, for files of which Pipewright knows the names. */
  public Path folder(String name) {
    Path path = OutputFile.folder(inside(name));
    used = true;
    return path;
  }

  /** The path of a file of the folder, for one that is written piece by piece. */
  public Path file(String name) {
    used = true;
    return inside(name);
  }

  /** The folder that links lead to. */
  public Path path() {
    return folder;
  }

  /** Lets other runs write there. */
  @Override
  public void close() {
    if (used) {
      closeQuietly(lock);
    } else {
      forget(folder, made, lock);
    }
  }

  /** Deletes what was made for a run that writes nothing, where no other run uses it. */
  private static void forget(Path folder, List<Path> made, @Nullable FileChannel lock) {
    if (lock == null) {
      return;
    }
    try (lock) {
      Files.deleteIfExists(folder.resolve(LOCK));
      for (Path path : made) {
        Files.deleteIfExists(path);
      }
    } catch (IOException e) {
      // other files are there by now
    }
  }

  private static void closeQuietly(FileChannel channel) {
    try {
      channel.close();
    } catch (IOException e) {
      // nothing was written through it that matters
    }
  }

  /** The folder as the user named it. */
  @Override
  public String toString() {
    return named.toString();
  }
}
