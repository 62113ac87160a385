package dev.pipewright.formats.trace;

import dev.pipewright.compare.MeasuredPipeline;
import dev.pipewright.compare.MeasuredPipeline.Iteration;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.InputFile;
import dev.pipewright.formats.json.Node;
import dev.pipewright.formats.json.Tree;
import dev.pipewright.schedule.Placement;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Passes of a pipeline's ranks as Primus dumps them from Megatron-LM ({@code --dump_pp_data}): a
 * folder with {@code config.json} and a file {@code pp_rank_R.json} for each rank, in which each
 * iteration lists begins and ends of its passes in milliseconds since the iteration's begin (Primus
 * f8a26641, {@code tools/visualization/pp_vis}).
 *
 * @param ranks of the pipeline
 * @param chunks stages of each rank
 * @param memoryGib the most that each rank's allocator reserved in the typical iteration
 */
public record PipelineDump(
    int ranks, int chunks, int microBatches, MeasuredPipeline passes, List<Double> memoryGib) {
  private static final String CONFIG = "config.json";
  private static final int MOST = 4096; // ranks, chunks or micro-batches

  public PipelineDump {
    memoryGib = List.copyOf(memoryGib);
  }

  /** Whether the folder, or the folder of a file, can only be such a dump. */
  public static boolean isDump(Path path) {
    return Files.isDirectory(path)
        ? Files.exists(path.resolve("pp_rank_0.json")) || Files.exists(path.resolve(CONFIG))
        : String.valueOf(path.getFileName()).matches("pp_rank_\\d+\\.json");
  }

  /**
   * Reads a folder.
   *
   * @throws BadInputException where files are missing or contradict each other
   */
  public static PipelineDump read(Path folder) {
    Path file = folder.resolve(CONFIG);
    Node root = Tree.json(file);
    root.object();
    int ranks = count(root, file, "pp_size");
    int chunks = count(root, file, "vp_size", "vpp_size");
    int microBatches = count(root, file, "num_mbs", "micro_batches");
    List<Node> files = new ArrayList<>();
    for (int rank = 0; rank < ranks; rank++) {
      Path of = folder.resolve("pp_rank_" + rank + ".json");
      if (!Files.exists(of)) {
        throw BadInputException.in(
            folder,
            "has no %s, but its %s says %d ranks; copy the files of all ranks into it"
                .formatted(of.getFileName(), CONFIG, ranks));
      }
      InputFile.check(of);
      Node content = Tree.json(of);
      content.object();
      files.add(content);
    }
    DumpedPasses reader = new DumpedPasses(ranks, chunks, microBatches);
    List<Iteration> iterations = new ArrayList<>();
    Map<Integer, List<Double>> memory = new TreeMap<>();
    Placement placement = null;
    for (int number : numbers(folder, files)) {
      List<Node> of = files.stream().map(each -> iteration(each, number)).toList();
      if (placement == null) {
        placement = reader.placement(of);
      }
      iterations.add(reader.iteration(number, of, placement));
      memory.put(number, of.stream().map(DumpedPasses::memory).toList());
    }
    MeasuredPipeline passes = new MeasuredPipeline(iterations);
    return new PipelineDump(
        ranks,
        chunks,
        microBatches,
        passes,
        memory.getOrDefault(passes.typical().number(), List.of()));
  }

  private static int count(Node root, Path file, String... keys) {
    for (String key : keys) {
      Node value = root.members().get(key);
      if (value != null) {
        return (int) value.whole(1, MOST);
      }
    }
    throw BadInputException.at(
        file,
        1,
        "lacks the key \"%s\"; give the folder that --dump_pp_data wrote".formatted(keys[0]));
  }

  /** The iterations of all ranks, ascending; each rank has the same. */
  private static Set<Integer> numbers(Path folder, List<Node> files) {
    Set<Integer> numbers = new TreeSet<>(Comparator.naturalOrder());
    for (int rank = 0; rank < files.size(); rank++) {
      Set<Integer> own = new TreeSet<>();
      for (Node iteration : files.get(rank).members().values()) {
        own.add(number(iteration));
      }
      if (own.isEmpty()) {
        throw files.get(rank).wrong("holds no iteration; dump a run of one step or more");
      }
      if (rank == 0) {
        numbers.addAll(own);
      } else if (!own.equals(numbers)) {
        throw BadInputException.in(
            folder,
            "rank %d has the iterations %s, but rank 0 has %s; take the files of one run"
                .formatted(rank, words(own), words(numbers)));
      }
    }
    return numbers;
  }

  private static Node iteration(Node file, int number) {
    Node iteration = file.object().required("" + number);
    iteration.object();
    return iteration;
  }

  private static int number(Node iteration) {
    String key = iteration.place();
    if (!key.matches("\\d{1,9}")) {
      throw iteration.wrong(
          "the key \"%s\" is no iteration; give the files that --dump_pp_data wrote"
              .formatted(key));
    }
    return Integer.parseInt(key);
  }

  private static String words(Set<Integer> numbers) {
    List<Integer> all = List.copyOf(numbers);
    return all.size() == 1 ? "" + all.get(0) : all.get(0) + " to " + all.get(all.size() - 1);
  }
}
