package dev.pipewright.app.cli.sweep;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.sweep.SweepPoint;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/**
 * One of several runs that share a sweep: every {@code count}-th point from the {@code index}-th
 * on, so that neighbours, which take about as long, go to different runs.
 *
 * @param index from 1
 */
record SweepShard(int index, int count) {
  private static final Pattern WORDS = Pattern.compile("(\\d{1,9})/(\\d{1,9})");
  private static final Pattern FOLDER = Pattern.compile("shard-\\d+-of-\\d+");

  /** Reads {@code 2/3}. */
  static SweepShard of(String text) {
    Matcher words = WORDS.matcher(text.strip());
    if (!words.matches()) {
      throw new BadInputException(
          "--shard: '%s' is no shard; write which of how many, like 2/8".formatted(text));
    }
    SweepShard shard =
        new SweepShard(Integer.parseInt(words.group(1)), Integer.parseInt(words.group(2)));
    if (shard.index < 1 || shard.index > shard.count) {
      throw new BadInputException(
          "--shard: %s is none of the shards 1/%2$d to %2$d/%2$d, which count from 1; with Slurm take --array=1-%2$d"
              .formatted(text.strip(), Math.max(1, shard.count)));
    }
    return shard;
  }

  /** Its points, in order. */
  List<SweepPoint> of(List<SweepPoint> points) {
    return IntStream.range(0, points.size())
        .filter(i -> i % count == index - 1)
        .mapToObj(points::get)
        .toList();
  }

  /** Its folder in that of the sweep. */
  String folder() {
    return "shard-" + index + "-of-" + count;
  }

  /** Whether a folder has such a name. */
  static boolean isFolder(String name) {
    return FOLDER.matcher(name).matches();
  }
}
