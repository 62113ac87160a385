package dev.pipewright.server.store;

import com.zaxxer.hikari.HikariDataSource;
import dev.pipewright.formats.file.BadInputException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;

/**
 * Keeps studies and the files that their commands wrote. A study is saved whole or not at all; one
 * of the same id is replaced. Safe for threads.
 */
public final class StudyStore implements AutoCloseable {
  private static final int VERSION = 1; // of the tables
  private static final String SEPARATOR = "\n"; // no argument has one

  /** A line of the history. */
  public record Line(String id, List<String> command, Instant created, String headline) {}

  private final HikariDataSource database;

  private StudyStore(HikariDataSource database) {
    this.database = database;
  }

  /**
   * Opens the store and makes its tables where they are missing.
   *
   * @param url of PostgreSQL; empty for a file in the folder
   * @param environment with PostgreSQL's user and password
   */
  public static StudyStore open(
      Optional<String> url, Path folder, Map<String, String> environment) {
    StudyStore store = new StudyStore(Database.open(url, folder, environment));
    try {
      store.inTransaction(connection -> {
        prepare(connection, Database.isPostgresql(url) ? "BYTEA" : "BLOB");
        return true;
      });
    } catch (RuntimeException e) {
      store.close();
      throw e;
    }
    return store;
  }

  private static void prepare(Connection connection, String bytes) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE IF NOT EXISTS pipewright_version (version INTEGER NOT NULL)");
      int version = 0;
      try (ResultSet found =
          statement.executeQuery("SELECT MAX(version) FROM pipewright_version")) {
        version = found.next() ? found.getInt(1) : 0;
      }
      if (version > VERSION) {
        throw new BadInputException(
            "the studies are of a newer Pipewright (tables %d, known are %d); use that one"
                .formatted(version, VERSION));
      }
      if (version == 0) {
        statement.execute(
            """
            CREATE TABLE study (
              id VARCHAR(32) PRIMARY KEY,
              command TEXT NOT NULL,
              version VARCHAR(100) NOT NULL,
              created BIGINT NOT NULL,
              ended INTEGER NOT NULL,
              headline VARCHAR(400) NOT NULL,
              answer TEXT NOT NULL,
              remarks TEXT NOT NULL)\
            """);
        statement.execute("CREATE INDEX study_created ON study (created)");
        statement.execute(
            """
            CREATE TABLE study_file (
              study VARCHAR(32) NOT NULL REFERENCES study (id) ON DELETE CASCADE,
              name VARCHAR(100) NOT NULL,
              content %s NOT NULL,
              PRIMARY KEY (study, name))\
            """
                .formatted(bytes));
        statement.execute("INSERT INTO pipewright_version VALUES (" + VERSION + ")");
      }
    }
  }

  /**
   * Saves a study.
   *
   * @param files content by name
   */
  public void save(KeptStudy study, Map<String, byte[]> files) {
    inTransaction(connection -> {
      try (PreparedStatement delete =
          connection.prepareStatement("DELETE FROM study WHERE id = ?")) {
        delete.setString(1, study.id());
        delete.executeUpdate();
      }
      try (PreparedStatement insert =
          connection.prepareStatement("INSERT INTO study VALUES (?, ?, ?, ?, ?, ?, ?, ?)")) {
        insert.setString(1, study.id());
        insert.setString(2, String.join(SEPARATOR, study.command()));
        insert.setString(3, study.version());
        insert.setLong(4, study.created().toEpochMilli());
        insert.setInt(5, study.ended() ? 1 : 0);
        insert.setString(6, study.headline());
        insert.setString(7, study.answer());
        insert.setString(8, study.remarks());
        insert.executeUpdate();
      }
      try (PreparedStatement insert =
          connection.prepareStatement("INSERT INTO study_file VALUES (?, ?, ?)")) {
        for (Map.Entry<String, byte[]> file : files.entrySet()) {
          insert.setString(1, study.id());
          insert.setString(2, file.getKey());
          insert.setBytes(3, packed(file.getValue()));
          insert.executeUpdate();
        }
      }
      return true;
    });
  }

  public Optional<KeptStudy> find(String id) {
    return inTransaction(connection -> {
      try (PreparedStatement query =
          connection.prepareStatement(
              "SELECT id, command, version, created, ended, headline, answer, remarks FROM study WHERE id = ?")) {
        query.setString(1, id);
        try (ResultSet found = query.executeQuery()) {
          return found.next()
              ? Optional.of(
                  new KeptStudy(
                      found.getString(1),
                      List.of(found.getString(2).split(SEPARATOR, -1)),
                      found.getString(3),
                      Instant.ofEpochMilli(found.getLong(4)),
                      found.getInt(5) != 0,
                      found.getString(6),
                      found.getString(7),
                      found.getString(8)))
              : Optional.<KeptStudy>empty();
        }
      }
    });
  }

  /** A file that the study's command wrote. */
  public Optional<byte[]> file(String id, String name) {
    return inTransaction(connection -> {
      try (PreparedStatement query =
          connection.prepareStatement(
              "SELECT content FROM study_file WHERE study = ? AND name = ?")) {
        query.setString(1, id);
        query.setString(2, name);
        try (ResultSet found = query.executeQuery()) {
          return found.next() ? Optional.of(unpacked(found.getBytes(1))) : Optional.<byte[]>empty();
        }
      }
    });
  }

  /** The names of all files of a study, in order. */
  public List<String> files(String id) {
    return inTransaction(connection -> {
      try (PreparedStatement query =
          connection.prepareStatement(
              "SELECT name FROM study_file WHERE study = ? ORDER BY name")) {
        query.setString(1, id);
        List<String> names = new ArrayList<>();
        try (ResultSet found = query.executeQuery()) {
          while (found.next()) {
            names.add(found.getString(1));
          }
        }
        return names;
      }
    });
  }

  /**
   * The newest studies whose command line has a word.
   *
   * @param word any where empty
   * @param skip how many newer ones to leave out
   */
  public List<Line> newest(String word, int skip, int count) {
    return inTransaction(connection -> {
      try (PreparedStatement query =
          connection.prepareStatement(
              "SELECT id, command, created, headline FROM study WHERE command LIKE ? ESCAPE '!'"
                  + " ORDER BY created DESC, id LIMIT ? OFFSET ?")) {
        query.setString(1, "%" + word.replaceAll("[!%_]", "!$0") + "%");
        query.setInt(2, count);
        query.setInt(3, skip);
        List<Line> lines = new ArrayList<>();
        try (ResultSet found = query.executeQuery()) {
          while (found.next()) {
            lines.add(
                new Line(
                    found.getString(1),
                    List.of(found.getString(2).split(SEPARATOR, -1)),
                    Instant.ofEpochMilli(found.getLong(3)),
                    found.getString(4)));
          }
        }
        return lines;
      }
    });
  }

  @Override
  public void close() {
    database.close();
  }

  private interface Work<T> {
    T on(Connection connection) throws SQLException;
  }

  private <T> T inTransaction(Work<T> work) {
    try (Connection connection = database.getConnection()) {
      try {
        T result = work.on(connection);
        connection.commit();
        return result;
      } catch (SQLException | RuntimeException e) {
        connection.rollback();
        throw e;
      }
    } catch (SQLException e) {
      throw new IllegalStateException("the database of the studies failed", e);
    }
  }

  private static byte[] packed(byte[] content) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (GZIPOutputStream out = new GZIPOutputStream(bytes)) {
      out.write(content);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  private static byte[] unpacked(byte[] content) {
    try (GZIPInputStream in = new GZIPInputStream(new ByteArrayInputStream(content))) {
      return in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
