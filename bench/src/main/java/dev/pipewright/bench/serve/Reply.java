package dev.pipewright.bench.serve;

import java.net.http.HttpResponse;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What came of a request.
 *
 * @param seconds from when it was due until all of its response was there
 * @param link that the response leads to
 * @param error what was wrong; empty where nothing was
 */
record Reply(String kind, double seconds, Optional<String> link, Optional<String> error) {
  /** Of a response or a failure that is there now. */
  static Reply of(
      RequestKind kind,
      long due,
      @Nullable HttpResponse<byte[]> response,
      @Nullable Throwable failure) {
    double seconds = (System.nanoTime() - due) / 1e9;
    if (response == null) {
      return new Reply(kind.name(), seconds, Optional.empty(), Optional.of("" + failure));
    }
    boolean right =
        response.statusCode() == kind.status()
            && (kind.status() != 200 || response.body().length > 0);
    return new Reply(
        kind.name(),
        seconds,
        response.headers().firstValue("Location"),
        right ? Optional.empty() : Optional.of("status " + response.statusCode()));
  }
}
