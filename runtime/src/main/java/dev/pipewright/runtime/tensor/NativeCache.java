package dev.pipewright.runtime.tensor;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The folder into which JavaCPP unpacks the native libraries, and from which it runs what it finds.
 * Only its owner may therefore enter it, or put another one in its place: the folder is the user's
 * and has mode 700, and each folder above it is the user's or the system's and cannot be written by
 * all, unless it is sticky as {@code /tmp} is.
 *
 * <p>In this order: JavaCPP's own property, {@code PIPEWRIGHT_CACHE}, {@code XDG_CACHE_HOME},
 * {@code .cache} in the user's home, and where that cannot be written, the system's temporary
 * folder.
 */
public final class NativeCache {
  /** JavaCPP's property, which this class sets. */
  public static final String PROPERTY = "org.bytedeco.javacpp.cachedir";

  /** The environment variable that chooses a folder for the caches. */
  public static final String VARIABLE = "PIPEWRIGHT_CACHE";

  private static final String NAME = "native";
  private static final int STICKY = 01000;

  private NativeCache() {}

  /**
   * Has JavaCPP unpack there; made where it is missing. Only the first call looks.
   *
   * @throws UncheckedIOException with a sentence for the user where no folder is safe
   */
  public static synchronized Path folder() {
    if (!Chosen.known) {
      Path folder =
          chosen(
              Optional.ofNullable(System.getProperty(PROPERTY)),
              System.getenv(),
              Path.of(System.getProperty("user.home")),
              Path.of(System.getProperty("java.io.tmpdir")),
              System.getProperty("user.name"));
      System.setProperty(PROPERTY, folder.toString());
      Chosen.known = true;
    }
    return Path.of(System.getProperty(PROPERTY));
  }

  private static final class Chosen {
    private static boolean known; // guarded by the class around it
  }

  /** The first that can be had; one that the user named, or nothing else. */
  static Path chosen(
      Optional<String> property,
      Map<String, String> environment,
      Path home,
      Path temporary,
      String user) {
    Optional<Path> named =
        property
            .map(Path::of)
            .or(() -> Optional.ofNullable(environment.get(VARIABLE)).map(f -> Path.of(f, NAME)));
    if (named.isPresent()) {
      return made(named.get().toAbsolutePath());
    }
    List<Path> candidates = new ArrayList<>();
    Optional.ofNullable(environment.get("XDG_CACHE_HOME"))
        .map(Path::of)
        .filter(Path::isAbsolute) // as its specification has it
        .or(() -> Optional.of(home.resolve(".cache")).filter(Path::isAbsolute))
        .ifPresent(caches -> candidates.add(caches.resolve("pipewright").resolve(NAME)));
    for (Path candidate : candidates) {
      try {
        return made(candidate);
      } catch (UncheckedIOException e) {
        // the next one
      }
    }
    return made(temporary.toAbsolutePath().resolve("pipewright-cache-" + user).resolve(NAME));
  }

  private static Path made(Path folder) {
    try {
      make(folder);
      check(folder);
      return folder.toRealPath();
    } catch (IOException e) {
      throw new UncheckedIOException(
          "%s: native libraries cannot be unpacked there (%s); set %s to a folder that only you can write"
              .formatted(folder, reason(e), VARIABLE),
          e);
    }
  }

  private static String reason(IOException e) {
    return e instanceof UnsafeFolderException ? String.valueOf(e.getMessage()) : e.toString();
  }

  /** Makes what is missing of it, for the owner alone. */
  private static void make(Path folder) throws IOException {
    if (Files.isDirectory(folder)) {
      return;
    }
    Path above = folder.getParent();
    if (above != null) {
      make(above);
    }
    try {
      if (posix(above == null ? folder : above)) {
        Set<PosixFilePermission> own = PosixFilePermissions.fromString("rwx------");
        Files.createDirectory(folder, PosixFilePermissions.asFileAttribute(own));
      } else {
        Files.createDirectory(folder);
      }
    } catch (FileAlreadyExistsException e) {
      if (!Files.isDirectory(folder)) { // otherwise another process was faster
        throw new UnsafeFolderException(folder + " is no folder");
      }
    }
  }

  private static boolean posix(Path path) {
    return Files.getFileAttributeView(path, PosixFileAttributeView.class) != null;
  }

  /** Windows' folders for users are theirs alone, and have no such permissions. */
  private static void check(Path folder) throws IOException {
    if (!posix(folder)) {
      return;
    }
    Path probe = Files.createTempFile(folder, ".probe", "");
    UserPrincipal user = Files.getOwner(probe);
    Files.delete(probe);
    Path real = folder.toRealPath();
    if (!Files.getOwner(real).equals(user)) {
      throw new UnsafeFolderException("it belongs to " + Files.getOwner(real).getName());
    }
    Set<PosixFilePermission> granted = EnumSet.copyOf(Files.getPosixFilePermissions(real));
    granted.removeAll(PosixFilePermissions.fromString("rwx------"));
    if (!granted.isEmpty()) {
      throw new UnsafeFolderException(
          "others can enter it, "
              + PosixFilePermissions.toString(Files.getPosixFilePermissions(real))
              + " instead of rwx------");
    }
    checkAbove(folder.toAbsolutePath(), user); // its links
    checkAbove(real, user);
  }

  private static void checkAbove(Path folder, UserPrincipal user) throws IOException {
    UserPrincipal system = Files.getOwner(folder.getRoot());
    for (Path above = folder; above != null; above = above.getParent()) {
      UserPrincipal owner = Files.getOwner(above, LinkOption.NOFOLLOW_LINKS);
      if (!owner.equals(user) && !owner.equals(system)) {
        throw new UnsafeFolderException(above + " belongs to " + owner.getName());
      }
      int mode = (int) Files.getAttribute(above, "unix:mode", LinkOption.NOFOLLOW_LINKS);
      boolean open =
          Files.getPosixFilePermissions(above, LinkOption.NOFOLLOW_LINKS)
              .contains(PosixFilePermission.OTHERS_WRITE);
      if (open && (mode & STICKY) == 0 && !Files.isSymbolicLink(above)) {
        throw new UnsafeFolderException("all can write to " + above);
      }
    }
  }

  /** The refusal, with what another user could do. */
  private static final class UnsafeFolderException extends IOException {
    private static final long serialVersionUID = 1;

    UnsafeFolderException(String message) {
      super(message);
    }
  }
}
