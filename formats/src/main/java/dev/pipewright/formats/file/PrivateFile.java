package dev.pipewright.formats.file;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.EnumSet;
import java.util.Set;

/** Files with secrets, which only their owner may read or change. */
public final class PrivateFile {
  private static final Set<PosixFilePermission> OF_OTHERS =
      EnumSet.of(
          PosixFilePermission.GROUP_READ,
          PosixFilePermission.GROUP_WRITE,
          PosixFilePermission.OTHERS_READ,
          PosixFilePermission.OTHERS_WRITE);

  private PrivateFile() {}

  /**
   * Throws where other users may read or change a file; nothing where the file is absent or its
   * file system knows no owners.
   *
   * @param flag that names it
   */
  public static void require(String flag, Path file) {
    try {
      if (Files.exists(file)
          && Files.getFileStore(file).supportsFileAttributeView("posix")
          && Files.getPosixFilePermissions(file).stream().anyMatch(OF_OTHERS::contains)) {
        throw new BadInputException(
            "%s: %s can be read or changed by other users; run chmod 600 on it"
                .formatted(flag, file));
      }
    } catch (IOException e) {
      throw new BadInputException(
          "%s: %s cannot be read; give one that this user owns".formatted(flag, file));
    }
  }
}
