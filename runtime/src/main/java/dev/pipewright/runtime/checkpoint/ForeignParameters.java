package dev.pipewright.runtime.checkpoint;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.runtime.checkpoint.TensorFile.Entry;
import dev.pipewright.runtime.checkpoint.TensorHead.Kind;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;

/**
 * What a network's parameters must be in a file of another program.
 *
 * @param model the network's name
 * @param shapes extents of all parameters and running averages, by name
 * @param tied names of tied tables, by those of their copies, of which a file may have either or
 *     both
 */
public record ForeignParameters(
    String model, SequencedMap<String, long[]> shapes, Map<String, String> tied) {

  /**
   * Finds all of them.
   *
   * @throws BadInputException where one is missing, surplus, of another dtype or other extents
   */
  public SequencedMap<String, Entry> in(TensorFile file) {
    SequencedMap<String, Kind> kinds = file.kinds();
    List<String> surplus =
        kinds.keySet().stream().filter(name -> !shapes.containsKey(name)).toList();
    List<String> missing = new ArrayList<>();
    SequencedMap<String, Entry> chosen = new LinkedHashMap<>();
    shapes.forEach((name, shape) ->
        source(name, kinds)
            .ifPresentOrElse(
                source -> chosen.put(name, new Entry(file, source)), () -> missing.add(name)));
    if (!missing.isEmpty()) {
      throw new BadInputException(
          "%s: has no %s, which %s needs; give a file of this network, with its names%s"
              .formatted(
                  file,
                  some(missing),
                  model,
                  surplus.isEmpty() ? "" : " instead of " + some(surplus)));
    }
    if (!surplus.isEmpty()) {
      throw new BadInputException(
          "%s: has %s, which %s does not have; give a file of this network alone"
              .formatted(file, some(surplus), model));
    }
    chosen.forEach((name, entry) -> check(file, name, entry.kind()));
    tied.forEach((copy, table) -> {
      if (kinds.containsKey(copy)
          && kinds.containsKey(table)
          && !file.sameBytes(table, file, copy)) {
        throw new BadInputException(
            "%s: %s and %s are the same table in %s, but differ; leave the wrong one out"
                .formatted(file, table, copy, model));
      }
    });
    return chosen;
  }

  /** The name of a tensor's values in a file: its own, or that of the table it is tied to. */
  private Optional<String> source(String name, Map<String, Kind> kinds) {
    if (kinds.containsKey(name)) {
      return Optional.of(name);
    }
    for (Map.Entry<String, String> pair : tied.entrySet()) {
      if (pair.getKey().equals(name) && kinds.containsKey(pair.getValue())) {
        return Optional.of(pair.getValue());
      }
      if (pair.getValue().equals(name) && kinds.containsKey(pair.getKey())) {
        return Optional.of(pair.getKey());
      }
    }
    return Optional.empty();
  }

  private void check(TensorFile file, String name, Kind kind) {
    if (!kind.dtype().equals(Kind.SINGLE)) {
      throw new BadInputException(
          "%s: %s is %s, but training computes with F32; convert it, in PyTorch with float()"
              .formatted(file, name, kind.dtype()));
    }
    long[] shape = shapes.getOrDefault(name, new long[0]);
    if (!Arrays.equals(shape, kind.shape())) {
      throw new BadInputException(
          "%s: %s is %s, but that of %s is %s; give a file of this network"
              .formatted(file, name, Kind.words(kind.shape()), model, Kind.words(shape)));
    }
  }

  private static String some(List<String> names) {
    return names.size() == 1 ? names.get(0) : names.get(0) + " and " + (names.size() - 1) + " more";
  }
}
