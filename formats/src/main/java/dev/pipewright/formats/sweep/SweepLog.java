package dev.pipewright.formats.sweep;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.OutputFile;
import dev.pipewright.formats.json.JsonText;
import dev.pipewright.formats.json.Node;
import dev.pipewright.formats.json.Tree;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The file that a sweep adds its answers to, a line of JSON each, written whole by a single call.
 * Many threads may append. What a run that was killed left of a last line is dropped when the file
 * is opened.
 */
public final class SweepLog implements AutoCloseable {
  /** The name of the file in the folder of a sweep. */
  public static final String NAME = "results.jsonl";

  private static final int BLOCK = 1 << 16;

  private final Path file;
  private final FileChannel channel;

  private SweepLog(Path file, FileChannel channel) {
    this.file = file;
    this.channel = channel;
  }

  /** Opens a file, which may be new, after its last whole line. */
  public static SweepLog open(Path file) {
    try {
      FileChannel channel =
          FileChannel.open(
              file,
              StandardOpenOption.CREATE,
              StandardOpenOption.READ,
              StandardOpenOption.WRITE,
              LinkOption.NOFOLLOW_LINKS);
      long end = wholeLines(channel);
      channel.truncate(end);
      channel.position(end);
      return new SweepLog(file, channel);
    } catch (IOException e) {
      throw OutputFile.failed(file, "cannot be written", e);
    }
  }

  /** Bytes up to the last line feed. */
  private static long wholeLines(FileChannel channel) throws IOException {
    ByteBuffer block = ByteBuffer.allocate(BLOCK);
    long end = channel.size();
    while (end > 0) {
      long begin = Math.max(0, end - BLOCK);
      block.clear().limit((int) (end - begin));
      while (block.hasRemaining() && channel.read(block, begin + block.position()) >= 0) {
        // until the block is full
      }
      for (int i = block.position() - 1; i >= 0; i--) {
        if (block.get(i) == '\n') {
          return begin + i + 1;
        }
      }
      end = begin;
    }
    return 0;
  }

  /** The whole lines of a file, in order, by point; none where there is no file. */
  public static Map<SweepKey, SweepResult> read(Path file) {
    Map<SweepKey, SweepResult> results = new LinkedHashMap<>();
    if (!Files.exists(file)) {
      return results;
    }
    for (Node node : Tree.jsonLines(file)) {
      SweepResult result = SweepResult.of(node);
      SweepResult first = results.putIfAbsent(result.key(), result);
      if (first != null && !first.agrees(result)) {
        throw BadInputException.at(
            file,
            node.line(),
            "the point %s has another answer in a line before; remove one of the lines"
                .formatted(result.key()));
      }
    }
    return results;
  }

  /** Adds a line; throws {@link UncheckedIOException} where it cannot be written. */
  public synchronized void append(SweepResult result) {
    byte[] line = JsonText.line(result.members()).getBytes(StandardCharsets.UTF_8);
    ByteBuffer bytes = ByteBuffer.wrap(line);
    try {
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
      channel.force(false);
    } catch (IOException e) {
      throw OutputFile.failed(file, "cannot be written", e);
    }
  }

  @Override
  public void close() {
    try {
      channel.close();
    } catch (IOException e) {
      throw OutputFile.failed(file, "cannot be written", e);
    }
  }
}
