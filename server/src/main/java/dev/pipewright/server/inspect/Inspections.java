package dev.pipewright.server.inspect;

import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** The last inspections, in memory alone, under links that cannot be guessed. Safe for threads. */
public final class Inspections {
  private static final int MOST = 100;
  private static final long MOST_BYTES = 128L << 20;
  private static final int BYTES = 10; // of a link

  private final SecureRandom random = new SecureRandom();
  private final Map<String, Inspection> last = new LinkedHashMap<>();
  private long size;

  /** Keeps an inspection and returns its link's last part; forgets the oldest beyond the limits. */
  public synchronized String keep(Inspection inspection) {
    byte[] bytes = new byte[BYTES];
    random.nextBytes(bytes);
    String id = HexFormat.of().formatHex(bytes);
    last.put(id, inspection);
    size += inspection.size();
    Iterator<Inspection> oldest = last.values().iterator();
    while (last.size() > MOST || (size > MOST_BYTES && last.size() > 1)) {
      size -= oldest.next().size();
      oldest.remove();
    }
    return id;
  }

  public synchronized Optional<Inspection> find(String id) {
    return Optional.ofNullable(last.get(id));
  }
}
