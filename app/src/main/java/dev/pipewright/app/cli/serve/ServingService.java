package dev.pipewright.app.cli.serve;

import java.net.URI;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Serves pages for the browser; found as a service, since the web server is no part of planning.
 */
public interface ServingService {
  /**
   * What to serve where.
   *
   * @param host the address to bind to
   * @param port 0 for any free one
   * @param token that a user has to know; empty only on a loopback address
   * @param database a JDBC URL; empty for a file in {@code data}
   * @param data the folder of the studies
   */
  record Request(
      String host, int port, Optional<String> token, Optional<String> database, Path data) {}

  /** Pages that are served until they are closed. */
  interface Site extends AutoCloseable {
    URI address();

    @Override
    void close();
  }

  /**
   * Starts to serve.
   *
   * @throws dev.pipewright.formats.file.BadInputException where the address, the folder or the
   *     database cannot be used
   */
  Site start(Request request);
}
