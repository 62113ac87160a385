package dev.pipewright.formats.file;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;

/** A file that has to be short: reading beyond its most bytes is its user's mistake. */
public final class ShortInput extends FilterInputStream {
  private final Path file;
  private final int most;
  private long count;

  public ShortInput(InputStream in, Path file, int most) {
    super(in);
    this.file = file;
    this.most = most;
  }

  @Override
  public int read() throws IOException {
    int read = super.read();
    counted(read < 0 ? 0 : 1);
    return read;
  }

  @Override
  public int read(byte[] bytes, int from, int length) throws IOException {
    int read = super.read(bytes, from, length);
    counted(Math.max(0, read));
    return read;
  }

  private void counted(int read) {
    count += read;
    if (count > most) {
      throw BadInputException.at(
          file, 1, "the file has more than %,d bytes; give a shorter one".formatted(most));
    }
  }
}
