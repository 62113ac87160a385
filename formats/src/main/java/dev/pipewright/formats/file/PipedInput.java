package dev.pipewright.formats.file;

import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.Objects;

/**
 * What comes through a pipe: it can be read but once, and so is kept, as far as it was read, for
 * every later reader.
 */
final class PipedInput {
  private static final int MOST = 64 << 20; // bytes

  private final InputStream source;
  private byte[] kept = new byte[1 << 13];
  private int size;

  PipedInput(InputStream source) {
    this.source = source;
  }

  /** All of it, from the beginning; one after the other, not several at once. */
  InputStream open() {
    return new InputStream() {
      private int at;

      @Override
      public int read() throws IOException {
        return at < size || more() ? kept[at++] & 0xFF : -1;
      }

      @Override
      public int read(byte[] bytes, int from, int length) throws IOException {
        Objects.checkFromIndexSize(from, length, bytes.length);
        if (length == 0) {
          return 0;
        }
        if (at == size && !more()) {
          return -1;
        }
        int count = Math.min(length, size - at);
        System.arraycopy(kept, at, bytes, from, count);
        at += count;
        return count;
      }
    };
  }

  /** Keeps what comes next; says whether anything came. */
  private boolean more() throws IOException {
    if (size == kept.length) {
      if (size == MOST) {
        throw new IOException("more than 64 MiB came through a pipe; write it to a file");
      }
      kept = Arrays.copyOf(kept, size > MOST / 2 ? MOST : 2 * size);
    }
    int count = source.read(kept, size, kept.length - size);
    size += Math.max(0, count);
    return count > 0;
  }
}
