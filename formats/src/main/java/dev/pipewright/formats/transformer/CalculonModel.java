package dev.pipewright.formats.transformer;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.json.Fields;
import dev.pipewright.formats.json.Node;
import dev.pipewright.formats.json.Tree;
import dev.pipewright.formats.model.TransformerConstants;
import dev.pipewright.formats.model.TransformerFile;
import dev.pipewright.model.transformer.AttentionShape.GroupedQuery;
import dev.pipewright.model.transformer.FeedForwardShape.Dense;
import dev.pipewright.model.transformer.InputShape;
import dev.pipewright.model.transformer.LayerShape;
import dev.pipewright.model.transformer.NormShape;
import dev.pipewright.model.transformer.StackShape;
import dev.pipewright.model.transformer.TransformerShape;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Reads a model of Calculon: GPT's blocks by their sizes, without embedding and head.
 *
 * <p>Source: M. Isaev et al., <i>Calculon: a methodology and tool for high-level co-design of
 * systems and large language models</i>, SC 2023, and its {@code models/*.json}.
 */
public final class CalculonModel {
  private static final List<String> KEYS =
      List.of("name", "hidden", "feedforward", "seq_size", "attn_heads", "attn_size", "num_blocks");
  private static final Pattern HEADS = Pattern.compile("\"attn_heads\"\\s*:");
  private static final Pattern BLOCKS = Pattern.compile("\"num_blocks\"\\s*:");

  private CalculonModel() {}

  /** Whether a file that starts so is such a model. */
  public static boolean begins(String start) {
    return start.startsWith("{") && HEADS.matcher(start).find() && BLOCKS.matcher(start).find();
  }

  /** Throws {@link BadInputException} where a size is missing or wrong. */
  public static TransformerFile read(Path file) {
    Node root = Tree.json(file);
    Fields fields = root.object(KEYS);
    TransformerShape shape = root.checked(() -> shape(fields));
    String name = String.valueOf(file.getFileName()).replaceFirst("\\.json$", "");
    return new TransformerFile(
        name,
        "Calculon model",
        shape,
        TransformerConstants.NONE,
        List.of("counts are those of the blocks; the file has no embedding and no head"));
  }

  private static TransformerShape shape(Fields fields) {
    int blocks = fields.required("num_blocks").count(1);
    LayerShape block =
        LayerShape.of(
            GroupedQuery.biased(
                fields.required("attn_heads").count(1), fields.required("attn_size").count(1)),
            new Dense(fields.required("feedforward").count(1), false, true),
            NormShape.LAYER);
    return TransformerShape.of(
        fields.required("hidden").count(1),
        new InputShape.States(),
        new StackShape(StackShape.repeated(block, blocks), true, Optional.empty()),
        List.of(),
        fields.required("seq_size").count(1));
  }
}
