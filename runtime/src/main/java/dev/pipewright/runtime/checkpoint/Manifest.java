package dev.pipewright.runtime.checkpoint;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What a checkpoint says of itself.
 *
 * @param step how many steps have been made
 * @param samples how many samples have been trained on: where the data go on
 * @param seed of the run
 * @param model the network's name
 * @param plan the plan that it was trained with, in words; another may go on
 * @param settings what else a run must take over, such as its optimizer
 */
public record Manifest(
    long step,
    long samples,
    long seed,
    String model,
    String plan,
    Map<String, String> settings,
    List<Shard> shards) {
  /**
   * A file of tensors.
   *
   * @param file its name in the checkpoint's folder
   * @param checksum CRC-32C of its bytes
   */
  public record Shard(String file, long bytes, int checksum) {}

  private static final String TIED = "tied ";
  private static final String FRESH = "optimizer-state";
  private static final String NONE = "none";

  public Manifest {
    settings = Collections.unmodifiableMap(new LinkedHashMap<>(settings));
    shards = List.copyOf(shards);
  }

  /** Settings that say of which table each tensor is a copy, by the copy's name. */
  public static Map<String, String> tied(Map<String, String> tables) {
    Map<String, String> settings = new LinkedHashMap<>();
    tables.forEach((copy, table) -> settings.put(TIED + copy, table));
    return settings;
  }

  /** Of which table each tensor is a copy, by the copy's name; empty in old checkpoints. */
  public Map<String, String> tied() {
    Map<String, String> tables = new LinkedHashMap<>();
    settings.forEach((key, table) -> {
      if (key.startsWith(TIED)) {
        tables.put(key.substring(TIED.length()), table);
      }
    });
    return tables;
  }

  /** Settings of a checkpoint of parameters alone, with which any optimizer and seed may begin. */
  public static Map<String, String> fresh() {
    return Map.of(FRESH, NONE);
  }

  /** Whether it holds parameters alone. */
  public boolean isFresh() {
    return NONE.equals(settings.get(FRESH));
  }
}
