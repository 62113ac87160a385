package dev.pipewright.runtime.launch;

import static java.nio.file.StandardOpenOption.CREATE_NEW;
import static java.nio.file.StandardOpenOption.WRITE;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.UserPrincipal;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * A folder for files of one run, which only its owner can enter. Closing it removes it with all
 * that is in it. Where the process was killed before, the next run of the same user removes it: the
 * lock on a file in the folder shows whether its process lives.
 */
public final class TemporaryFolder implements AutoCloseable {
  static final String PREFIX = "pipewright-";

  /** Locked while the folder is in use, and longer than nothing as soon as it has been locked. */
  private static final String LOCK = "in-use";

  /** Folders of this process, whose locks would be lost if it opened their files once more. */
  private static final Set<Path> OWN = ConcurrentHashMap.newKeySet();

  private final Path path;
  private final FileChannel lock;

  private TemporaryFolder(Path path, FileChannel lock) {
    this.path = path;
    this.lock = lock;
  }

  /** Makes one among the system's temporary files. */
  public static TemporaryFolder create() {
    return in(Path.of(System.getProperty("java.io.tmpdir")));
  }

  static TemporaryFolder in(Path parent) {
    try {
      Path path = Files.createTempDirectory(parent, PREFIX);
      OWN.add(path);
      FileChannel lock = FileChannel.open(path.resolve(LOCK), CREATE_NEW, WRITE);
      lock.lock();
      lock.write(ByteBuffer.allocate(1));
      removeAbandoned(parent, Files.getOwner(path));
      return new TemporaryFolder(path, lock);
    } catch (IOException e) {
      throw new UncheckedIOException(parent + ": no temporary folder can be made there", e);
    }
  }

  public Path path() {
    return path;
  }

  @Override
  public synchronized void close() {
    try {
      removeAllBut(path.resolve(LOCK), path);
      lock.close();
      Files.deleteIfExists(path.resolve(LOCK));
      Files.deleteIfExists(path);
    } catch (IOException e) {
      // the next run removes what is left
    }
    OWN.remove(path);
  }

  private static void removeAbandoned(Path parent, UserPrincipal user) throws IOException {
    try (Stream<Path> entries = Files.list(parent)) {
      for (Path entry : entries.filter(TemporaryFolder::named).toList()) {
        try {
          if (!OWN.contains(entry)
              && Files.isDirectory(entry, LinkOption.NOFOLLOW_LINKS)
              && Files.getOwner(entry, LinkOption.NOFOLLOW_LINKS).equals(user)
              && abandoned(entry.resolve(LOCK))) {
            remove(entry);
          }
        } catch (IOException e) {
          // another process was faster
        }
      }
    }
  }

  private static boolean named(Path entry) {
    return entry.getFileName().toString().startsWith(PREFIX);
  }

  private static boolean abandoned(Path file) throws IOException {
    if (!Files.exists(file) || Files.size(file) == 0) {
      return false;
    }
    try (FileChannel channel = FileChannel.open(file, WRITE)) {
      return channel.tryLock() != null;
    }
  }

  private static void remove(Path folder) throws IOException {
    removeAllBut(folder.resolve(LOCK), folder);
    Files.deleteIfExists(folder.resolve(LOCK)); // last, so that another run can go on with it
    Files.deleteIfExists(folder);
  }

  private static void removeAllBut(Path kept, Path folder) throws IOException {
    List<Path> files;
    try (Stream<Path> all = Files.walk(folder)) {
      files = all.sorted(Comparator.reverseOrder()).toList();
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
    for (Path file : files) {
      if (!file.equals(kept) && !file.equals(folder)) {
        Files.deleteIfExists(file);
      }
    }
  }
}
