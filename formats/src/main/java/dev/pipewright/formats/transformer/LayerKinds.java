package dev.pipewright.formats.transformer;

import dev.pipewright.formats.file.ShownText;
import dev.pipewright.formats.json.Node;
import dev.pipewright.model.transformer.AttentionSpan;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.IntPredicate;

/**
 * Which keys each layer's attention reads, by the list {@code layer_types} of a Hugging Face
 * configuration or by its family's rule. Kinds that are no attention to keys are refused by name.
 */
final class LayerKinds {
  private LayerKinds() {}

  /** All layers read everything, unless the file lists kinds. */
  static List<AttentionSpan> full(ConfigFields config, int layers) {
    return of(config, layers, layer -> false);
  }

  /** The layers that {@code local} names read a window, where the file has one. */
  static List<AttentionSpan> of(ConfigFields config, int layers, IntPredicate local) {
    return listed(config, layers)
        .orElseGet(() -> ruled(layers, local, config.optional("sliding_window"), false));
  }

  /** The layers that {@code local} names read their chunk, where the file has one. */
  static List<AttentionSpan> chunked(ConfigFields config, int layers, IntPredicate local) {
    return listed(config, layers)
        .orElseGet(() -> ruled(layers, local, config.optional("attention_chunk_size"), true));
  }

  private static List<AttentionSpan> ruled(
      int layers, IntPredicate local, OptionalInt tokens, boolean chunk) {
    List<AttentionSpan> spans = new ArrayList<>();
    for (int layer = 0; layer < layers; layer++) {
      boolean near = tokens.isPresent() && local.test(layer);
      spans.add(near ? near(tokens.getAsInt(), chunk) : new AttentionSpan.Full());
    }
    return spans;
  }

  private static AttentionSpan near(int tokens, boolean chunk) {
    return chunk ? new AttentionSpan.Chunk(tokens) : new AttentionSpan.Window(tokens);
  }

  private static Optional<List<AttentionSpan>> listed(ConfigFields config, int layers) {
    Optional<List<Node>> kinds = config.list("layer_types");
    if (kinds.isEmpty()) {
      return Optional.empty();
    }
    if (kinds.get().size() != layers) {
      throw config.wrong(
          "layer_types",
          "layer_types lists %d layers, but num_hidden_layers is %d; list each"
              .formatted(kinds.get().size(), layers));
    }
    return Optional.of(kinds.get().stream().map(kind -> span(config, kind)).toList());
  }

  private static AttentionSpan span(ConfigFields config, Node kind) {
    return switch (kind.text()) {
      case "full_attention" -> new AttentionSpan.Full();
      case "sliding_attention" -> new AttentionSpan.Window(config.number("sliding_window"));
      case "chunked_attention" -> new AttentionSpan.Chunk(config.number("attention_chunk_size"));
      default ->
          throw kind.wrong(
              "%s is %s, which is not supported yet; known kinds of layers are full_attention, sliding_attention and chunked_attention"
                  .formatted(kind.place(), ShownText.of(kind.text())));
    };
  }
}
