package dev.pipewright.formats.imported;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.ShownText;
import dev.pipewright.formats.transformer.MegatronArguments;
import dev.pipewright.formats.transformer.MegatronLayout;
import dev.pipewright.formats.transformer.MegatronLayout.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** The layers of each stage in Megatron-LM's arguments: a layout, uneven ends or equal chunks. */
record MegatronStages(MegatronArguments arguments) {
  private static final String LAYOUT = "pipeline-model-parallel-layout";
  private static final String PER_CHUNK = "num-layers-per-virtual-pipeline-stage";
  private static final String CHUNKS = "num-virtual-stages-per-pipeline-rank";
  private static final String BLOCKS = "num-layers";

  private int blocks() {
    return arguments.number(BLOCKS);
  }

  /** The last layer of each stage. */
  List<Integer> ends(int ranks) {
    Optional<String> layout = arguments.word(LAYOUT);
    if (layout.isPresent()) {
      return ofLayout(layout.get(), ranks);
    }
    boolean uneven =
        arguments.says("decoder-first-pipeline-num-layers")
            || arguments.says("decoder-last-pipeline-num-layers");
    int chunks = chunks(ranks);
    if (!uneven || ranks == 1) {
      return predicting(StageGrid.ends(equal(blocks(), ranks * chunks)));
    }
    if (chunks > 1) {
      throw arguments.wrong(
          "decoder-first-pipeline-num-layers",
          "uneven first or last stages of several chunks are not read; write --" + LAYOUT);
    }
    OptionalInt first = arguments.optional("decoder-first-pipeline-num-layers");
    OptionalInt last = arguments.optional("decoder-last-pipeline-num-layers");
    int given = (first.isPresent() ? 1 : 0) + (last.isPresent() ? 1 : 0);
    List<Integer> counts = new ArrayList<>();
    first.ifPresent(counts::add);
    int rest = blocks() - first.orElse(0) - last.orElse(0);
    if (ranks > given) {
      counts.addAll(equal(rest, ranks - given));
    }
    last.ifPresent(counts::add);
    return predicting(StageGrid.ends(counts));
  }

  /** Layers of multi-token prediction, before the head in the last stage. */
  private int predictions() {
    return arguments.number("mtp-num-layers", 0);
  }

  private List<Integer> predicting(List<Integer> ends) {
    List<Integer> all = new ArrayList<>(ends);
    all.set(all.size() - 1, all.get(all.size() - 1) + predictions());
    return all;
  }

  private List<Integer> equal(int blocks, int stages) {
    if (blocks < stages || blocks % stages != 0) {
      throw arguments.wrong(
          BLOCKS,
          "%d layers are no multiple of %d stages; write --%s".formatted(blocks, stages, LAYOUT));
    }
    return StageGrid.even(blocks, stages);
  }

  private int chunks(int ranks) {
    OptionalInt chunks = arguments.optional(CHUNKS);
    OptionalInt perChunk = arguments.optional(PER_CHUNK);
    if (chunks.isPresent()) {
      return Math.max(1, chunks.getAsInt());
    }
    int each = perChunk.orElse(0);
    if (each == 0) {
      return 1;
    }
    if (blocks() % Math.multiplyFull(ranks, each) != 0) {
      throw arguments.wrong(
          PER_CHUNK,
          "%d layers are no multiple of %d ranks times %d; correct one of them"
              .formatted(blocks(), ranks, each));
    }
    return blocks() / (ranks * each);
  }

  private List<Integer> ofLayout(String text, int ranks) {
    MegatronLayout layout;
    try {
      layout = MegatronLayout.parse(text, ranks);
    } catch (BadInputException e) {
      throw arguments.wrong(
          LAYOUT, String.valueOf(e.getMessage()).replace("--megatron-layout", "--" + LAYOUT));
    }
    List<String> problems =
        layout.problems(
            OptionalInt.of(blocks()),
            predictions() > 0 ? OptionalInt.of(predictions()) : OptionalInt.empty());
    if (!problems.isEmpty()) {
      throw arguments.wrong(
          LAYOUT, "--%s %s: %s".formatted(LAYOUT, ShownText.of(text), problems.get(0)));
    }
    if (!layout.empty().isEmpty()) {
      throw arguments.wrong(
          LAYOUT,
          "--%s leaves stage %d without layers, which plans do not have; give it one"
              .formatted(LAYOUT, layout.empty().get(0)));
    }
    List<Integer> ends = new ArrayList<>();
    int last = -1;
    for (List<Kind> stage : layout.stages()) {
      last += stage.size();
      ends.add(last);
    }
    return ends;
  }
}
