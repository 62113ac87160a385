package dev.pipewright.formats.transformer;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.ShownText;
import dev.pipewright.formats.json.Node;
import dev.pipewright.formats.json.Tree;
import dev.pipewright.formats.model.TransformerFile;
import dev.pipewright.model.transformer.TransformerShape;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads a {@code config.json} of Hugging Face's transformers, which describes a network by its kind
 * and sizes. Of models with several towers the text's is read. {@code quantization_config} concerns
 * a checkpoint, not training, and is left out.
 */
public final class HuggingFaceConfig {
  private static final Pattern KEYS = Pattern.compile("\"(model_type|architectures)\"\\s*:");
  private static final Pattern OURS = Pattern.compile("\"format\"\\s*:\\s*\"pipewright");
  private static final String TYPE = "model_type";
  private static final String TEXT = "text_config";
  private static final String VISION = "vision_config";

  private HuggingFaceConfig() {}

  /** Whether a file that starts so is such a configuration. */
  public static boolean begins(String start) {
    return start.startsWith("{") && KEYS.matcher(start).find() && !OURS.matcher(start).find();
  }

  /**
   * Throws {@link BadInputException} where a value is wrong or the kind of the network or of one of
   * its layers is not known.
   */
  public static TransformerFile read(Path file) {
    Node root = Tree.json(file);
    root.object();
    @Nullable Node text = root.members().get(TEXT);
    Node sizes = text == null || text.is(Node.Type.NOTHING) ? root : text.object().node();
    HuggingFaceFamilies.Family family = family(root, sizes);
    ConfigFields config = new ConfigFields(sizes, root, family.defaults());
    TransformerShape shape = sizes.checked(() -> counted(sizes, config, family));
    return new TransformerFile(
        name(file),
        "Hugging Face config (" + type(sizes).orElse("by architecture") + ")",
        shape,
        HuggingFaceConstants.of(sizes, shape),
        notes(root, config));
  }

  private static TransformerShape counted(
      Node sizes, ConfigFields config, HuggingFaceFamilies.Family family) {
    try {
      return family.shape().apply(config);
    } catch (ArithmeticException e) {
      throw sizes.wrong("the sizes are too large to count with; correct them");
    }
  }

  private static HuggingFaceFamilies.Family family(Node root, Node sizes) {
    Optional<String> type = type(sizes).or(() -> type(root));
    List<String> architectures = new ConfigFields(root, root, Map.of()).architectures();
    return type.flatMap(HuggingFaceFamilies::of)
        .or(() -> HuggingFaceFamilies.ofArchitecture(architectures))
        .orElseThrow(() -> unknown(root, sizes, type.orElse(String.join(", ", architectures))));
  }

  private static BadInputException unknown(Node root, Node sizes, String type) {
    Node named = sizes.members().getOrDefault(TYPE, root);
    return named.wrong(
        "the Hugging Face model type \"%s\" is not supported yet; known are %s"
            .formatted(ShownText.of(type), String.join(", ", HuggingFaceFamilies.names())));
  }

  private static Optional<String> type(Node node) {
    return Optional.ofNullable(node.members().get(TYPE))
        .filter(value -> !value.is(Node.Type.NOTHING))
        .map(Node::text);
  }

  private static List<String> notes(Node root, ConfigFields config) {
    List<String> notes = new ArrayList<>();
    if (root.members().containsKey(VISION)) {
      notes.add("counts are those of the text model; vision_config is left out");
    }
    if (config.number("num_nextn_predict_layers", 0) > 0) {
      notes.add("parameters do not include those of multi-token prediction");
    }
    return notes;
  }

  /** The file's name, or its folder's where it is called like all of them. */
  private static String name(Path file) {
    String name = String.valueOf(file.getFileName());
    Path folder = file.toAbsolutePath().getParent();
    return name.equals("config.json") && folder != null && folder.getFileName() != null
        ? String.valueOf(folder.getFileName())
        : name.replaceFirst("(\\.config)?\\.json$", "");
  }
}
