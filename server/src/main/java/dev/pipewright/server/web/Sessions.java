package dev.pipewright.server.web;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Semaphore;

/**
 * Who has given the token. A browser that has gets a random number as a cookie; the token itself is
 * kept in no browser. Without a token all may ask. Safe for threads.
 */
public final class Sessions {
  public static final String COOKIE = "pipewright-session";
  private static final int BYTES = 24;
  private static final int MOST = 10_000;
  private static final int PAUSE = 300; // milliseconds after a wrong token

  private final Optional<byte[]> token;
  private final SecureRandom random = new SecureRandom();
  private final Semaphore tries = new Semaphore(1, true);
  private final Map<String, Boolean> open =
      new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Boolean> eldest) {
          return size() > MOST;
        }
      };

  public Sessions(Optional<String> token) {
    this.token = token.map(text -> text.getBytes(StandardCharsets.UTF_8));
  }

  /** Whether users have to give a token. */
  boolean closed() {
    return token.isPresent();
  }

  /** Begins a session for who gives the token; wrong ones are tried one after the other. */
  public Optional<String> begin(String given) throws InterruptedException {
    tries.acquire();
    try {
      if (!fits(given)) {
        Thread.sleep(PAUSE);
        return Optional.empty();
      }
    } finally {
      tries.release();
    }
    byte[] bytes = new byte[BYTES];
    random.nextBytes(bytes);
    String session = Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    synchronized (open) {
      open.put(session, true);
    }
    return Optional.of(session);
  }

  private boolean fits(String given) {
    return token.isPresent()
        && MessageDigest.isEqual(token.get(), given.strip().getBytes(StandardCharsets.UTF_8));
  }

  /** Whether the request's cookies, or its {@code Authorization: Bearer}, let it in. */
  boolean admits(Exchange exchange) throws InterruptedException {
    if (token.isEmpty()) {
      return true;
    }
    Optional<String> bearer = exchange.header("Authorization").filter(v -> v.startsWith("Bearer "));
    if (bearer.isPresent()) {
      return begin(bearer.get().substring("Bearer ".length())).isPresent();
    }
    for (String cookie : exchange.header("Cookie").orElse("").split(";", -1)) {
      String[] pair = cookie.strip().split("=", 2);
      if (pair.length == 2 && pair[0].equals(COOKIE)) {
        synchronized (open) {
          return open.containsKey(pair[1]);
        }
      }
    }
    return false;
  }
}
