package dev.pipewright.server.store;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.pipewright.formats.file.BadInputException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.Optional;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Opens the database that the user names, or the file in the folder of the studies. */
final class Database {
  private static final String POSTGRESQL = "jdbc:postgresql:";
  private static final String USER = "PIPEWRIGHT_DATABASE_USER";
  private static final String PASSWORD = "PIPEWRIGHT_DATABASE_PASSWORD";
  private static final int CONNECTIONS = 8;
  private static final int PATIENCE = 10_000; // milliseconds for a connection

  /** Kept, since the logging forgets levels of loggers that nothing holds. It would log URLs. */
  private static final Logger POOL = Logger.getLogger("com.zaxxer.hikari");

  private Database() {}

  /** Whether large values are of the type that PostgreSQL has for them. */
  static boolean isPostgresql(Optional<String> url) {
    return url.isPresent();
  }

  /** Throws {@link BadInputException} where there is none to be had. */
  static HikariDataSource open(Optional<String> url, Path folder, Map<String, String> environment) {
    POOL.setLevel(Level.WARNING);
    HikariConfig config = new HikariConfig();
    config.setPoolName("studies");
    config.setMaximumPoolSize(CONNECTIONS);
    config.setMinimumIdle(1);
    config.setConnectionTimeout(PATIENCE);
    config.setAutoCommit(false);
    String where;
    if (url.isPresent()) {
      if (!url.get().startsWith(POSTGRESQL)) {
        throw new BadInputException(
            "--database: is no URL of PostgreSQL; give one like jdbc:postgresql://localhost/pipewright");
      }
      config.setJdbcUrl(url.get());
      config.setDriverClassName("org.postgresql.Driver");
      Optional.ofNullable(environment.get(USER)).ifPresent(config::setUsername);
      Optional.ofNullable(environment.get(PASSWORD)).ifPresent(config::setPassword);
      where = "--database: PostgreSQL cannot be used";
    } else {
      Path file = prepared(folder).resolve("studies");
      // Each commit is on disk before it returns: what a killed program had saved is there.
      config.setJdbcUrl(
          "jdbc:h2:file:" + file.toAbsolutePath() + ";WRITE_DELAY=0;DB_CLOSE_ON_EXIT=FALSE");
      config.setDriverClassName("org.h2.Driver");
      where = "--data: the studies in " + folder + " cannot be opened";
    }
    try {
      return new HikariDataSource(config);
    } catch (RuntimeException e) {
      throw new BadInputException(where + reason(e));
    }
  }

  private static Path prepared(Path folder) {
    if (folder.toString().contains(";")) { // would begin a setting of the database's URL
      throw new BadInputException("--data: ; stands in the path; give another folder");
    }
    try {
      if (!Files.isDirectory(folder)) {
        Files.createDirectories(folder);
        if (Files.getFileStore(folder).supportsFileAttributeView("posix")) {
          Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx------"));
        }
      }
      return folder;
    } catch (IOException e) {
      throw new BadInputException(
          "--data: %s cannot be made; give a folder that you can write to".formatted(folder));
    }
  }

  /** The innermost reason in the driver's words, which name no password, and what to do. */
  private static String reason(Throwable failure) {
    Throwable cause = failure;
    while (cause.getCause() != null) {
      cause = cause.getCause();
    }
    String words = String.valueOf(cause.getMessage()).replaceAll("\\s*\\R\\s*", " ");
    boolean locked = words.contains("lock");
    return locked
        ? ": another `pipewright serve` uses them; end it, or give another folder"
        : ": " + words + "; check that it is there and that you may use it";
  }
}
