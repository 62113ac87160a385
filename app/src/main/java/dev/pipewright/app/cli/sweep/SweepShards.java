package dev.pipewright.app.cli.sweep;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.OutputFile;
import dev.pipewright.formats.sweep.SweepKey;
import dev.pipewright.formats.sweep.SweepLog;
import dev.pipewright.formats.sweep.SweepPoint;
import dev.pipewright.formats.sweep.SweepResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Joins what shards of a sweep have written; they may have run on different machines. */
final class SweepShards {
  private SweepShards() {}

  /**
   * The answers of all shards in a folder, and of a run without shards that went on there, in the
   * order of the points. Throws {@link BadInputException} where there is no shard, where one has a
   * point that the sweep does not have, and where two shards contradict each other.
   */
  static Map<SweepKey, SweepResult> merged(Path file, List<SweepPoint> points, Path folder) {
    Map<SweepKey, SweepResult> all = new HashMap<>();
    Map<SweepKey, Path> from = new HashMap<>();
    points.forEach(point -> from.put(point.key(), folder));
    for (Path results : files(folder)) {
      SweepLog.read(results)
          .forEach((key, result) -> {
            if (!from.containsKey(key)) {
              throw BadInputException.in(
                  results, "%s is no point of %s; merge shards of one sweep".formatted(key, file));
            }
            SweepResult first = all.putIfAbsent(key, result);
            if (first != null && !first.agrees(result)) {
              throw BadInputException.in(
                  results,
                  "%s has another answer than in %s; remove one of the two folders and plan its shard with this version"
                      .formatted(key, from.get(key)));
            }
            from.put(key, results);
          });
    }
    Map<SweepKey, SweepResult> ordered = new LinkedHashMap<>();
    for (SweepPoint point : points) {
      SweepResult result = all.get(point.key());
      if (result != null) {
        ordered.put(point.key(), result);
      }
    }
    return ordered;
  }

  private static List<Path> files(Path folder) {
    if (!Files.isDirectory(folder)) {
      throw new BadInputException(
          "--merge: %s is no folder; name that of the sweep with --out".formatted(folder));
    }
    try (Stream<Path> all = Files.list(folder)) {
      List<Path> files =
          all.filter(path -> SweepShard.isFolder(path.getFileName().toString()))
              .map(path -> path.resolve(SweepLog.NAME))
              .filter(Files::exists)
              .sorted()
              .toList();
      if (files.isEmpty()) {
        throw new BadInputException(
            "--merge: %s has no shard like shard-1-of-8/%s; plan one with --shard"
                .formatted(folder, SweepLog.NAME));
      }
      Path whole = folder.resolve(SweepLog.NAME);
      return Stream.concat(files.stream(), Stream.of(whole).filter(Files::exists)).toList();
    } catch (IOException e) {
      throw OutputFile.failed(folder, "cannot be read", e);
    }
  }
}
