package dev.pipewright.formats;

import dev.pipewright.formats.file.EnumWords;
import dev.pipewright.model.Training;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * What a plan was made for, as far as it is known.
 *
 * @param model a file or a name of the zoo
 * @param cluster a file or a name of the zoo; empty where levels name it
 * @param globalBatch samples of an update
 * @param profileBatch samples that the model's times are for, where its file does not say
 * @param sequence tokens of a sample, where the user chose them
 * @param training how the model is trained
 * @param memory what the user says of every device's memory
 */
public record MadeFor(
    Optional<String> model,
    Optional<String> cluster,
    OptionalLong globalBatch,
    OptionalInt profileBatch,
    OptionalInt sequence,
    Optional<Training> training,
    GivenMemory memory) {
  /** Nothing is known. */
  public static final MadeFor UNKNOWN =
      new MadeFor(
          Optional.empty(),
          Optional.empty(),
          OptionalLong.empty(),
          OptionalInt.empty(),
          OptionalInt.empty(),
          Optional.empty(),
          GivenMemory.NONE);

  /** A context of a model on levels of links, with unknown training. */
  public static MadeFor levels(String model, OptionalInt profileBatch) {
    return new MadeFor(
        Optional.of(model),
        Optional.empty(),
        OptionalLong.empty(),
        profileBatch,
        OptionalInt.empty(),
        Optional.empty(),
        GivenMemory.NONE);
  }

  /** This context with other names of model and cluster. */
  public MadeFor named(String otherModel, Optional<String> otherCluster) {
    return new MadeFor(
        Optional.of(otherModel),
        otherCluster,
        globalBatch,
        profileBatch,
        sequence,
        training,
        memory);
  }

  /** The first keys of an answer. */
  Map<String, Object> object(String planner) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("planner", planner);
    put(object);
    return object;
  }

  /** The keys of all that is known. */
  void put(Map<String, Object> object) {
    model.ifPresent(name -> object.put("model", name));
    cluster.ifPresent(name -> object.put("cluster", name));
    globalBatch.ifPresent(samples -> object.put("global_batch", samples));
    profileBatch.ifPresent(samples -> object.put("profile_batch", samples));
    sequence.ifPresent(tokens -> object.put("sequence", tokens));
    training.ifPresent(t -> {
      object.put("optimizer", EnumWords.word(t.optimizer()));
      object.put("precision", EnumWords.word(t.precision()));
      if (t.halfGradients()) {
        object.put("gradients", "bf16");
      }
    });
    memory.bytes().ifPresent(bytes -> object.put("device_memory_bytes", bytes));
    memory.reserve().ifPresent(share -> object.put("memory_reserve", share));
  }
}
