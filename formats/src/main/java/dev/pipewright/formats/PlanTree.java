package dev.pipewright.formats;

import dev.pipewright.formats.file.PrecisionWords;
import dev.pipewright.formats.json.Fields;
import dev.pipewright.formats.json.Node;
import dev.pipewright.formats.json.Tree;
import dev.pipewright.model.Training;
import dev.pipewright.model.transformer.TransformerShape;
import dev.pipewright.plan.AsynchronousPlan;
import dev.pipewright.units.Range;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.stream.Stream;

/**
 * A plan file as it stands: the plan, by itself or in an object that holds it as {@code plan}.
 *
 * @param root the whole
 * @param plan the plan in it, which may be all
 */
record PlanTree(Path file, Node root, Node plan) {
  /** The kinds of plan, each with the key that only it has. */
  enum Kind {
    SYNCHRONOUS,
    ASYNCHRONOUS,
    PERIODIC,
    PLACEMENT
  }

  /**
   * The members of both objects; the same where there is one.
   *
   * @param inner of the plan
   * @param outer of the object around it
   */
  record Members(Fields inner, Fields outer) {
    /** What may stand in either; the plan's own counts. */
    Optional<Node> either(String key) {
      return inner.optional(key).or(() -> outer.optional(key));
    }

    MadeFor madeFor() {
      return new MadeFor(
          either("model").map(Members::named),
          either("cluster").map(Members::named),
          either("global_batch")
              .map(node -> OptionalLong.of(node.count(Range.SAMPLES)))
              .orElse(OptionalLong.empty()),
          either("profile_batch")
              .map(node -> OptionalInt.of(node.count(Range.SAMPLES)))
              .orElse(OptionalInt.empty()),
          either("sequence")
              .map(node -> OptionalInt.of((int) node.whole(1, TransformerShape.MOST_TOKENS)))
              .orElse(OptionalInt.empty()),
          training(),
          new GivenMemory(
              either("device_memory_bytes")
                  .map(node -> OptionalLong.of(node.whole(1, (long) Range.BYTES.most())))
                  .orElse(OptionalLong.empty()),
              either("memory_reserve")
                  .map(node -> OptionalDouble.of(node.shareBelowOne()))
                  .orElse(OptionalDouble.empty())));
    }

    /**
     * The name of something that may be a file: never a pipe or a device, which a plan from
     * elsewhere would have this process wait for. (What the system shows as files is empty.)
     */
    private static String named(Node node) {
      String name = node.text();
      try {
        Path file = Path.of(name);
        if (Files.exists(file)
            && !Files.isDirectory(file)
            && !(Files.isRegularFile(file) && Files.size(file) > 0)) {
          throw node.wrong(
              "%s names \"%s\", which is no file with anything in it; name a file or a name of the zoo"
                  .formatted(node.place(), name));
        }
      } catch (InvalidPathException | IOException e) {
        throw node.wrong(
            "%s is \"%s\", which cannot be the name of a file; name a file or a name of the zoo"
                .formatted(node.place(), name));
      }
      return name;
    }

    /** Both or neither: a plan for an optimizer is for a precision. */
    private Optional<Training> training() {
      Optional<Node> optimizer = either("optimizer");
      Optional<Node> precision = either("precision");
      if (optimizer.isPresent() != precision.isPresent()) {
        throw optimizer
            .or(() -> precision)
            .orElseThrow()
            .wrong("optimizer and precision belong together; give both or neither");
      }
      return optimizer.map(rule ->
          new Training(
              rule.word(PlanKeys.OPTIMIZERS),
              precision.orElseThrow().word(PrecisionWords.BY_WORD),
              either("gradients").map(node -> node.word(PlanKeys.GRADIENTS) == 2).orElse(false)));
    }

    /** A number in an object next to the plan, such as {@code objective.value}. */
    OptionalDouble figure(String object, String key) {
      return outer
          .optional(object)
          .flatMap(node -> Optional.ofNullable(node.members().get(key)))
          .filter(node -> node.is(Node.Type.NUMBER))
          .map(node -> OptionalDouble.of(node.positive(Range.FIGURE)))
          .orElse(OptionalDouble.empty());
    }
  }

  static PlanTree read(Path file) {
    Node root = Tree.json(file);
    Node plan = root.members().getOrDefault("plan", root);
    if (plan.is(Node.Type.NOTHING)) {
      throw plan.wrong(
          "the answer holds no plan because nothing fitted; give an answer with a plan");
    }
    return new PlanTree(file, root, plan);
  }

  /** The kind of plan, by the first key that only one kind has. */
  Kind kind() {
    Node schedule = plan.members().get("schedule");
    if (plan.members().containsKey("pattern")) {
      return Kind.PERIODIC;
    }
    if (schedule != null && neverFlushes(schedule)) {
      return Kind.ASYNCHRONOUS;
    }
    if (someStageHas("nodes")) {
      return Kind.PLACEMENT;
    }
    return Kind.SYNCHRONOUS;
  }

  private static boolean neverFlushes(Node schedule) {
    return schedule.is(Node.Type.TEXT)
        && Stream.of(AsynchronousPlan.Rule.values())
            .anyMatch(rule -> rule.schedule().equals(schedule.text()));
  }

  private boolean someStageHas(String key) {
    Node stages = plan.members().get("stages");
    return stages != null
        && stages.elements().stream().anyMatch(stage -> stage.members().containsKey(key));
  }

  /**
   * The members, whose keys are all known.
   *
   * @param planKeys that a plan by itself may have
   * @param answerKeys that an object around it may have, and {@code plan}
   */
  Members members(List<String> planKeys, List<String> answerKeys) {
    boolean bare = root == plan;
    Fields outer = root.object(bare ? planKeys : answerKeys);
    PlanKeys.checkVersion(outer);
    if (bare) {
      return new Members(outer, outer);
    }
    Fields inner = plan.object(planKeys);
    PlanKeys.checkVersion(inner);
    return new Members(inner, outer);
  }
}
