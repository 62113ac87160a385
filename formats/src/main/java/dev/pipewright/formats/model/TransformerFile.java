package dev.pipewright.formats.model;

import dev.pipewright.model.transformer.TransformerShape;
import java.util.List;
import java.util.OptionalInt;

/**
 * A transformer that a file describes by its sizes, without times.
 *
 * @param name as the file calls it, or the file's own name
 * @param source what kind of file says so: {@code Hugging Face config (llama)}
 * @param notes what the shape leaves out or takes for granted, a sentence each
 */
public record TransformerFile(
    String name,
    String source,
    TransformerShape shape,
    TransformerConstants constants,
    List<String> notes)
    implements DescribedModel {
  public TransformerFile {
    notes = List.copyOf(notes);
  }

  /**
   * The shape with samples of so many tokens, or of the usual ones.
   *
   * @throws IllegalArgumentException where it has no such samples
   */
  public TransformerShape trained(OptionalInt sequence) {
    return sequence.isPresent() ? shape.reading(sequence.getAsInt()) : trained();
  }

  /** The shape with the sequences that it is usually trained on. */
  public TransformerShape trained() {
    return shape.withSequence(shape.usualSequence());
  }
}
