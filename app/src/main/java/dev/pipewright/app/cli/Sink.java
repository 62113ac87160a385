package dev.pipewright.app.cli;

import java.io.IOException;
import java.io.OutputStream;

/** Standard output that remembers a failure, which a {@link java.io.PrintWriter} swallows. */
final class Sink extends OutputStream {
  private final OutputStream to;
  private boolean failed;

  Sink(OutputStream to) {
    this.to = to;
  }

  /** Whether something was not written, other than to a reader who had seen enough. */
  boolean failed() {
    return failed;
  }

  @Override
  public void write(int b) throws IOException {
    write(new byte[] {(byte) b}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int from, int length) throws IOException {
    try {
      to.write(bytes, from, length);
    } catch (IOException e) {
      String reason = String.valueOf(e.getMessage());
      failed |= !(reason.contains("Broken pipe") || reason.contains("closed"));
      throw e;
    }
  }
}
